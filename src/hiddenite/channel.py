"""Channels: what an observation says about the words that were meant.

A channel turns one line of observation into :class:`Candidates`: for each position the words that may stand
there, each with ln p(observed | word) or another log weight. Multiplied with a language model this is the
target of :mod:`hiddenite.inference`.

========================  ================================================  ======================
:class:`Keypad`           words typed on a phone's number keys              ``3637 843 66639``
:class:`Typo`             words typed on a keyboard, with slips             ``teh qiuck fox``
:class:`Confusion`        words read by a machine that confuses characters  ``tbe modem world``
:class:`Slots`            candidates and weights of your own                one JSON object a line
:class:`Candidates`       the same from Python data, or a word lattice      ``Candidates.from_slots``
========================  ================================================  ======================

All reading is in C++ (``cpp/hiddenite/channel.hpp`` says which header holds which model and its formulas);
``docs/channels.md`` explains the models.
"""

from __future__ import annotations

import inspect
import math
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hiddenite._core import Channel as CoreChannel
from hiddenite._core import (
    ConfusionChannel,
    ConfusionModel,
    KeypadChannel,
    KeypadNoise,
    Reading,
    SlotsChannel,
    TypoChannel,
    TypoModel,
    read_confusion_model,
)
from hiddenite._core import Encoder as CoreEncoder
from hiddenite.corpus import ChunkReader, tokenize
from hiddenite.errors import ModelError, UnknownSymbolError, near_spellings
from hiddenite.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AMBIGUITY = 64.0  # the paper's k
BEAM = 12.0
DISTANCE = 2
UNKNOWN_COST = math.log(26)  # a character of a word that the vocabulary lacks: all letters alike

WeightedWord = tuple[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The words that can stand at each position, and the channel's log weight of each.

    Position i holds the candidates ``begin[i]`` to ``begin[i + 1]``. Words outside the vocabulary have the id
    of ``<unk>`` and keep their spelling; a position may hold several. A position may be empty: that is an
    error only when it is decoded. The arrays are read-only views of what the core holds.

    Positions need not stand in a row: in a word lattice (:meth:`from_lattice`) position i leads from one node
    to a later one, ``spans[i]``, and a path takes those on its way from the first node to the last.
    """

    vocabulary: Vocabulary
    reading: Reading  # the same in the core

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
        lists = [[(word, float(log_weight)) for word, log_weight in slot] for slot in slots]
        for position, slot in enumerate(lists, 1):
            for word, _ in slot:
                _check_text(word, f"position {position}: ")
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
            _check_text(word, place)
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


def _name(id: str | int | None) -> str:
    name = "" if id is None else str(id)
    _check_text(name, "the record's id: ")
    return name


def _node(node: int, place: str) -> int:
    number = operator.index(node) if hasattr(node, "__index__") else -1
    if not 0 <= number < 1 << 32:
        raise ModelError(f"{place}found node {node!r}, expected nodes numbered 0, 1, 2 and so on")
    return number


class Encoder:
    """From what was meant to what a channel shows, for trying things out."""

    def __init__(self, encoder: CoreEncoder) -> None:
        self._encoder = encoder

    def encode(self, text: str, seed: int | None = None) -> str:
        """Return the observation of a text: without noise, or with a seed drawn from the channel's noise."""
        line = " ".join(tokenize(text))
        _check_text(line)
        return self.encode_text(line.encode(), seed, "<text>").decode().removesuffix("\n")

    def encode_text(self, text: bytes, seed: int | None, name: str, first_line: int = 1) -> bytes:
        """Encode UTF-8 text line by line; line l draws from stream l of the seed.

        ``name`` and ``first_line`` place errors; the latter also places the streams of a text in pieces.
        """
        if seed is not None and not 0 <= seed < 1 << 64:
            raise ModelError(f"the seed is {seed}, expected 0 to 2^64 - 1")
        return self._encoder.encode_text(text, seed, name, first_line)


class Channel:
    """Reads observations; immutable, and safe to share between threads."""

    def __init__(self, vocabulary: Vocabulary, channel: CoreChannel) -> None:
        self.vocabulary = vocabulary
        self.core = channel  # what batches hand to the core

    def __call__(self, observation: str) -> Candidates:
        """Return the candidates of one line."""
        _check_text(observation)
        return Candidates(self.vocabulary, self.core.read(observation))


class Keypad(Channel, Encoder):
    """Words typed on a phone's number keys, one press a character, with slips (Carter et al. 2012, eq. 9).

    p(o | x) is the product of 1 / (k d + 1), normalised over the ten keys, where d is the distance of the
    pressed key from the right one and k the ``ambiguity``. All words with as many characters are candidates,
    or the ``keep`` best of them.
    """

    def __init__(self, vocabulary: Vocabulary, ambiguity: float = AMBIGUITY, keep: int | None = None) -> None:
        noise = KeypadNoise(ambiguity)
        Encoder.__init__(self, noise)
        Channel.__init__(self, vocabulary, KeypadChannel(vocabulary._table, noise, _check_keep(keep)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TypoRates:
    """How often a character is mistyped, and how. The four shares add up to one."""

    error_rate: float = 0.02
    substitution: float = 0.4
    insertion: float = 0.2
    deletion: float = 0.3
    transposition: float = 0.1
    neighbour: float = 0.8  # share of the substitutions that hit a neighbouring key

    def model(self) -> TypoModel:
        """Return the model in C++."""
        return TypoModel(
            self.error_rate,
            self.substitution,
            self.insertion,
            self.deletion,
            self.transposition,
            self.neighbour,
        )


class Typo(Channel, Encoder):
    """Words typed on a keyboard, with substitutions, insertions, deletions and transpositions.

    All words within ``distance`` such events are candidates, or the ``keep`` best of them; a word's weight is
    that of its best script. ``unknown`` lets an observed word outside the vocabulary stand for itself, at
    ``unknown_cost`` a character; by default if the model gives ``<unk>`` a probability.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        rates: TypoRates | None = None,
        distance: int = DISTANCE,
        unknown: bool | None = None,
        unknown_cost: float = UNKNOWN_COST,
        keep: int | None = None,
    ) -> None:
        model = (rates or TypoRates()).model()
        Encoder.__init__(self, model)
        table = vocabulary._table
        known = table.unknown_is_listed if unknown is None else unknown
        Channel.__init__(
            self, vocabulary, TypoChannel(table, model, distance, known, unknown_cost, _check_keep(keep))
        )


class Confusion(Channel, Encoder):
    """Words read by a machine that confuses characters, by a table of how often.

    ``file`` has lines of ``intended TAB seen TAB probability``, up to three characters a side. Candidates are
    the words whose best alignment is within ``beam`` (natural log) of the best one's, None for all, and the
    ``keep`` best of them. ``unknown`` is as for :class:`Typo`.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        file: str | os.PathLike[str],
        *,
        beam: float | None = BEAM,
        unknown: bool | None = None,
        unknown_cost: float = UNKNOWN_COST,
        keep: int | None = None,
    ) -> None:
        model = _read_confusions(file)
        Encoder.__init__(self, model)
        table = vocabulary._table
        known = table.unknown_is_listed if unknown is None else unknown
        width = math.inf if beam is None else beam
        Channel.__init__(
            self, vocabulary, ConfusionChannel(table, model, width, known, unknown_cost, _check_keep(keep))
        )


class Slots(Channel):
    """Candidates of your own, one JSON object a line: ``{"id": "s1", "slots": [[["the", -0.1], ...], ...]}``.

    Weights are natural logarithms, null is minus infinity. The ``keep`` best of each slot stay. A word
    lattice is ``{"id": "s2", "lattice": [[0, 1, "now", -0.7], [1, 2, "here", -0.2], ...]}``: from node,
    to node, word, weight; see :meth:`Candidates.from_lattice`.
    """

    def __init__(self, vocabulary: Vocabulary, keep: int | None = None) -> None:
        super().__init__(vocabulary, SlotsChannel(vocabulary._table, _check_keep(keep)))


_CHANNELS: Mapping[str, type[Channel]] = {
    "keypad": Keypad,
    "typo": Typo,
    "slots": Slots,
    "confusion": Confusion,
}
CHANNEL_NAMES = ("keypad", "typo", "slots", "confusion:FILE")


def channel_from_name(name: str, vocabulary: Vocabulary, **options: object) -> Channel:
    """Return the channel of a name as the command line has it: keypad, typo, slots or confusion:FILE.

    ``options`` are arguments of the channel's class; None stands for its default.
    """
    kind, file = _split_name(name)
    chosen = {key: value for key, value in options.items() if value is not None}
    allowed = inspect.signature(_CHANNELS[kind]).parameters
    for key in chosen:
        if key not in allowed:
            raise ModelError(
                f"the channel {kind} has no option '{key}', expected {_alternatives(list(allowed)[1:])}"
            )
    if file is not None:
        chosen["file"] = file
    return _CHANNELS[kind](vocabulary, **chosen)  # type: ignore[arg-type]


def encoder_from_name(name: str, ambiguity: float | None = None) -> Encoder:
    """Return the encoder of a channel's name; unlike the channel it needs no vocabulary."""
    kind, file = _split_name(name)
    if ambiguity is not None and kind != "keypad":
        raise ModelError(f"the channel {kind} has no ambiguity; it is the keypad's")
    if kind == "keypad":
        return Encoder(KeypadNoise(AMBIGUITY if ambiguity is None else ambiguity))
    if kind == "typo":
        return Encoder(TypoRates().model())
    if file is not None:
        return Encoder(_read_confusions(file))
    raise ModelError(f"the channel {kind} cannot encode text, expected keypad, typo or confusion:FILE")


def _split_name(name: str) -> tuple[str, str | None]:
    """Return the kind and the file of a channel's name."""
    kind, colon, file = name.partition(":")
    if kind not in _CHANNELS:
        near = near_spellings(kind, _CHANNELS) or _CHANNELS
        raise UnknownSymbolError("channel", name, [n for n in CHANNEL_NAMES if n.partition(":")[0] in near])
    if kind == "confusion" and not file:
        raise ModelError(f"the channel is '{name}', expected the table's file too: confusion:FILE")
    if kind != "confusion" and colon:
        raise ModelError(f"the channel is '{name}', expected '{kind}': it takes no file")
    return kind, file or None


def _read_confusions(path: str | os.PathLike[str]) -> ConfusionModel:
    with ChunkReader(path) as reader:
        return read_confusion_model(reader, reader.name)


def _check_keep(keep: int | None) -> int | None:
    if keep is not None and keep < 1:
        raise ModelError(f"keep is {keep}, expected at least 1 candidate a position")
    return keep


def _alternatives(names: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _check_text(text: str, place: str = "") -> None:
    """Raise ModelError for a string that is no Unicode text: half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        found = error.object[error.start]
        raise ModelError(f"{place}column {error.start + 1}: found {found!r}, expected Unicode text") from None
