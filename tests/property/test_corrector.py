"""The corrector against enumeration: all readings of small lattices one by one, and what must stay."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hiddenite
from hiddenite.candidates import Candidates
from hiddenite.correct.corrector import Corrector
from hiddenite.correct.tokens import tokens
from hiddenite.segments import sentences
from tests.strategies import examples

SENTENCES = [
    "the lord is my shepherd .",
    "i shall not want a lot .",
    "the cat sat on the mat .",
    "we came to the house together , all of us .",
    "what do you want ?",
    "the house is on the hill .",
] * 3
TYPED = ["teh", "lrod", "shephrd", "wnat", "alot", "to", "gether", "cat", "hous", "the", "xyzzy", ",", "."]
ABS = 1e-6  # marginals may leave out this share


@functools.cache
def corrector(kind: str) -> Corrector:
    with pytest.warns(hiddenite.HiddeniteWarning):
        lm = hiddenite.NgramModel.train(SENTENCES, order=3)
    return Corrector.from_ngram(lm, kind=kind, words={"hills": 2.0, "lords": 1.0})


def paths(lattice: Candidates) -> Iterator[list[tuple[int, int]]]:
    """Yield every path as (slot, candidate) steps."""
    spans = lattice.spans
    last = max(end for _, end in spans)

    def walk(node: int) -> Iterator[list[tuple[int, int]]]:
        if node == last:
            yield []
            return
        for slot, (start, end) in enumerate(spans):
            if start == node:
                for rest, k in itertools.product(walk(end), range(len(lattice.words(slot)))):
                    yield [(slot, k), *rest]

    yield from walk(0)


def enumerate_readings(model: Corrector, lattice: Candidates) -> dict[tuple[tuple[int, int], ...], float]:
    """The log weight of every reading: the language model's and the edges'."""
    slots = [lattice.slot(i) for i in range(len(lattice))]
    found = [tuple(path) for path in paths(lattice)]
    ids = [lattice.word_ids[begin:end].tolist() for begin, end in itertools.pairwise(lattice.begin.tolist())]
    # A word that the model has and the list lacks is scored as unknown.
    texts = [[slots[s][k][0] if ids[s][k] else "\x01" for s, k in path] for path in found]
    scores = [score.log_prob for score in model.lm.score(texts)]
    return {path: lm + sum(slots[s][k][1] for s, k in path) for path, lm in zip(found, scores, strict=True)}


@given(st.sampled_from(["typing", "ocr"]), st.lists(st.sampled_from(TYPED), min_size=1, max_size=3))
@examples(0.3)
def test_the_best_reading_and_its_marginals_are_those_of_enumeration(kind: str, typed: list[str]) -> None:
    model = corrector(kind)
    text = " ".join(typed)
    (lattice,) = model.lattice(text) if len(list(sentences(text, tokens(text)))) == 1 else (None,)
    if lattice is None:
        return
    weights = enumerate_readings(model, lattice)
    best = max(weights.values())
    total = best + math.log(math.fsum(math.exp(w - best) for w in weights.values()))
    answer = model.correct(text, min_probability=0.0)
    assert answer.certificate.exact
    assert answer.certificate.lower == pytest.approx(best, abs=1e-6)
    edges: dict[tuple[int, int], float] = {}
    for path, weight in weights.items():
        for edge in path:
            edges[edge] = edges.get(edge, 0.0) + math.exp(weight - total)
    slots = [lattice.slot(i) for i in range(len(lattice))]
    for change in answer.changes:
        first = change.new.lower().split()[0]
        masses = [mass for (s, k), mass in edges.items() if slots[s][k][0] == first]
        assert any(mass == pytest.approx(change.posterior, abs=ABS) for mass in masses)


def law_of_texts(model: Corrector, text: str, power: float = 1.0) -> dict[str, float]:
    """The probability of every corrected text; another power than one is another law."""
    (lattice,) = model.lattice(text)
    weights = enumerate_readings(model, lattice)
    best = max(weights.values())
    total = math.fsum(math.exp(power * (w - best)) for w in weights.values())
    law: dict[str, float] = {}
    for path, weight in weights.items():
        reading = " ".join(lattice.slot(s)[k][0] for s, k in path)
        law[reading] = law.get(reading, 0.0) + math.exp(power * (weight - best)) / total
    return law


def follows(drawn: dict[str, int], law: dict[str, float]) -> bool:
    """Six standard deviations of each share, and one draw: false alarm below 1e-8 a reading."""
    count = sum(drawn.values())
    slack = {text: 6 * math.sqrt(p * (1 - p) / count) + 1 / count for text, p in law.items()}
    return all(abs(drawn.get(text, 0) / count - p) <= slack[text] for text, p in law.items())


@given(st.lists(st.sampled_from(TYPED[:10]), min_size=1, max_size=2))
@examples(0.15)
def test_draws_of_whole_texts_follow_the_posterior(typed: list[str]) -> None:
    text = " ".join(typed)
    drawn = dict(corrector("typing").sample(text, 2000, seed=3))
    assert sum(drawn.values()) == 2000
    assert follows(drawn, law_of_texts(corrector("typing"), text))


def test_draws_of_another_law_are_seen() -> None:
    """The sabotage twin: where several readings are possible, draws do not follow that of halved weights."""
    model = corrector("typing")
    drawn = {text: dict(model.sample(text, 2000, seed=3)) for text in TYPED[:10]}
    assert not all(follows(drawn[text], law_of_texts(model, text, power=0.5)) for text in drawn)


texts = st.text(st.sampled_from("abTe '’.,-\n\r\t #@1_`ü😀ش"), max_size=30)


@given(texts)
def test_tokens_lose_nothing(text: str) -> None:
    found = tokens(text)
    place = 0
    for token in found:
        assert not text[place : token.start].strip()
        assert token.start >= place
        assert token.end > token.start
        place = token.end
    assert not text[place:].strip()
    ranges = list(sentences(text, found))
    assert [i for begin, end in ranges for i in range(begin, end)] == list(range(len(found)))


@given(texts)
def test_what_does_not_change_stays_character_for_character(text: str) -> None:
    answer = corrector("typing").correct(text, min_probability=0.0)
    place, built = 0, ""
    for change in answer.changes:
        assert text[change.start : change.end] == change.old != change.new
        built += text[place : change.start] + change.new
        place = change.end
    assert answer.text == built + text[place:]
    assert corrector("typing").correct(text, min_probability=1.0).text == text or answer.changes
