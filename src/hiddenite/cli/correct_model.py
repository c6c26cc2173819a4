"""Which corrector a command uses: a model, a language model with a prior channel, or a language's default."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from hiddenite.cli.common import say
from hiddenite.cli.lm_options import VOCABULARY_HELP, limited
from hiddenite.correct.corrector import Corrector
from hiddenite.correct.defaults import default_model
from hiddenite.correct.settings import KINDS
from hiddenite.correct.wordlists import read_words
from hiddenite.errors import HiddeniteWarning, OptionError
from hiddenite.jobs.model_cache import local_path
from hiddenite.ngram import NgramModel
from hiddenite.options import Options, option

MODEL = "Model"
_NO_MODEL = {"model": (None,)}


@dataclass(frozen=True, kw_only=True)
class ModelChoice(Options):
    """A command that corrects."""

    model: str | None = option(None, "What `correct learn` wrote.", metavar="MODEL", section=MODEL)
    lm: str | None = option(
        None, "Language model of lower-case words, for --kind.", metavar="LM", section=MODEL, when=_NO_MODEL
    )
    vocabulary: str | None = option(None, VOCABULARY_HELP, metavar="FILE", section=MODEL, when=_NO_MODEL)
    kind: str = option(
        "typing",
        "Which errors to expect, where no model says it.",
        choices=KINDS,
        section=MODEL,
        when=_NO_MODEL,
    )
    language: str = option(
        "en",
        "Language of the default model, a code such as en, de or fr.",
        section=MODEL,
        when=_NO_MODEL | {"lm": (None,)},
    )
    text: str | None = option(
        None,
        "Text in that language to learn the default model from, in addition.",
        metavar="FILE",
        section=MODEL,
        when=_NO_MODEL | {"lm": (None,)},
    )
    words: str | None = option(
        None, "Words that are right, one a line, or word TAB frequency.", metavar="FILE", section=MODEL
    )

    def prepare(self, quiet: bool) -> Loader:
        """Return what loads the corrector, here or on another machine; a default model is built now."""
        if self.vocabulary is not None and self.lm is None:
            raise OptionError("vocabulary", "has no effect without --lm; --words adds words to other models")
        if self.model is not None or self.lm is not None:
            return Loader(self.model, self.lm, self.kind, self.words, self.vocabulary)
        source = default_model(self.language, self.kind, self.text, lambda line: say(line, quiet))
        return Loader(source, None, self.kind, self.words, is_checked=True)


@dataclass(frozen=True, slots=True)
class Loader:
    """Loads a corrector; can be sent to other processes."""

    model: str | None
    lm: str | None
    kind: str
    words: str | None
    vocabulary: str | None = None
    is_checked: bool = False  # the model is what it was when it was written

    def files(self) -> tuple[str, ...]:
        """Return the files that the corrector is made of."""
        files = (self.model, self.lm, self.words, self.vocabulary)
        return tuple(name for name in files if name is not None)

    def __call__(self) -> Corrector:
        """Return the corrector."""
        words = None if self.words is None else read_words(local_path(self.words))
        if self.model is not None:
            corrector = Corrector.load(local_path(self.model), verify=not self.is_checked)
            return corrector if words is None else _with_words(corrector, words)
        assert self.lm is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HiddeniteWarning)
            lm = limited(NgramModel.load(local_path(self.lm)), self.vocabulary)
            return Corrector.from_ngram(lm, kind=self.kind, words=words)


def _with_words(corrector: Corrector, words: dict[str, float]) -> Corrector:
    """Return a corrector that knows some words more; without frequencies they are as rare as its rarest."""
    least = min(corrector.words.values(), default=1.0)
    listed = {word: least * frequency for word, frequency in words.items() if word not in corrector.words}
    return Corrector(corrector.lm, corrector.settings, corrector.words | listed, learnt=corrector.learnt)
