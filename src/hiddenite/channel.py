"""Channels: what an observation says about the words that were meant.

A channel turns one line of observation into :class:`Candidates`: for each position the words that may stand
there, each with ln p(observed | word) or another log weight. Multiplied with a language model this is the
target of :mod:`hiddenite.inference`.

========================  ================================================  ======================
:class:`Keypad`           words typed on a phone's number keys              ``3637 843 66639``
:class:`Typo`             words typed on a keyboard, with slips             ``teh qiuck fox``
:class:`Confusion`        words read by a machine that confuses characters  ``tbe modem world``
:class:`WordMap`          words that stand for listed others               ``i want too go``
:class:`Classes`          words of a class-based model                      ``fly to new york``
:class:`Slots`            candidates and weights of your own                one JSON object a line
:class:`Candidates`       the same from Python data, or a word lattice      ``Candidates.from_slots``
========================  ================================================  ======================

All reading is in C++ (``cpp/hiddenite/channel.hpp`` says which header holds which model and its formulas);
``docs/channels.md`` explains the models.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hiddenite._core import Channel as CoreChannel
from hiddenite._core import (
    ClassChannel,
    ConfusionChannel,
    ConfusionModel,
    KeypadChannel,
    KeypadNoise,
    MapChannel,
    MapEncoder,
    MapNumbers,
    SlotsChannel,
    TypoChannel,
    TypoModel,
    WeightedChannel,
    read_confusion_model,
    read_word_map,
)
from hiddenite._core import Encoder as CoreEncoder
from hiddenite._core import WordMap as CoreWordMap
from hiddenite.candidates import Candidates, check_text
from hiddenite.errors import ModelError, UnknownSymbolError, near_spellings
from hiddenite.files.corpus import ChunkReader, tokenize
from hiddenite.vocabulary import Vocabulary

AMBIGUITY = 64.0  # the paper's k
BEAM = 12.0
DISTANCE = 2
UNKNOWN_COST = math.log(26)  # a character of a word that the vocabulary lacks: all letters alike


class Encoder:
    """From what was meant to what a channel shows, for trying things out."""

    def __init__(self, encoder: CoreEncoder) -> None:
        self._encoder = encoder

    def encode(self, text: str, seed: int | None = None) -> str:
        """Return the observation of a text: without noise, or with a seed drawn from the channel's noise."""
        line = " ".join(tokenize(text))
        check_text(line)
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

    def __repr__(self) -> str:
        return f"<{type(self).__name__} over {len(self.vocabulary):,} words>"

    def __call__(self, observation: str) -> Candidates:
        """Return the candidates of one line."""
        if isinstance(observation, list | tuple):
            raise ModelError(
                f"found {observation!r:.60}, expected one line of text; words are joined by blanks, and "
                "candidates of your own go to Candidates.from_slots(vocabulary, slots)"
            )
        check_text(observation)
        return Candidates(self.vocabulary, self.core.read(observation))

    def weighted(self, channel_weight: float = 1.0, word_penalty: float = 0.0) -> Channel:
        """Return the channel whose log weights are multiplied, and to which each word adds the penalty.

        The language model's side of the same is :func:`hiddenite.ngram_tools.weigh`.
        """
        return Channel(self.vocabulary, WeightedChannel(self.core, channel_weight, word_penalty))


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


MAP_NUMBERS = {"probabilities": MapNumbers.PROBABILITIES, "log10": MapNumbers.LOG10, "ln": MapNumbers.LN}


class WordMap(Channel, Encoder):
    """Words that stand for listed others, by a file in the format of SRILM's disambig.

    ``file`` has lines of ``observed word [number] word [number] ...``; the number is p(observed | word), 1
    where there is none, or with ``numbers`` log10 or ln its logarithm. An observed word without a line stands
    for itself, or for what a line of ``<unk>`` says. With a ``joiner`` such as ``_``, ``ice_cream`` stands
    for two words; observations that can mean several words become lattices. The ``keep`` best alternatives
    of a word stay.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        file: str | os.PathLike[str],
        *,
        numbers: str = "probabilities",
        joiner: str | None = None,
        keep: int | None = None,
    ) -> None:
        words = _read_map(file, numbers, joiner)
        Encoder.__init__(self, MapEncoder(words))
        Channel.__init__(self, vocabulary, MapChannel(vocabulary._table, words, _check_keep(keep)))


class Classes(Channel):
    """Words and classes that a text can be, for an n-gram model over both (SRILM's class files).

    ``file`` has lines of ``class [p] word word ...``, one expansion each, p being 1 where there is none. The
    best path is the best sequence of words and classes; the sum over all, ``marginals().log_partition``, is
    ln p(text) under the class model. Texts with expansions of several words become lattices.
    """

    def __init__(self, vocabulary: Vocabulary, file: str | os.PathLike[str]) -> None:
        with ChunkReader(file) as reader:
            super().__init__(vocabulary, ClassChannel(vocabulary._table, reader, reader.name))


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
    "map": WordMap,
    "classes": Classes,
}
CHANNEL_NAMES = ("keypad", "typo", "slots", "confusion:FILE", "map:FILE", "classes:FILE")
WITH_FILE = ("confusion", "map", "classes")


def channel_from_name(name: str, vocabulary: Vocabulary, **options: object) -> Channel:
    """Return the channel of a name as the command line has it: keypad, typo, slots, confusion:FILE and so on.

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


def encoder_from_name(
    name: str, ambiguity: float | None = None, numbers: str = "probabilities", joiner: str | None = None
) -> Encoder:
    """Return the encoder of a channel's name; unlike the channel it needs no vocabulary.

    ``numbers`` and ``joiner`` are the map's, see :class:`WordMap`.
    """
    kind, file = _split_name(name)
    if ambiguity is not None and kind != "keypad":
        raise ModelError(f"the channel {kind} has no ambiguity; it is the keypad's")
    if kind == "keypad":
        return Encoder(KeypadNoise(AMBIGUITY if ambiguity is None else ambiguity))
    if kind == "typo":
        return Encoder(TypoRates().model())
    if kind == "map" and file is not None:
        return Encoder(MapEncoder(_read_map(file, numbers, joiner)))
    if kind == "confusion" and file is not None:
        return Encoder(_read_confusions(file))
    raise ModelError(
        f"the channel {kind} cannot encode text, expected keypad, typo, confusion:FILE or map:FILE"
    )


def _split_name(name: str) -> tuple[str, str | None]:
    """Return the kind and the file of a channel's name."""
    kind, colon, file = name.partition(":")
    if kind not in _CHANNELS:
        near = near_spellings(kind, _CHANNELS) or _CHANNELS
        raise UnknownSymbolError("channel", name, [n for n in CHANNEL_NAMES if n.partition(":")[0] in near])
    if kind in WITH_FILE and not file:
        raise ModelError(f"the channel is '{name}', expected the table's file too: {kind}:FILE")
    if kind not in WITH_FILE and colon:
        raise ModelError(f"the channel is '{name}', expected '{kind}': it takes no file")
    return kind, file or None


def _read_confusions(path: str | os.PathLike[str]) -> ConfusionModel:
    with ChunkReader(path) as reader:
        return read_confusion_model(reader, reader.name)


def _read_map(path: str | os.PathLike[str], numbers: str, joiner: str | None) -> CoreWordMap:
    if numbers not in MAP_NUMBERS:
        raise UnknownSymbolError("kind of numbers", numbers, near_spellings(numbers, MAP_NUMBERS))
    if joiner is not None and tokenize(joiner) != [joiner]:
        raise ModelError(f"the joiner is {joiner!r}, expected characters without white space")
    with ChunkReader(path) as reader:
        return read_word_map(reader, reader.name, MAP_NUMBERS[numbers], joiner or "")


def _check_keep(keep: int | None) -> int | None:
    if keep is not None and keep < 1:
        raise ModelError(f"keep is {keep}, expected at least 1 candidate a position")
    return keep


def _alternatives(names: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
