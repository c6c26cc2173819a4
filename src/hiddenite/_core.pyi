"""
The C++ core of hiddenite. Use the package's own names; these may change.
"""

from collections.abc import Callable, Sequence
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray


class NgramTable:
    """A back-off language model; immutable."""

    @property
    def order(self) -> int: ...

    @property
    def unknown_is_listed(self) -> bool: ...

    @property
    def ngram_counts(self) -> list[int]:
        """Number of n-grams per order."""

    @property
    def num_bytes(self) -> int: ...

    @property
    def num_words(self) -> int: ...

    def word(self, id: int) -> str: ...

    def find(self, word: str) -> int | None: ...

    def conditional(self, word: int, context: Sequence[int]) -> float:
        """ln p(word | context)"""

    def max_conditional(self, word: int, context: Sequence[int]) -> float:
        """Its maximum over all contexts that end in `context`."""

    def score_text(self, text: bytes, threads: int, name: str, first_line: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
        """Per line: log_prob, log_prob_known, tokens, oov."""

def read_arpa(read: Callable[[], bytes], name: str, unknown_log10: float | None) -> tuple[NgramTable, list[str], int]:
    """
    Table, warnings and number of implied n-grams from a callable that gives bytes.
    """

def write_arpa(table: NgramTable, write: Callable[[bytes], object], with_max_columns: bool) -> None: ...

class KneserNeyTrainer:
    """Interpolated modified Kneser-Ney estimation."""

    def __init__(self, order: int, prune: Sequence[int], unknown_below: int, vocabulary: Sequence[str] | None, memory_bytes: int, temporary_directory: str) -> None: ...

    def add(self, read: Callable[[], bytes], name: str) -> None:
        """Text from a callable that gives bytes, empty at the end."""

    def finish(self) -> tuple[NgramTable, list[tuple[float, float, float, bool]], int, int]:
        """
        Table, (D1, D2, D3+, closed form) per order, sentences, tokens. Call once.
        """

class Reading:
    """What a channel makes of one line; immutable."""

    @staticmethod
    def from_slots(table: NgramTable, slots: Sequence[Sequence[tuple[str, float]]], id: str, id_is_integer: bool) -> Reading: ...

    @property
    def id(self) -> str:
        """The record's own name; empty if it has none."""

    @property
    def id_is_integer(self) -> bool: ...

    @property
    def begin(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), writable=False)]: ...

    @property
    def words(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]: ...

    @property
    def log_weights(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]: ...

    @property
    def spellings(self) -> list[tuple[int, str]]:
        """(candidate, spelling) of those outside the vocabulary."""

class Encoder:
    """From what was meant to what a channel shows; immutable."""

    def encode_text(self, text: bytes, seed: int | None, name: str, first_line: int) -> bytes:
        """Each line's observation, with noise if there is a seed."""

class KeypadNoise(Encoder):
    """Key presses with slips."""

    def __init__(self, ambiguity: float) -> None: ...

    def log_prob(self, observed: int, intended: int) -> float:
        """ln p(observed | intended), one key."""

class TypoModel(Encoder):
    """A keyboard and its slips."""

    def __init__(self, error_rate: float, substitution: float, insertion: float, deletion: float, transposition: float, neighbour: float) -> None: ...

    def log_weight(self, intended: str, seen: str, distance: int) -> float:
        """ln p of the best script of at most `distance` events."""

class ConfusionModel(Encoder):
    """Characters and what they are taken for."""

    def log_weight(self, intended: str, seen: str) -> float:
        """ln p of the best alignment."""

def read_confusion_model(read: Callable[[], bytes], name: str) -> ConfusionModel:
    """A confusion table from a callable that gives bytes."""

def key_of(character: str) -> int:
    """The key that types the character."""

class Channel:
    """
    From one line of observation to the candidates of each position; immutable.
    """

    def read(self, line: str) -> Reading:
        """Throws ModelError."""

class KeypadChannel(Channel):
    def __init__(self, table: NgramTable, noise: KeypadNoise, keep: int | None) -> None: ...

class TypoChannel(Channel):
    def __init__(self, table: NgramTable, model: TypoModel, distance: int, unknown: bool, unknown_cost: float, keep: int | None) -> None: ...

class ConfusionChannel(Channel):
    def __init__(self, table: NgramTable, model: ConfusionModel, beam: float, unknown: bool, unknown_cost: float, keep: int | None) -> None: ...

class SlotsChannel(Channel):
    def __init__(self, table: NgramTable, keep: int | None) -> None: ...

class Method(enum.Enum):
    AUTO = 0

    REFINE = 1

    PAPER = 2

    FULL = 3

    DOMINANCE = 4

class TaskKind(enum.Enum):
    DECODE = 0

    KBEST = 1

    SAMPLE = 2

    MARGINALS = 3

    MBR = 4

class Task:
    """What to ask of each record."""

    def __init__(self, kind: TaskKind, method: Method, count: int, seed: int, seconds: float, refinements: int, states: int, ends: bool) -> None: ...

class Status(enum.Enum):
    DONE = 0

    BAD_RECORD = 1

    EMPTY_SUPPORT = 2

class CoreCertificate:
    @property
    def exact(self) -> bool: ...

    @property
    def upper(self) -> float: ...

    @property
    def lower(self) -> float: ...

    @property
    def method(self) -> Method: ...

    @property
    def refinements(self) -> int: ...

    @property
    def states(self) -> int: ...

class Answer:
    """What became of one record."""

    @property
    def status(self) -> Status: ...

    @property
    def error(self) -> str: ...

    @property
    def position(self) -> int: ...

    @property
    def id(self) -> str: ...

    @property
    def id_is_integer(self) -> bool: ...

    @property
    def paths(self) -> list[list[int]]: ...

    @property
    def words(self) -> list[list[str]]: ...

    @property
    def log_weights(self) -> list[float]: ...

    @property
    def counts(self) -> list[int]: ...

    @property
    def draws(self) -> list[int]: ...

    @property
    def marginals(self) -> list[list[float]]: ...

    @property
    def slot_words(self) -> list[list[str]]: ...

    @property
    def certificate(self) -> CoreCertificate: ...

    @property
    def log_partition(self) -> float: ...

    @property
    def log_partition_error(self) -> float: ...

    @property
    def expected_errors(self) -> float: ...

    @property
    def trials(self) -> int: ...

class Engine:
    """Exact inference under one language model; shared by threads."""

    def __init__(self, table: NgramTable) -> None: ...

    def answer_readings(self, readings: Sequence[Reading], task: Task, first_stream: int, threads: int) -> list[Answer]: ...

    def answer_lines(self, channel: Channel, text: bytes, task: Task, first_stream: int, threads: int) -> list[Answer]:
        """Each line of the text as the channel reads it."""
