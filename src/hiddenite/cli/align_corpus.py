"""hiddenite align corpus: train on a parallel text and give its own links."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from hiddenite.align.aligner import Aligner
from hiddenite.align.bitext import Bitext
from hiddenite.align.corpus import CorpusDecoding, align_corpus
from hiddenite.align.outputs import files_of
from hiddenite.align.training import Training
from hiddenite.cli.align_options import Asking, Bitexts, TrainingChoices, known_before
from hiddenite.cli.align_run import outcome
from hiddenite.cli.align_train import run_sweeps
from hiddenite.cli.common import Json, Output, Threads, say
from hiddenite.errors import OptionError
from hiddenite.files.output import atomic_output
from hiddenite.jobs.batch import choose_seed
from hiddenite.options import option, same

MORE = "More files from the same training"
_FILES = (
    "forward",
    "reverse",
    "symmetrized",
    "probabilities",
    "scores",
    "write_lexicon",
    "write_fertilities",
)


@dataclass(frozen=True, kw_only=True)
class CorpusOptions(Bitexts, Asking, TrainingChoices, Output, Threads, Json):
    """The options of align corpus."""

    model: str | None = option(None, "Write the model too, for align run.", metavar="MODEL")
    forward: str | None = option(None, "Write the forward links too.", metavar="FILE", section=MORE)
    reverse: str | None = option(None, "Write the reverse links too.", metavar="FILE", section=MORE)
    symmetrized: str | None = option(
        None, "Write both combined, by --symmetrize.", metavar="FILE", section=MORE
    )
    probabilities: str | None = option(
        None, "Write i-j:p of the links of probability 0.01 and more.", metavar="FILE", section=MORE
    )
    scores: str | None = option(
        None,
        "Write how well each pair is explained: ln weight a word, forward TAB reverse.",
        metavar="FILE",
        section=MORE,
    )
    write_lexicon: str | None = option(
        None, "Write word TAB word TAB both probabilities TAB links.", metavar="FILE", section=MORE
    )
    write_fertilities: str | None = option(
        None, "Write each word's fertilities.", metavar="FILE", section=MORE
    )
    decode: str = same(CorpusDecoding, "decode")
    threshold: float | None = same(CorpusDecoding, "threshold")
    symmetrize: str = same(Asking, "symmetrize", when={})
    budget: float = same(Asking, "budget", when={"decode": ("exact",)})

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse a way to combine directions where nothing is combined."""
        super().check_effects(given)
        combines = self.decode != "threshold" and self.direction == "both"
        if "symmetrize" in given and not combines and self.symmetrized is None:
            raise OptionError(
                "symmetrize", f"has no effect with decode {self.decode} and direction {self.direction}"
            )

    def decoding(self) -> CorpusDecoding:
        """Return how links are taken from the training."""
        return CorpusDecoding(self.decode, self.threshold, self.symmetrize, self.direction, self.budget)


def corpus(options: CorpusOptions) -> int:
    """Train on a parallel text and give its own links: train, run and symmetrize in one.

    threshold takes links whose probability reaches --threshold, or without a
    number the one of the greatest expected F over the text; probabilities takes each word's most probable
    partner in each direction and symmetrizes; exact and viterbi take the model's best alignments and do so.
    """
    options.hush()
    decoding, chosen = options.decoding(), options.aligner_options()
    bitext = Bitext.read(options.source, options.target)
    training = Training(
        bitext,
        chosen,
        seed=choose_seed(options.seed, options.quiet),
        threads=options.threads,
        checkpoint=options.checkpoint,
        earlier=known_before(chosen, *options.files_before()),
    )
    name = bitext.source_name
    del bitext  # it takes memory that the sweeps need
    run_sweeps(training, options.quiet)
    _write_more(training, options)
    if options.decode == "threshold" and not options.json:
        with atomic_output(options.output) as out:
            out.writelines(training.links_text(options.threshold, options.direction))
        return 0
    failures = 0
    with atomic_output(options.output) as out:
        for result in align_corpus(training, decoding, threads=options.threads):
            text, line, error, _ = outcome(result, options.json)
            out.write(text.encode())
            if error is not None:
                failures += 1
                say(f"error: {name}:{line}: {error}")
    if failures:
        say(f"{failures} of the records could not be answered")
    return int(failures > 0)


def _write_more(training: Training, options: CorpusOptions) -> None:
    """Write the model, and the files beside the links that were asked for."""
    wanted = {name: path for name in _FILES if (path := getattr(options, name)) is not None}
    if options.model is None and not wanted:
        return
    aligner = Aligner.from_training(training)
    if options.model is not None:
        aligner.save(options.model)
    lines = files_of(training, aligner, options.symmetrize, options.threads)
    for name, path in wanted.items():
        with atomic_output(path) as out:
            for line in lines[name]():
                out.write(line.encode())


_EXAMPLE = "hiddenite align corpus en.txt fr.txt --seed 1 --output links.txt"
COMMANDS = {"corpus": (corpus, CorpusOptions, _EXAMPLE)}
