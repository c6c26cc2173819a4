"""What is known of the tags of a text: every tag, some of them, or how probable each is.

A label of a word is its tag; ``_``, «not annotated»; or evidence, a number e(t) for some tags t and 0 for the
others. A dictionary gives e = 1 for the tags that it lists, labels that were carried over from a translation
give their probabilities. Training sums over what is open, so that tag sequences count with the product of
e_i(t_i): ``cpp/hiddenite/channel/context/tagged_text.hpp``.

Counts need whole tags. A word counts for the lexicon if one tag has more than half of its evidence, and the
model of tags is estimated from sequences that a first tagger completes (:mod:`hiddenite.tag.completion`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hiddenite.errors import ModelError
from hiddenite.files.corpus import tokenize
from hiddenite.tag.emissions import SEPARATOR
from hiddenite.tag.formats import NOT_ANNOTATED, TaggedSentence, tag_fault

Evidence = Mapping[str, float]  # e(t) of the tags that are possible; empty: nothing is known
Label = str | Evidence
LabelledSentence = Sequence[tuple[str, Label]]
Dictionary = Mapping[str, Sequence[str]]  # words with the tags that they can have

NO_TAG = 0xFFFFFFFF  # of the core
_NOTHING: Evidence = {}


@dataclass(frozen=True, slots=True)
class TrainingText:
    """Sentences to learn from: words with tags, and what is known where a tag is not sure."""

    sentences: Sequence[TaggedSentence]  # where a tag is not sure it is the best guess, or ``_`` at first
    evidence: Sequence[Sequence[Evidence | None]] = ()  # None: the tag is right. Empty: all tags are

    @property
    def is_complete(self) -> bool:
        """Whether every word has a tag, right or guessed."""
        return not self.evidence or all(tag != NOT_ANNOTATED for s in self.sentences for _, tag in s)

    def tags(self) -> tuple[str, ...]:
        """Return the tags that words have or may have."""
        found = {tag for sentence in self.sentences for _, tag in sentence}
        for row in self.evidence:
            found.update(itertools.chain.from_iterable(filter(None, row)))
        return tuple(sorted(found - {NOT_ANNOTATED} if self.evidence else found))

    def counted(self) -> Sequence[TaggedSentence]:
        """Return the sentences with ``_`` for the tags that are too unsure to count."""
        if not self.evidence:
            return self.sentences
        pairs = zip(self.sentences, self.evidence, strict=True)
        return [
            [(w, t if _counts(t, e) else NOT_ANNOTATED) for (w, t), e in zip(s, row, strict=True)]
            for s, row in pairs
        ]

    def select(self, numbers: Iterable[int]) -> TrainingText:
        """Return some of the sentences."""
        chosen = list(numbers)
        evidence = [self.evidence[i] for i in chosen] if self.evidence else ()
        return TrainingText([self.sentences[i] for i in chosen], evidence)

    def with_tags(self, tags: Iterable[Sequence[str]]) -> TrainingText:
        """Return the text with these tags for those that are not sure."""
        sentences = [
            [(w, t if e is None else new) for (w, t), e, new in zip(s, row, found, strict=True)]
            for s, row, found in zip(self.sentences, self.evidence, tags, strict=True)
        ]
        return TrainingText(sentences, self.evidence)

    def gold(self) -> list[TaggedSentence]:
        """Return the sentences with ``_`` where the tag is not sure: what answers can be compared with."""
        if not self.evidence:
            return list(self.sentences)
        pairs = zip(self.sentences, self.evidence, strict=True)
        return [
            [(w, t if e is None else NOT_ANNOTATED) for (w, t), e in zip(s, row, strict=True)]
            for s, row in pairs
        ]

    def __add__(self, other: TrainingText) -> TrainingText:
        if not self.evidence and not other.evidence:
            return TrainingText([*self.sentences, *other.sentences])
        return TrainingText(
            [*self.sentences, *other.sentences], [*self._all_evidence(), *other._all_evidence()]
        )

    def _all_evidence(self) -> Sequence[Sequence[Evidence | None]]:
        return self.evidence or [[None] * len(sentence) for sentence in self.sentences]


def _counts(tag: str, evidence: Evidence | None) -> bool:
    if evidence is None:
        return True
    return bool(evidence) and 2 * evidence.get(tag, 0.0) > sum(evidence.values())


def checked_text(labelled: Iterable[LabelledSentence], dictionary: Dictionary | None = None) -> TrainingText:
    """Return the sentences that have words; raise ModelError for what cannot be learned.

    Of words that are not annotated the dictionary says what they can be.
    """
    rows = [checked_pairs(sentence) for sentence in labelled if len(sentence) > 0]
    if not rows:
        raise ModelError("there is no tagged word to train on")
    for word in {word for sentence in rows for word, _ in sentence}:
        if tokenize(word) != [word]:
            raise ModelError(f"the word {word!r} is empty or contains white space")
    if all(isinstance(label, str) and label != NOT_ANNOTATED for s in rows for _, label in s):
        text = TrainingText(cast(list[TaggedSentence], rows))
    else:
        evidence = [[_evidence(word, label, dictionary) for word, label in s] for s in rows]
        pairs = zip(rows, evidence, strict=True)
        text = TrainingText(
            [[(w, _best(label, e)) for (w, label), e in zip(s, row, strict=True)] for s, row in pairs],
            evidence,
        )
        if not text.tags():
            raise ModelError(f"every tag is «{NOT_ANNOTATED}»: annotate some words, or give a dictionary")
    for tag in text.tags():
        fault = tag_fault(tag)
        if SEPARATOR in tag:
            fault = f"found the tag {tag!r}, expected one without {SEPARATOR}"
        if fault:
            raise ModelError(fault)
    return text


def checked_pairs(sentence: Any) -> LabelledSentence:
    """Return a sentence of (word, label) pairs; raise ModelError for anything else."""
    if isinstance(sentence, str) or any(isinstance(pair, str) or len(pair) != 2 for pair in sentence):
        raise ModelError(f"found {sentence!r:.60}, expected sentences of (word, tag) pairs")
    return cast(LabelledSentence, sentence)


def _evidence(word: str, label: Label, dictionary: Dictionary | None) -> Evidence | None:
    if isinstance(label, str):
        if label != NOT_ANNOTATED:
            return None
        return dict.fromkeys(look_up(dictionary, word), 1.0) if dictionary else _NOTHING
    if any(not 0 < e < float("inf") for e in label.values()):
        raise ModelError(f"«{word}»: found the evidence {dict(label)}, expected numbers above 0")
    return label


def look_up(dictionary: Dictionary, word: str) -> Sequence[str]:
    """Return what a dictionary lists for a word, or for it in lower case."""
    return dictionary.get(word) or dictionary.get(word.lower(), ())


def _best(label: Label, evidence: Evidence | None) -> str:
    if evidence is None:
        return cast(str, label)
    return max(evidence, key=lambda tag: (evidence[tag], tag)) if len(evidence) else NOT_ANNOTATED


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceArrays:
    """A text in the form of the core's trainer."""

    tag: NDArray[np.uint32]  # [token], NO_TAG where it is not sure
    counted: NDArray[np.uint32]
    begin: NDArray[np.uint64]  # of the evidence; empty if there is none
    evidence_tag: NDArray[np.uint32]
    evidence_log: NDArray[np.float64]

    @classmethod
    def of(cls, text: TrainingText, tag_ids: Mapping[str, int]) -> EvidenceArrays:
        """Make the arrays."""
        counted = _tag_array(text.counted(), tag_ids)
        if not text.evidence:
            empty = np.array([], dtype=np.uint32)
            return cls(counted, counted, empty.astype(np.uint64), empty, empty.astype(np.float64))
        rows = [dict(e or _NOTHING) for row in text.evidence for e in row]
        tags = [tag_ids[tag] for row in rows for tag in row]
        values = np.array([e for row in rows for e in row.values()], dtype=np.float64)
        return cls(
            _tag_array(text.gold(), tag_ids),
            counted,
            np.cumsum([0, *map(len, rows)]).astype(np.uint64),
            np.array(tags, dtype=np.uint32),
            np.log(values),
        )


def _tag_array(sentences: Sequence[TaggedSentence], tag_ids: Mapping[str, int]) -> NDArray[np.uint32]:
    flat = [tag_ids.get(tag, NO_TAG) for sentence in sentences for _, tag in sentence]
    return np.array(flat, dtype=np.uint32)
