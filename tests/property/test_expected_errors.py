"""The expected word errors of a sequence, by columns of Levenshtein's tables, against enumeration."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite._core import expected_errors as core_expected_errors
from hiddenite.lattice import Edge, Lattice
from hiddenite.lattice.lattice import Final
from hiddenite.rescoring import Rescored
from tests.enumeration import log_sum
from tests.property.test_rescoring import Case, cases, expected_errors


@given(case=cases(), data=st.data())
def test_the_expected_errors_of_a_sequence_are_those_of_enumeration(case: Case, data: st.DataObject) -> None:
    sums = case.sequences(sums=True)
    if not sums:
        return
    scored = case.rescored()
    total = log_sum(list(sums.values()))
    law = {words: math.exp(weight - total) for words, weight in sums.items()}
    words = tuple(data.draw(st.lists(st.sampled_from([*scored.words, "never said"]), max_size=8)))
    number = {word: label for label, word in enumerate([*scored.words, "never said"])}
    coded = [number[word] for word in words]
    found = core_expected_errors(scored.core, scored.labels, coded, 2**63, 0.0)
    assert found is not None
    assert found[0] == pytest.approx(expected_errors(words, law), abs=1e-3)  # posteriors right to 1e-5
    assert found[1] == 0.0
    cut = core_expected_errors(scored.core, scored.labels, coded, 2**63, 0.3)
    assert cut is not None
    longest = max(len(words), *map(len, law))
    assert cut[0] + cut[1] * longest >= found[0] - 1e-9
    assert core_expected_errors(scored.core, scored.labels, coded, 0, 0.0) is None
    assert core_expected_errors(scored.core, scored.labels, coded * 65, 2**63, 0.0) is None or len(coded) == 0


def test_expected_errors_of_long_sequences_use_every_bit() -> None:
    length = 64
    edges = [
        Edge(i, i + 1, word, math.log(prob))
        for i in range(length)
        for word, prob in (("a", 0.75), ("b", 0.25))
    ]
    scored = Rescored(Lattice(edges, {length: Final()}))
    label = scored.words.index("a")
    for count in (0, 1, 63, 64):
        found = core_expected_errors(scored.core, scored.labels, [label] * count, 10**6, 0.0)
        assert found is not None
        # Only the number of words that are a matters: of n, count - n or length - n are wrong.
        law = [math.comb(length, n) * 0.75**n * 0.25 ** (length - n) for n in range(length + 1)]
        wanted = sum(p * (length - min(n, count)) for n, p in enumerate(law))
        assert found[0] == pytest.approx(wanted, abs=1e-9)
