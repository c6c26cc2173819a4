"""Candidates: the words that may stand at each position of a text, each with a log weight.

They are what a channel makes of an observation, or what Python data or a word lattice say; multiplied with a
language model they are the target of :mod:`hiddenite.inference`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hiddenite._core import Reading
from hiddenite.errors import ModelError
from hiddenite.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WeightedWord = tuple[str, float]


class Candidates:
    """The words that can stand at each position, and the channel's log weight of each.

    Position i holds the candidates ``begin[i]`` to ``begin[i + 1]``. Words outside the vocabulary have the id
    of ``<unk>`` and keep their spelling; a position may hold several. A position may be empty: that is an
    error only when it is decoded. The arrays are read-only views of what the core holds.

    Positions need not stand in a row: in a word lattice (:meth:`from_lattice`) position i leads from one node
    to a later one, ``spans[i]``, and a path takes those on its way from the first node to the last.
    """

    def __init__(self, vocabulary: Vocabulary, reading: Reading) -> None:
        self._vocabulary = vocabulary
        self._reading = reading

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that the ids mean."""
        return self._vocabulary

    @property
    def reading(self) -> Reading:
        """The same in the core."""
        return self._reading

    def __repr__(self) -> str:
        return f"<Candidates of {len(self)} positions, {len(self.word_ids):,} words>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Candidates):
            return NotImplemented
        same = (self.id, self.spans, len(self)) == (other.id, other.spans, len(other))
        return same and all(self.slot(i) == other.slot(i) for i in range(len(self)))

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def from_slots(
        cls,
        vocabulary: Vocabulary,
        slots: Iterable[Iterable[WeightedWord]],
        id: str | int | None = None,
    ) -> Candidates:
        """Make candidates from pairs of a word and its natural-log weight, one list a position.

        A weight of ``-math.inf`` is allowed: such a word is listed but never chosen.
        """
        lists = [[_weighted(pair, position) for pair in slot] for position, slot in enumerate(slots, 1)]
        for position, slot in enumerate(lists, 1):
            for word, _ in slot:
                check_text(word, f"position {position}: ")
        return cls(vocabulary, Reading.from_slots(vocabulary._table, lists, _name(id), isinstance(id, int)))

    @classmethod
    def from_lattice(
        cls,
        vocabulary: Vocabulary,
        edges: Iterable[tuple[int, int, str, float]],
        id: str | int | None = None,
    ) -> Candidates:
        """Make candidates from the edges of a word lattice: (from node, to node, word, natural-log weight).

        Nodes are numbered so that edges lead upwards. Paths begin at node 0 and end at the highest; they may
        have different numbers of words. Edges between the same two nodes make one position. Two paths with
        the same words by different nodes are two paths: to k-best lists, to samples and to sums.
        """
        rows = []
        for number, (start, end, word, log_weight) in enumerate(edges, 1):
            place = f"edge {number}: "
            check_text(word, place)
            rows.append((_node(start, place), _node(end, place), word, float(log_weight)))
        return cls(vocabulary, Reading.from_lattice(vocabulary._table, rows, _name(id), isinstance(id, int)))

    @property
    def id(self) -> str | int | None:
        """The record's own name."""
        return int(self.reading.id) if self.reading.id_is_integer else self.reading.id or None

    @property
    def begin(self) -> NDArray[np.uint64]:
        """Where each position's candidates begin, and where the last one's end."""
        return self.reading.begin

    @property
    def word_ids(self) -> NDArray[np.uint32]:
        """The candidates' words."""
        return self.reading.words

    @property
    def log_weights(self) -> NDArray[np.float64]:
        """The channel's weight of each candidate."""
        return self.reading.log_weights

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The nodes of a lattice that each position leads from and to; none: the positions stand in a row."""
        return self.reading.spans

    @property
    def spellings(self) -> dict[int, str]:
        """The words of candidates outside the vocabulary."""
        return dict(self.reading.spellings)

    def __len__(self) -> int:
        """Return the number of positions."""
        return self.reading.num_positions

    def words(self, position: int) -> list[str]:
        """Return the words of a position, as they are spelled."""
        if not 0 <= position < len(self):
            raise IndexError(f"position {position} of {len(self)}")
        first, end = map(int, self.begin[position : position + 2])
        spellings = self.spellings
        ids = self.word_ids[first:end].tolist()
        return [spellings.get(i) or self.vocabulary[word] for i, word in enumerate(ids, first)]

    def slot(self, position: int) -> list[WeightedWord]:
        """Return a position's words with their log weights, as :meth:`from_slots` takes them."""
        words = self.words(position)
        first = int(self.begin[position])
        return list(zip(words, self.log_weights[first : first + len(words)].tolist(), strict=True))


def _weighted(pair: object, position: int) -> WeightedWord:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ModelError(f"position {position}: found {pair!r:.60}, expected pairs (word, log weight)")
    return pair[0], float(pair[1])


def _name(id: str | int | None) -> str:
    name = "" if id is None else str(id)
    check_text(name, "the record's id: ")
    return name


def _node(node: int, place: str) -> int:
    number = operator.index(node) if hasattr(node, "__index__") else -1
    if not 0 <= number < 1 << 32:
        raise ModelError(f"{place}found node {node!r}, expected nodes numbered 0, 1, 2 and so on")
    return number


def check_text(text: str, place: str = "") -> None:
    """Raise ModelError for what is no Unicode text: half of a surrogate pair, or another kind of object."""
    if not isinstance(text, str):
        raise ModelError(f"{place}found {text!r:.60}, expected text, a str")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        found = error.object[error.start]
        raise ModelError(f"{place}column {error.start + 1}: found {found!r}, expected Unicode text") from None
