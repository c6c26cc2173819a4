"""Models mixed word by word, as lattices are asked about them: the mixture itself, not a table of it.

    p(w | words before) = sum over m of weight_m p_m(w | words before)

``lm mix`` writes a table that says the same wherever a model lists the n-gram; elsewhere it backs off with
one weight where the mixture has one for each model. Here a state of a search has a context of every model, so
that nothing is approximated. A word that only some models list has probability zero in the others.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from hiddenite._core import NgramTable, limit_order, mix_tables, mixture_log_probs
from hiddenite.errors import ModelError, OptionError
from hiddenite.files.corpus import tokenize
from hiddenite.ngram import NgramModel
from hiddenite.scores import SentenceScores
from hiddenite.vocabulary import SENTENCE_BEGIN, SENTENCE_END, UNKNOWN, Vocabulary


@dataclass(frozen=True)
class ModelMixture:
    """Language models and what each of them counts; weights are divided by their sum."""

    models: tuple[NgramModel, ...]
    weights: tuple[float, ...]

    def __init__(self, models: Sequence[NgramModel], weights: Sequence[float] | None = None) -> None:
        given = [1.0] * len(models) if weights is None else [float(weight) for weight in weights]
        if len(models) < 2 or not all(isinstance(model, NgramModel) for model in models):
            raise ModelError("a mixture needs two language models or more")
        if len(given) != len(models):
            raise OptionError("mix_weights", f"has {len(given)} numbers, expected {len(models)}, one a model")
        if not all(0 < weight < math.inf for weight in given):
            raise OptionError("mix_weights", "expected numbers above 0")
        object.__setattr__(self, "models", tuple(models))
        object.__setattr__(self, "weights", tuple(weight / sum(given) for weight in given))

    @property
    def knows_unknown(self) -> bool:
        """Whether words outside all vocabularies have a probability."""
        return any(model.knows_unknown for model in self.models)

    def __contains__(self, word: object) -> bool:
        return any(word in model for model in self.models)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of all models, for channels."""
        words = [limit_order(model._table, 1) for model in self.models]
        return NgramModel(mix_tables(words, list(self.weights))).vocabulary

    def numbered(self) -> MixtureWords:
        """Return a new numbering of words for all models together."""
        return MixtureWords(self)

    def log_prob(self, word: str, context: Sequence[str] = ()) -> float:
        """ln p(word | context), as :meth:`NgramModel.log_prob`."""
        is_known = word in self or word == SENTENCE_END
        total = math.fsum(
            weight * math.exp(model.log_prob(word, context))
            for weight, model in zip(self.weights, self.models, strict=True)
            if not is_known or word in model or word == SENTENCE_END
        )
        return math.log(total) if total > 0 else -math.inf

    def score_text(
        self, text: bytes, threads: int = 0, name: str = "<sentences>", first_line: int = 1
    ) -> SentenceScores:
        """Score UTF-8 text, one sentence a line, as :meth:`NgramModel.score_text`."""
        tokens = self.models[0].score_text(text, threads, name, first_line).tokens_column
        log_probs, is_known = self._tokens(text, name)
        sums, known, oov = array("d"), array("d"), array("I")
        at = 0
        for size in tokens:
            here = range(at, at + size)
            sums.append(math.fsum(log_probs[i] for i in here))
            known.append(math.fsum(log_probs[i] for i in here if is_known[i]))
            oov.append(sum(not is_known[i] for i in here))
            at += size
        return SentenceScores(sums, known, array("I", tokens), oov)

    def full_scores(self, sentence: str | bytes) -> list[tuple[float, int, bool]]:
        """Return for each word ln p, the longest n-gram that a model gave it by, and whether it is OOV."""
        text = sentence.encode() if isinstance(sentence, str) else sentence
        log_probs, is_known = self._tokens(text + b"\n", "<sentence>")
        lengths = [[length for _, length, _ in model.full_scores(text)] for model in self.models]
        rows = zip(log_probs, map(max, *lengths), is_known, strict=True)
        return [(log_prob, length, not known) for log_prob, length, known in rows]

    def _tokens(self, text: bytes, name: str) -> tuple[list[float], list[bool]]:
        """Return of each word and each end of line ln p, and whether any model lists it."""
        import numpy as np  # noqa: PLC0415  (scoring by one model needs no NumPy)

        columns = np.stack(mixture_log_probs([model._table for model in self.models], text, name))
        shares = np.log(np.array(self.weights))
        log_probs = np.logaddexp.reduce(columns + shares[:, None], axis=0)
        is_known: list[bool] = []
        for line in text.decode().removesuffix("\n").split("\n") if text else ():
            is_known += [word in self for word in tokenize(line)]
            is_known.append(True)
        return log_probs.tolist(), is_known


@dataclass(slots=True)
class MixtureWords:
    """Words of one lattice, numbered for all models together as they come."""

    mixture: ModelMixture
    number: dict[str, int] = field(
        default_factory=lambda: {word: i for i, word in enumerate((UNKNOWN, SENTENCE_BEGIN, SENTENCE_END))}
    )

    def __contains__(self, word: object) -> bool:
        return word in self.mixture

    def id(self, word: str) -> int:
        """Return the word's number, a new one for a new word."""
        return self.number.setdefault(word, len(self.number))

    def core(self) -> tuple[list[NgramTable], list[float], list[list[int]]]:
        """Return the models' tables, ln of their weights, and the words' numbers in each, for the core."""
        tables: list[NgramTable] = [model._table for model in self.mixture.models]
        shares = [math.log(weight) for weight in self.mixture.weights]
        return tables, shares, [[m.vocabulary.id(word) for word in self.number] for m in self.mixture.models]
