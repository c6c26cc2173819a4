"""Taggers in the form that other libraries expect: scikit-learn, NLTK, columns of tables.

None of them is imported unless it is used: an estimator is one by its methods, and an object of NLTK's own
kind is made only on request. The component for spaCy is in :mod:`hiddenite.tag.spacy`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite.errors import ModelError, OptionError
from hiddenite.files.corpus import Sentence, sentence_words
from hiddenite.options import options_of
from hiddenite.query import Query
from hiddenite.results import Failure, Marginals
from hiddenite.tag.answers import Tagged
from hiddenite.tag.choice import chooses
from hiddenite.tag.evaluation import score
from hiddenite.tag.formats import NOT_ANNOTATED, TaggedSentence
from hiddenite.tag.options import TaggerOptions
from hiddenite.tag.tagger import Tagger

DEFAULT_ORDER = 3


def open_tagger(tagger: Tagger | str | os.PathLike[str]) -> Tagger:
    """Return a tagger, or that of a model file."""
    return tagger if isinstance(tagger, Tagger) else Tagger.load(tagger)


# --------------------------------------------------------------- scikit-learn


class TaggerEstimator:
    """A tagger with scikit-learn's methods: ``X`` are sentences, ``y`` as many rows of tags.

    A sentence is a list of words, or a string with blanks between them. ``order="auto"`` does what
    ``hiddenite tag train`` does: order and settings by cross-validation where the text is small. ``options``
    are fields of :class:`TaggerOptions`. The library itself need not be there.
    """

    def __init__(self, order: int | str = "auto", **options: Any) -> None:
        self.order = order
        self.options = dict(options)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"TaggerEstimator({given})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return what the estimator was made with."""
        return {"order": self.order, **self.options}

    def set_params(self, **params: Any) -> TaggerEstimator:
        """Change some of it."""
        for name, value in params.items():
            if name == "order":
                self.order = value
            elif name in options_of(TaggerOptions):
                self.options[name] = value
            else:
                raise OptionError(name, "is not an option of a tagger; see TaggerOptions")
        return self

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know of an estimator."""
        from sklearn.utils import Tags, TargetTags  # noqa: PLC0415  (only scikit-learn asks)

        return Tags(estimator_type=None, target_tags=TargetTags(required=True), requires_fit=True)

    def fit(self, X: Iterable[Sentence], y: Iterable[Sequence[str]]) -> TaggerEstimator:
        """Train; a tag ``_`` is not annotated."""
        text = _pairs(X, y)
        if self.order != "auto" and not isinstance(self.order, int):
            raise OptionError("order", f"is {self.order!r}, expected a number or auto")
        order = DEFAULT_ORDER if self.order == "auto" else int(self.order)
        recipe = TaggerOptions(order=order, **self.options)
        if self.order == "auto" and chooses(recipe, len(text)):
            self.tagger_ = Tagger.choose_order(text, recipe)
        else:
            self.tagger_ = Tagger.train_with(text, recipe)
        self.classes_ = np.array(self.tagger_.tags)
        return self

    def _fitted(self) -> Tagger:
        if not hasattr(self, "tagger_"):
            raise ModelError("the estimator has learnt nothing yet; call fit first")
        return self.tagger_

    def predict(self, X: Iterable[Sentence]) -> list[list[str]]:
        """Return the best tags of each sentence."""
        return [list(one.tags) for one in _answers(self._fitted().tag_many(X))]

    def predict_proba(self, X: Iterable[Sentence]) -> list[NDArray[np.float64]]:
        """Return, for each sentence, a row per word and a column per tag of ``classes_``; rows sum to one."""
        from hiddenite._core import TaskKind  # noqa: PLC0415

        tagger = self._fitted()
        columns = {tag: i for i, tag in enumerate(tagger.tags)}
        result = []
        for answer in tagger.answer_many(X, Query(TaskKind.MARGINALS)):
            if isinstance(answer, Failure):
                raise ModelError(answer.error)
            assert isinstance(answer, Marginals)
            table = np.zeros((len(answer.slots), len(columns)))
            for row, slot in zip(table, answer.slots, strict=True):
                for tag, p in slot:
                    row[columns[tag]] = p
            result.append(table)
        return result

    def score(self, X: Iterable[Sentence], y: Iterable[Sequence[str]]) -> float:
        """Return the share of words whose tag is right; words whose tag in ``y`` is ``_`` do not count."""
        return _accuracy(self._fitted(), _pairs(X, y))


def _pairs(X: Iterable[Sentence], y: Iterable[Sequence[str]]) -> list[TaggedSentence]:
    """Return words with their tags; an error that names the sentence where they do not fit."""
    sentences, rows = [sentence_words(sentence) for sentence in X], list(y)
    if len(sentences) != len(rows):
        raise ModelError(f"X has {len(sentences)} sentences and y has {len(rows)}, expected as many")
    for number, (words, tags) in enumerate(zip(sentences, rows, strict=True)):
        if isinstance(tags, str) or len(words) != len(tags):
            raise ModelError(
                f"sentence {number} has {len(words)} words and the tags {str(tags)[:60]}, expected as many"
            )
    return [
        list(zip(words, map(str, tags), strict=True)) for words, tags in zip(sentences, rows, strict=True)
    ]


def _answers(answers: Iterable[Tagged | Failure]) -> Iterator[Tagged]:
    for answer in answers:
        if isinstance(answer, Failure):
            raise ModelError(answer.error)
        yield answer


def _accuracy(tagger: Tagger, gold: Sequence[TaggedSentence]) -> float:
    found = score(tagger, gold, calibration=False).accuracy
    if found is None:
        raise ModelError(f"there is no gold tag to compare with, only «{NOT_ANNOTATED}» or no word at all")
    return found


# ----------------------------------------------------------------------- NLTK


class NltkTagger:
    """A tagger with the methods of NLTK's ``TaggerI``; NLTK need not be there.

    :func:`nltk_tagger` gives one that *is* a ``TaggerI``, with all that NLTK adds (``confusion``, …).
    """

    def __init__(self, tagger: Tagger | str | os.PathLike[str]) -> None:
        self.tagger = open_tagger(tagger)

    def tag(self, tokens: Sequence[str]) -> list[tuple[str, str]]:
        """Return the words with their best tags."""
        return list(self.tagger.tag(list(tokens)))

    def tag_sents(self, sentences: Iterable[Sequence[str]]) -> list[list[tuple[str, str]]]:
        """Do the same for many sentences, on all cores."""
        return [list(one) for one in _answers(self.tagger.tag_many(list(words) for words in sentences))]

    def accuracy(self, gold: Iterable[Sequence[tuple[str, str]]]) -> float:
        """Return the share of words whose tag is right."""
        return _accuracy(self.tagger, [list(sentence) for sentence in gold])

    def evaluate(self, gold: Iterable[Sequence[tuple[str, str]]]) -> float:
        """Return the accuracy, under the name that it had."""
        return self.accuracy(gold)


def nltk_tagger(tagger: Tagger | str | os.PathLike[str]) -> Any:
    """Return the tagger, or that of a model file, as an ``nltk.tag.api.TaggerI``; needs NLTK."""
    try:
        from nltk.tag.api import TaggerI  # noqa: PLC0415  (an optional extra)
    except ImportError:
        raise ModelError("this needs NLTK: pip install nltk; NltkTagger does without") from None

    class Adapted(NltkTagger, TaggerI):  # type: ignore[misc]
        """A tagger of hiddenite for NLTK."""

    return Adapted(tagger)


# -------------------------------------------------------------------- columns


def tag_columns(tagger: Tagger, text: Iterable[str | Sequence[str] | None]) -> Mapping[str, list[Any]]:
    """Tag a column of sentences; return columns: ``words``, ``tags``, ``log_weight`` and ``exact``.

    The column is anything that can be gone through: a list, a pandas or Polars series, an Arrow array. The
    result can be given to ``pandas.DataFrame``, ``polars.DataFrame`` or ``pyarrow.table``. A missing value
    (None, NaN) gives a row of missing values.
    """
    values: list[Any] = text.to_pylist() if hasattr(text, "to_pylist") else list(text)
    sentences = [None if _is_missing(value) else sentence_words(value) for value in values]
    answers = _answers(tagger.tag_many(one for one in sentences if one is not None))
    rows = [None if one is None else next(answers) for one in sentences]
    return {
        "words": [None if row is None else list(row.words) for row in rows],
        "tags": [None if row is None else list(row.tags) for row in rows],
        "log_weight": [None if row is None else row.log_weight for row in rows],
        "exact": [None if row is None else row.certificate.exact for row in rows],
    }


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
