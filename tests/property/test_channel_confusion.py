"""The confusion channel against its definition, over whole vocabularies."""

import math
import tempfile
from collections import defaultdict
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from hiddenite.channel import Confusion
from tests.channel_oracle import Table, confusion_prob, log, unigram_model

ATOL = 1e-9  # logarithms of products of at most twenty factors
EDGE = 1e-6  # weights that are this near to the beam's edge may fall on either side of it

characters = st.sampled_from("abcé")
words = st.text(characters, min_size=1, max_size=6)
vocabularies = st.sets(words, min_size=1, max_size=30)
pieces = st.text(characters, max_size=3)
beams = st.sampled_from([0.0, 3.0, 8.0, None])


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Tables whose characters keep at least a twentieth for themselves, unless they have an entry."""
    pairs = draw(st.sets(st.tuples(pieces, pieces).filter(any), min_size=1, max_size=8))
    left: dict[str, float] = defaultdict(lambda: 0.95)
    table: dict[tuple[str, str], float] = {}
    inserted = sum(not intended for intended, _ in pairs)
    for intended, seen in sorted(pairs):
        if not intended:
            table[intended, seen] = 0.2 / inserted
            continue
        share = draw(st.sampled_from([0.01, 0.1, 0.3])) * (left[intended[0]] - 0.2)
        left[intended[0]] -= share
        table[intended, seen] = share
    return table


def write(table: Table, directory: str) -> Path:
    path = Path(directory, "confusion.tsv")
    lines = (f"{intended}\t{seen}\t{p!r}\n" for (intended, seen), p in table.items())
    path.write_text("# intended\tseen\tprobability\n" + "".join(lines), encoding="utf-8")
    return path


@given(vocabularies, words, tables(), beams)
def test_candidates_are_all_words_within_the_beam(
    vocabulary: set[str], seen: str, table: Table, beam: float | None
) -> None:
    model = unigram_model(vocabulary)
    with tempfile.TemporaryDirectory() as directory:
        channel = Confusion(model.vocabulary, write(table, directory), beam=beam, unknown=False)
    expected = {word: log(confusion_prob(word, seen, table)) for word in vocabulary}
    edge = max(expected.values()) - (math.inf if beam is None else beam)
    found = dict(channel(seen).slot(0))
    assert found == pytest.approx({word: expected[word] for word in found}, abs=ATOL)
    certain = {w for w, weight in expected.items() if weight > max(edge + EDGE, -math.inf)}
    possible = {w for w, weight in expected.items() if weight >= edge - EDGE and weight > -math.inf}
    assert certain <= found.keys() <= possible


@given(vocabularies, words, tables(), beams, st.integers(1, 6))
def test_keep_gives_the_best_of_all(
    vocabulary: set[str], seen: str, table: Table, beam: float | None, keep: int
) -> None:
    model = unigram_model({word: -1.0 - 0.01 * i for i, word in enumerate(sorted(vocabulary))})
    with tempfile.TemporaryDirectory() as directory:
        path = write(table, directory)
        everything = Confusion(model.vocabulary, path, beam=beam)(seen)
        kept = Confusion(model.vocabulary, path, beam=beam, keep=keep)(seen)
    order = sorted(
        everything.slot(0),
        key=lambda slot: (-slot[1], -model.log_prob(slot[0]), model.vocabulary.id(slot[0])),
    )
    assert sorted(kept.slot(0)) == sorted(order[:keep])


@given(vocabularies, words, tables())
def test_a_word_outside_the_vocabulary_stands_for_itself(
    vocabulary: set[str], seen: str, table: Table
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        channel = Confusion(unigram_model(vocabulary).vocabulary, write(table, directory), unknown_cost=2.0)
    strangers = {w: weight for w, weight in channel(seen).slot(0) if w not in vocabulary}
    own = log(confusion_prob(seen, seen, table)) - 2.0 * len(seen)
    assert strangers == ({} if seen in vocabulary else pytest.approx({seen: own}, abs=ATOL))
