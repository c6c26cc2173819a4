"""Link probabilities for align project and align report: from a file, a model, or training on the text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from hiddenite.align.aligner import Aligner
from hiddenite.align.answers import DEFAULT_SAMPLES
from hiddenite.align.bitext import Bitext
from hiddenite.align.decisions import link_probabilities
from hiddenite.align.evidence import Probabilities, model_probabilities, read_probabilities
from hiddenite.align.training import Training
from hiddenite.cli.align_options import BUDGET
from hiddenite.cli.align_train import run_sweeps
from hiddenite.cli.common import Seed, Threads
from hiddenite.errors import OptionError
from hiddenite.jobs.batch import choose_seed
from hiddenite.options import option

_Words = Sequence[str]


@dataclass(frozen=True, kw_only=True)
class LinkSource(Seed, Threads):
    """A command that needs link probabilities."""

    model: str | None = option(None, "What align train wrote.", metavar="MODEL")
    links: str | None = option(
        None,
        "Links with probabilities, what align corpus --json wrote; or 0-0:0.9 1-2.",
        metavar="FILE",
        when={"model": (None,)},
    )
    samples: int = option(DEFAULT_SAMPLES, "Exact draws behind the probabilities.", least=1)
    budget: float = option(BUDGET, "Seconds per sentence pair for the draws.", least=0)

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse what is only for draws where there are none."""
        super().check_effects(given)
        for name in ("samples", "budget"):
            if name in given and self.model is None:
                raise OptionError(name, "has no effect without --model")
        for name in ("seed", "threads"):
            if name in given and self.links is not None:
                raise OptionError(name, "has no effect with --links")

    def probabilities(
        self, pairs: Sequence[tuple[_Words, _Words]], source: str, quiet: bool
    ) -> Iterator[Probabilities]:
        """Give p(link) [source, target] of each pair, from the file, the model, or training on the pairs."""
        if self.links is not None:
            sizes = ((len(e), len(f)) for e, f in pairs)
            return read_probabilities(self.links, sizes, source)
        seed = choose_seed(self.seed, quiet)
        if self.model is not None:
            aligner = Aligner.load(self.model)
            draws = {"samples": self.samples, "budget": self.budget, "seed": seed, "threads": self.threads}
            return model_probabilities(aligner, pairs, **draws)  # type: ignore[arg-type]
        return self._trained(pairs, seed, quiet)

    def _trained(
        self, pairs: Sequence[tuple[_Words, _Words]], seed: int, quiet: bool
    ) -> Iterator[Probabilities]:
        training = Training(Bitext.of(pairs), seed=seed, threads=self.threads)
        run_sweeps(training, quiet)
        for number in range(len(pairs)):
            yield link_probabilities(training.link_probabilities(number))
