"""Labels of one side of a parallel text, carried to the other through link probabilities.

>>> tagged = [[("the", "DET"), ("dog", "NOUN")]]
>>> project(tagged, ["le chien"], [np.eye(2)])[0].labels
('DET', 'NOUN')

A target word j gets from its links the mass m_j(t) = Σ_i p(i–j) [label of i is t]; what is missing to one
is the probability that no link says anything. The label of j is that of its partner with probability ρ
(translations change labels, and links mislead), so that links multiply the odds of t by

    1 + ρ · (m_j(t) / π(t) − m_j),   π(t) the share of label t, m_j = Σ_t m_j(t).

With ``smoothing`` «none» the masses are the answer. «words» multiplies with p(t | word), learnt from what
all occurrences of the word, and of words that end alike, get (:mod:`hiddenite.align.label_words`);
«sequence» with a chain of labels too (:mod:`hiddenite.align.label_chain`). Both are learnt by EM from
nothing but the links. Links, spelling and neighbours repeat each other's mistakes, so that the last step
counts their product to the power of one half: the order of the labels hardly changes, and probabilities
come near the share of right labels. A word without any link is so labelled by its spelling and its
neighbours, or left without a label where the probability of the best is below the threshold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hiddenite.align.aligner import Aligner
from hiddenite.align.evidence import Probabilities, model_probabilities
from hiddenite.align.label_chain import Array, Chain, ChainPosterior, estimate_chain, infer_labels
from hiddenite.align.label_words import WordClasses, same_spelling
from hiddenite.errors import ModelError, OptionError
from hiddenite.files.corpus import Sentence, each_sentence, sentence_words
from hiddenite.options import check_choice
from hiddenite.records import equal_fields

NOT_ANNOTATED = "_"
SMOOTHINGS = ("none", "words", "sequence")
DEFAULT_THRESHOLD = 0.5
RELIABILITY = 0.8  # ρ: that a word has the label of the word that it is linked with
ITERATIONS = 8
POWER = 0.5  # of the weights in the last step
CHAIN_WEIGHT = 10.0  # occurrences that the shares of all labels count for in what follows a label
_TINY = 1e-12

SmoothingName = Literal["none", "words", "sequence"]


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """The labels of one sentence of the target side."""

    words: tuple[str, ...]
    labels: tuple[str | None, ...]  # None: no label reaches the threshold
    probabilities: tuple[float, ...]  # of each word's best label, whether it reaches the threshold or not
    distribution: NDArray[np.float32]  # [word, label]: p(label); rows of «none» add up to at most one
    names: tuple[str, ...]  # the labels that the columns stand for

    def __eq__(self, other: object) -> bool:
        return equal_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self, least: float = 0.001) -> dict[str, Any]:
        """Return the JSON object; labels below ``least`` are left out of the distributions."""
        return {
            "words": list(self.words),
            "labels": list(self.labels),
            "probabilities": [round(p, 6) for p in self.probabilities],
            "distributions": [
                {self.names[k]: round(float(row[k]), 6) for k in np.argsort(-row) if row[k] >= least}
                for row in self.distribution
            ],
        }


@dataclass(frozen=True, slots=True)
class Evidence:
    """What links say of the words of a text."""

    names: tuple[str, ...]  # the labels
    types: tuple[str, ...]  # the different words
    words: NDArray[np.int64]  # [word]: its type
    lengths: NDArray[np.int64]  # [sentence]: its words
    mass: Array  # [word, label]: m_j(t)
    spelling: Array  # [type, label]: what the source says of words spelt so


def project(
    source: Iterable[Sequence[tuple[str, str]]],
    target: Iterable[Sentence],
    links: Aligner | Iterable[NDArray[Any]],
    *,
    smoothing: SmoothingName = "sequence",
    threshold: float = DEFAULT_THRESHOLD,
    seed: int = 0,
) -> list[Projection]:
    """Carry the labels of ``source``, (word, label) pairs, to the sentences of ``target``.

    ``links`` is an aligner, or a matrix p(link) [source, target] for each pair. A label «_» on the source
    side means «not annotated». ``seed`` is that of the aligner's draws.
    """
    check_choice("smoothing", smoothing, SMOOTHINGS)
    if not 0 <= threshold <= 1:
        raise OptionError("threshold", f"is {threshold}, expected 0 to 1")
    tagged = [tuple(sentence) for sentence in source]
    texts = [tuple(sentence_words(one)) for one in each_sentence(target)]
    if len(tagged) != len(texts):
        raise ModelError(
            f"found {len(tagged)} source and {len(texts)} target sentences, expected equally many"
        )
    if isinstance(links, Aligner):
        pairs = ((tuple(w for w, _ in e), f) for e, f in zip(tagged, texts, strict=True))
        links = model_probabilities(links, pairs, seed=seed)
    evidence = collect_evidence(tagged, texts, links)
    return list(read_projections(evidence, texts, infer(evidence, smoothing), threshold))


def collect_evidence(
    source: Sequence[Sequence[tuple[str, str]]],
    target: Sequence[Sequence[str]],
    links: Iterable[Probabilities],
) -> Evidence:
    """Sum up what the links of each sentence pair say; ``links`` are read once, one matrix at a time."""
    names: dict[str, int] = {}
    for sentence in source:
        for _, label in sentence:
            if label != NOT_ANNOTATED:
                names.setdefault(label, len(names))
    names = {name: place for place, name in enumerate(sorted(names))}
    types: dict[str, int] = {}
    words = [types.setdefault(word, len(types)) for sentence in target for word in sentence]
    rows = []
    for number, (e, f, p) in enumerate(zip(source, target, links, strict=True), 1):
        if p.shape != (len(e), len(f)):
            raise ModelError(
                f"sentence pair {number}: link probabilities of {p.shape[0]} and {p.shape[1]} words, "
                f"expected {len(e)} and {len(f)}"
            )
        rows.append(_mass(p, [names.get(label, -1) for _, label in e], len(names)))
    given = ((word, names[t]) for sentence in source for word, t in sentence if t != NOT_ANNOTATED)
    return Evidence(
        tuple(names),
        tuple(types),
        np.array(words, dtype=np.int64),
        np.array([len(sentence) for sentence in target], dtype=np.int64),
        np.concatenate([np.zeros((0, len(names))), *rows]),
        same_spelling(given, tuple(types), len(names)),
    )


def _mass(p: Probabilities, labels: Sequence[int], num_labels: int) -> Array:
    """Return m_j(t) [target word, label]; where the links of a word add up to more than one, their shares."""
    mass = np.zeros((num_labels + 1, p.shape[1]))  # the last row: not annotated
    np.add.at(mass, labels, p.astype(np.float64))
    mass /= np.maximum(mass.sum(axis=0), 1.0)
    return mass[:-1].T


# ------------------------------------------------------------------- inference


def infer(evidence: Evidence, smoothing: SmoothingName = "sequence") -> Array:
    """Return p(label) [word, label] of all words of the text."""
    total = evidence.mass.sum()
    if smoothing == "none" or total == 0:
        return evidence.mass
    share = evidence.mass.sum(axis=0) / total
    odds = _odds(evidence.mass, share) * _odds(evidence.spelling, share)[evidence.words]
    classes = WordClasses(evidence.types)
    independent = Chain(share, np.tile(share, (len(share), 1)), np.ones(len(share)))
    posterior = infer_labels(odds, evidence.lengths, independent)
    for step in range(ITERATIONS):
        by_word, chain = _estimate(evidence, classes, posterior, smoothing == "sequence")
        power = POWER if step == ITERATIONS - 1 else 1.0
        chain = Chain(chain.start**power, chain.follows**power, chain.end**power)
        posterior = infer_labels((odds * by_word) ** power, evidence.lengths, chain)
    return posterior.labels


def _estimate(
    evidence: Evidence, classes: WordClasses, found: ChainPosterior, is_chain: bool
) -> tuple[Array, Chain]:
    """Return p(label | word) / p(label) [word, label] and the chain that the expected labels give."""
    counts = np.zeros((len(evidence.types), len(evidence.names)))
    for label, column in enumerate(found.labels.T):
        counts[:, label] = np.bincount(evidence.words, column, minlength=len(counts))
    share = counts.sum(axis=0) / counts.sum()
    by_word = (classes.smooth(counts) / np.maximum(share, _TINY))[evidence.words]
    if is_chain:
        return by_word, estimate_chain(found, share, CHAIN_WEIGHT)
    return by_word, Chain(share, np.tile(share, (len(share), 1)), np.ones(len(share)))


def _odds(mass: Array, share: Array) -> Array:
    """Return by what the masses multiply the odds of each label."""
    odds = 1 + RELIABILITY * (mass / np.maximum(share, _TINY) - mass.sum(axis=1, keepdims=True))
    return np.asarray(np.maximum(odds, _TINY))


def read_projections(
    evidence: Evidence, target: Iterable[Sequence[str]], labels: Array, threshold: float
) -> Iterator[Projection]:
    """Give the sentences' labels from those of all words."""
    begin = 0
    for words in target:
        rows = labels[begin : begin + len(words)]
        begin += len(words)
        best = rows.argmax(axis=1) if rows.size else np.zeros(len(rows), dtype=np.int64)
        top = [float(row[k]) if row.size else 0.0 for row, k in zip(rows, best, strict=True)]
        yield Projection(
            tuple(words),
            tuple(
                evidence.names[k] if p >= threshold and p > 0 else None
                for k, p in zip(best, top, strict=True)
            ),
            tuple(min(p, 1.0) for p in top),
            rows.astype(np.float32),
            evidence.names,
        )
