"""All paths of a small target: the court of appeal for exact inference."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from hiddenite import Candidates, NgramModel
from tests.models import load
from tests.oracle import BOS, EOS, UNK, Backoff, arpa_text
from tests.strategies import tables

Slots = list[list[tuple[str, float]]]
OUTSIDE = ("q1", "q2")  # words that no drawn vocabulary has

# The core adds the same terms in another order, from floats: each is off by half a unit in its last place.
ATOL = 1e-5
RTOL = 2.0**-23


def tolerance(log_weight: float) -> float:
    """Return how far the core's number may be from the oracle's."""
    return ATOL + RTOL * abs(log_weight)


@dataclass(frozen=True)
class Target:
    """A drawn language model and slots."""

    oracle: Backoff
    model: NgramModel
    slots: Slots

    @property
    def candidates(self) -> Candidates:
        return Candidates.from_slots(self.model.vocabulary, self.slots)

    def log_weight(self, words: Sequence[str], end: bool = True) -> float:
        """The definition: LM terms of each word after all before it, channel weights, </s>."""
        known = set(self.oracle.words)
        history = [BOS]
        total = 0.0
        weights = [dict(slot)[word] for slot, word in zip(self.slots, words, strict=True)]
        for word, weight in [*zip(words, weights, strict=True), *([(EOS, 0.0)] if end else [])]:
            symbol = word if word in known else UNK
            log_prob = self.oracle.log_prob(symbol, tuple(history)) if symbol in known else -math.inf
            total += log_prob + weight
            history.append(symbol)
        return total

    def paths(self, end: bool = True) -> list[tuple[float, tuple[str, ...]]]:
        """Every path of positive weight, best first."""
        choices = [[word for word, _ in slot] for slot in self.slots]
        scored = [(self.log_weight(words, end), words) for words in itertools.product(*choices)]
        return sorted((path for path in scored if path[0] > -math.inf), key=lambda path: -path[0])


def log_sum(log_weights: Sequence[float]) -> float:
    most = max(log_weights)
    return most + math.log(sum(math.exp(x - most) for x in log_weights))


log_weights = st.one_of(
    st.floats(-8, 0, allow_subnormal=False),
    st.sampled_from([0.0, 0.0, -math.inf, -1000.0, 3.0]),
)


@st.composite
def slot_lists(draw: st.DrawFn, words: Sequence[str], max_length: int = 4, max_size: int = 4) -> Slots:
    choices = st.lists(
        st.sampled_from([*words, *OUTSIDE]), min_size=1, max_size=min(max_size, len(words) + 2), unique=True
    )
    length = draw(st.integers(0, max_length))
    return [[(word, draw(log_weights)) for word in draw(choices)] for _ in range(length)]


@st.composite
def targets(draw: st.DrawFn) -> Target:
    """Back-off tables of order 1 to 6 with slots.

    They have weights above 1, zero probabilities, unlisted suffixes, and empty orders at the top.
    """
    empty = draw(st.sampled_from([0, 0, 0, 1]))
    rows = draw(tables(empty_orders=empty > 0))
    announced = max(map(len, rows)) + empty
    oracle = Backoff.from_rows(rows, announced)
    words = sorted(w for w in oracle.words if w not in {BOS, EOS, UNK})
    return Target(oracle, load(arpa_text(rows, announced)), draw(slot_lists(words)))
