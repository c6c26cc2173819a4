"""Options that the ``lattice`` commands share, and how they become lattices and weights."""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from hiddenite.cli.common import Output, say
from hiddenite.cli.lm_options import Mixed
from hiddenite.cli.weights import WEIGHTS
from hiddenite.errors import FormatError, HiddeniteWarning, ModelError, OptionError
from hiddenite.files.output import atomic_output
from hiddenite.lattice import FORMATS, Lattice, read_lattices
from hiddenite.lattice.fst import FRAME_SECONDS, read_symbols
from hiddenite.lattice.source import Source
from hiddenite.ngram import NgramModel
from hiddenite.ngram_mixture import ModelMixture
from hiddenite.options import MISSING, argument, option
from hiddenite.rescoring import TRANSPARENT, LatticeMethod, LatticeWeights, Rescored

INPUT = "Lattices"
FAILED = 1
_OF_MODEL = ("mix_lm", "mix_weights", "lm_weight", "unk_log10", "vocabulary", "no_begin", "no_end")


@dataclass(frozen=True, kw_only=True)
class LatticeInput(Output):
    """A command that reads lattices."""

    lattices: tuple[str, ...] = argument(MISSING, "Lattice files; - is stdin.", "LATTICE...")
    format: str | None = option(
        None, "Format of the files; by default their first lines tell.", choices=FORMATS, section=INPUT
    )
    symbols: str | None = option(
        None, "Words of label numbers (OpenFst, Kaldi): a word and its number a line.", metavar="FILE",
        section=INPUT,
    )  # fmt: skip
    frame_seconds: float = option(
        FRAME_SECONDS, "Length of a frame of Kaldi's compact lattices.", least=0, section=INPUT
    )

    def read(self) -> Iterator[Lattice]:
        """Give the lattices of all files; one without a name has its file's."""
        symbols = None if self.symbols is None else read_symbols(self.symbols)
        for path in self.lattices:
            name = os.path.basename(path).partition(".")[0] if path != "-" else None
            for lattice in read_lattices(
                path, self.format, symbols=symbols, frame_seconds=self.frame_seconds
            ):
                yield lattice if lattice.id is not None else dataclasses.replace(lattice, id=name)

    def write(self, make: Callable[[Lattice, int], str]) -> int:
        """Write what ``make`` returns for each lattice, and say what fails; return the exit status."""
        self.hush()
        failures = 0
        with atomic_output(self.output) as out:
            for number, lattice in enumerate(self.read()):
                try:
                    out.write(make(lattice, number).encode())
                except ModelError as error:
                    failures += 1
                    name = number + 1 if lattice.id is None else lattice.id
                    say(f"error: lattice {name}: {error}")
                    out.write(self.failed(lattice, str(error)).encode())
        return FAILED if failures else 0

    def failed(self, lattice: Lattice, error: str) -> str:
        """Return what stands for a lattice without an answer."""
        del lattice, error
        return ""


@dataclass(frozen=True, kw_only=True)
class LatticeScores(LatticeInput, Mixed):
    """A command that weighs the paths of lattices, by a language model or by their own scores."""

    lm: str | None = option(
        None, "Language model, ARPA or compiled; without it the lattice's own scores count.", metavar="LM"
    )
    lm_weight: float | None = option(
        None, "What ln p of the model is multiplied with; by default lmscale of the file, or 1.", least=0,
        section=WEIGHTS,
    )  # fmt: skip
    channel_weight: float | None = option(
        None, "The same of the acoustic scores; by default acscale of the file, or 1.", "--channel-weight",
        "--acoustic-weight", section=WEIGHTS,
    )  # fmt: skip
    old_lm_weight: float | None = option(
        None, "The same of the recogniser's language scores; by default 0 beside --lm, else lmscale.",
        section=WEIGHTS,
    )  # fmt: skip
    word_penalty: float | None = option(
        None,
        "Added to ln of the weight for each word; by default wdpenalty of the file, or 0.",
        section=WEIGHTS,
    )
    transparent: str | None = option(
        None, "More words that the model does not see and the text does not have (fillers), one a line.",
        metavar="FILE",
    )  # fmt: skip
    no_begin: bool = option(False, "The text need not begin with the first word.")
    no_end: bool = option(False, "The text need not end after the last word.")
    max_states: int = option(50_000_000, "Most states of a lattice under the model.", least=1)

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse what only a model uses."""
        super().check_effects(given)
        for name in given if self.lm is None else ():
            if name in _OF_MODEL:
                raise OptionError(name, "has no effect without --lm")

    def model(self) -> NgramModel | ModelMixture | None:
        """Return the language model or the mixture of several, if there is one."""
        if self.lm is None:
            return None
        return self.load(self.lm) if self.mix_lm is None else self.load_mixture(self.lm)

    def fillers(self) -> frozenset[str]:
        """Return the words that the model does not see."""
        if self.transparent is None:
            return TRANSPARENT
        source = Source.open(self.transparent)
        words = {text.strip() for text in source.lines if text.strip()}
        several = next((i for i, text in enumerate(source.lines, 1) if len(text.split()) > 1), None)
        if several is not None or not words:
            raise FormatError(source.name, several or 1, "expected one word a line")
        return TRANSPARENT | words

    def weights(self, temperature: float = 1.0) -> LatticeWeights:
        """Return what counts how much."""
        return LatticeWeights(
            self.lm_weight, self.channel_weight, self.word_penalty, self.old_lm_weight, temperature
        )

    def scorer(
        self, method: LatticeMethod = "auto", budget: float | None = None
    ) -> Callable[[Lattice, float | None], Rescored]:
        """Load the model; return what weighs a lattice at a temperature; None: that of its posteriors."""
        model, fillers = self.model(), self.fillers()

        def rescore(lattice: Lattice, temperature: float | None) -> Rescored:
            if model is not None and self.symbols is None:
                _warn_of_numbers(lattice, model)
            if temperature is None:
                weight = lattice.scales.language if self.lm_weight is None else self.lm_weight
                temperature = max(weight, 1.0)
            return Rescored(
                lattice,
                model,
                self.weights(temperature),
                transparent=fillers,
                begin=not self.no_begin,
                end=not self.no_end,
                max_states=self.max_states,
                method=method,
                budget=budget,
            )

        return rescore


def _warn_of_numbers(lattice: Lattice, model: NgramModel | ModelMixture) -> None:
    """Say so if the words are label numbers, all of which are unknown to the model."""
    words = {word for edge in lattice.edges for word in edge.word.split()}
    if words and all(word.isdecimal() and word not in model for word in words):
        note = "all words are numbers that the model does not know; --symbols FILE says which words they are"
        warnings.warn(f"lattice {lattice.id}: {note}", HiddeniteWarning, stacklevel=2)


TEMPERATURE_HELP = "Weights are divided by it; by default the language model's weight if that is above 1."


@dataclass(frozen=True, kw_only=True)
class LatticeSums(LatticeScores):
    """A command whose answer is a sum over paths."""

    temperature: float | None = option(None, TEMPERATURE_HELP, least=1e-6, section=WEIGHTS)
