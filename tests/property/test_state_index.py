"""The bounds of the index for inference: each is at least, or at most, what it bounds, in exact arithmetic.

The index is read from a compiled model, whose arrays are those of ``cpp/hiddenite/lm/state_index.hpp``.
"""

import math
import struct
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hiddenite import NgramModel
from tests.models import load, without_warnings
from tests.oracle import ArpaRows, arpa_text
from tests.strategies import examples, log10_probs, tables

STATE = np.dtype(
    [("suffix", "u4"), ("first_arc", "u4"), ("classes", "u4"), ("log_backoff", "f4"), ("up", "f4"),
     ("down", "f4"), ("up_to_root", "f4"), ("best_arc", "f4")]
)  # fmt: skip
ARC = np.dtype(
    [("word", "u4"), ("next", "u4"), ("log_prob", "f4"), ("down_to_root", "f4"), ("up", "f4"), ("down", "f4")]
)
HEAD = np.dtype([("word", "u4"), ("up_to_root", "f4")])
EOS_ID = 2
NUM_ARRAYS_AT = 12  # in the file
# Beside -1e30 a double loses an ordinary number without a trace.
wide_log10 = log10_probs | st.floats(-1e37, 0) | st.sampled_from([-1e30, -1e10, -1e16])


def arrays_of(file: bytes) -> dict[str, bytes]:
    """The arrays of a compiled model, by ``cpp/hiddenite/base/container.hpp``."""
    num_arrays = struct.unpack_from("<I", file, NUM_ARRAYS_AT)[0]
    at = -(-(64 + 32 * num_arrays) // 64) * 64
    arrays = {}
    for i in range(num_arrays):
        name, element_bytes, size = struct.unpack_from("<8sQQ", file, 64 + 32 * i)
        arrays[name.rstrip(b"\0").decode()] = file[at : at + element_bytes * size]
        at += -(-element_bytes * size // 64) * 64
    return arrays


class Index:
    """The arrays of a compiled model."""

    def __init__(self, model: NgramModel) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "model.hlm")
            with without_warnings():
                model.compile(path)
            arrays = arrays_of(path.read_bytes())

        def column(name: str, kind: Any) -> NDArray[Any]:
            return np.frombuffer(arrays[name], kind)

        self.log_prob, self.suffix = column("prob", "f4"), column("suffix", "u4")
        self.states, self.arcs = column("E-state", STATE), column("E-arc", ARC)
        self.heads = column("E-head", HEAD)
        self.up_of_word, self.word_class = column("E-upword", "f4"), column("E-class", "u1")
        self.fall = column("E-fall", "f4").reshape(-1, len(self.word_class))
        self.num_contexts = len(self.states) - 1

    def arcs_of(self, s: int) -> range:
        return range(self.states[s]["first_arc"], self.states[s + 1]["first_arc"])


def exact(*terms: float) -> Fraction | float:
    """The sum; an infinity if the terms have one, NaN if they have both."""
    if all(map(math.isfinite, map(float, terms))):
        return sum((Fraction(float(x)) for x in terms), Fraction(0))
    return sum(float(x) for x in terms if not math.isfinite(x))


def at_least(bound: float, *terms: float) -> bool:
    """Whether the bound is not below the sum; where infinities disagree, only no bound at all is right."""
    value = exact(*terms)
    if isinstance(value, float) and math.isnan(value):
        return float(bound) == math.inf
    return exact(bound) >= value


def at_most(bound: float, *terms: float) -> bool:
    return at_least(-bound, *(-x for x in terms))


def check_arcs(index: Index) -> None:
    for s in range(1, index.num_contexts):
        for a in index.arcs_of(s):
            arc, p_suffix = index.arcs[a], index.log_prob[index.suffix[a]]
            if arc["log_prob"] == p_suffix == -math.inf:
                continue
            later = index.states[a] if a < index.num_contexts and arc["word"] != EOS_ID else None
            up, down = (0.0, 0.0) if later is None else (later["up"], later["down"])
            assert at_least(arc["up"], arc["log_prob"], -p_suffix, up)
            assert at_most(arc["down"], arc["log_prob"], -p_suffix, down)
            assert index.states[s]["up"] >= arc["up"]
            assert index.states[s]["down"] <= arc["down"]


def check_sums_to_the_root(index: Index) -> None:
    for s in range(1, index.num_contexts):
        state = index.states[s]
        assert state["down"] <= state["log_backoff"] <= state["up"]
        assert at_least(state["up_to_root"], state["up"], index.states[state["suffix"]]["up_to_root"])
    for head, arc in zip(index.heads[1:], index.arcs[1:], strict=True):
        assert at_least(head["up_to_root"], arc["log_prob"], index.states[arc["next"]]["up_to_root"])
        downs = [arc["log_prob"]]
        s = arc["next"]
        while s != 0:
            downs.append(index.states[s]["down"])
            s = index.states[s]["suffix"]
        assert at_most(arc["down_to_root"], *downs)


def check_what_follows_a_word(index: Index) -> None:
    for w in range(len(index.up_of_word)):
        s = index.arcs[1 + w]["next"]
        if s == 0:
            continue
        for a in index.arcs_of(s):
            fall = index.fall[index.word_class[index.arcs[a]["word"]], w]
            up, most = index.arcs[a]["up"], index.up_of_word[w]
            assert fall == 0 or at_least(fall, up, -most)


@examples(2)
@given(tables(closed=True, probs=wide_log10), st.booleans())
def test_every_bound_is_rounded_outwards(rows: ArpaRows, empty_order: bool) -> None:
    index = Index(load(arpa_text(rows, max(map(len, rows)) + empty_order)))
    check_arcs(index)
    check_sums_to_the_root(index)
    check_what_follows_a_word(index)
