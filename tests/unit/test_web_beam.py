"""Beam search goes wrong where it must, and nowhere else."""

import pytest

from hiddenite import Candidates, EmptySupportError, decode
from hiddenite.web.beam import beam_search
from tests.models import load

# "a" begins better than "b", but only "b" goes on to "c".
ARPA = r"""
\data\
ngram 1=5
ngram 2=4

\1-grams:
-99 <s> 0
-1 a 0
-1 b 0
-5 c 0
-0.5 </s>

\2-grams:
-0.2 <s> a
-0.5 <s> b
-3 a c
-0.1 b c

\end\
"""
SLOTS = [[("a", 0.0), ("b", 0.0)], [("c", -1.0)]]


def test_a_narrow_beam_loses_the_best_reading() -> None:
    lm = load(ARPA)
    candidates = Candidates.from_slots(lm.vocabulary, SLOTS)
    best = decode(lm, candidates)
    assert best.words == ("b", "c")
    wide, narrow = (beam_search(lm, candidates, width) for width in (2, 1))
    assert wide.words == best.words
    assert wide.log_weight == pytest.approx(best.log_weight, abs=1e-9)  # 6 additions of numbers below 10
    assert narrow.words == ("a", "c")
    assert narrow.log_weight == pytest.approx(lm.score(["a c"])[0].log_prob - 1.0, abs=1e-6)
    assert narrow.log_weight < best.log_weight


def test_a_beam_that_dies_says_where() -> None:
    lm = load(ARPA)
    with pytest.raises(EmptySupportError, match="position 2"):
        beam_search(lm, Candidates.from_slots(lm.vocabulary, [*SLOTS[:1], [("unheard-of", 0.0)]]), 3)


def test_a_lattice_goes_from_node_to_node() -> None:
    lm = load(ARPA)
    edges = [(0, 1, "a", 0.0), (0, 2, "b", -0.5), (1, 2, "c", -1.0), (2, 3, "c", 0.0)]
    candidates = Candidates.from_lattice(lm.vocabulary, edges)
    best = decode(lm, candidates)
    wide = beam_search(lm, candidates, 5)
    assert wide.words == best.words == ("b", "c")
    assert wide.log_weight == pytest.approx(best.log_weight, abs=1e-9)  # 6 additions of numbers below 10
