"""
The C++ core of hiddenite. Use the package's own names; these may change.
"""

from collections.abc import Callable, Mapping, Sequence
import enum
import mmap
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def cancel_calls() -> None:
    """End all work that is under way: KeyboardInterrupt there."""

class Container:
    """An open container of bytes, which must not change."""

    def __init__(self, file: mmap.mmap, kind: str, name: str, noun: str, advice: str) -> None: ...

    def verify(self) -> None:
        """Compare all checksums."""

    def member(self, name: str) -> bytes: ...

def write_container(kind: str, members: Sequence[tuple[str, bytes]], write: Callable[[bytes], object]) -> None:
    """Write named bytes; names have eight characters at most."""

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
    def is_compiled(self) -> bool: ...

    def verify(self) -> None:
        """Compare the checksums of a compiled table."""

    @property
    def num_words(self) -> int: ...

    def word(self, id: int) -> str: ...

    def find(self, word: str) -> int | None: ...

    def conditional(self, word: int, context: Sequence[int]) -> float:
        """ln p(word | context)"""

    def max_conditional(self, word: int, context: Sequence[int]) -> float:
        """Its maximum over all contexts that end in `context`."""

    def score_text(self, text: bytes, threads: int, name: str, first_line: int, plain: bool = False) -> tuple[Annotated[memoryview, dict(dtype='float64', shape=(None,))], Annotated[memoryview, dict(dtype='float64', shape=(None,))], Annotated[memoryview, dict(dtype='uint32', shape=(None,))], Annotated[memoryview, dict(dtype='uint32', shape=(None,))]]:
        """Per line: log_prob, log_prob_known, tokens, oov."""

    def token_log_probs(self, text: bytes, name: str, first_line: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """ln p of each word and </s>, line after line."""

def read_arpa(read: Callable[[], bytes], name: str, unknown_log10: float | None) -> tuple[NgramTable, list[str], int]:
    """
    Table, warnings and number of implied n-grams from a callable that gives bytes.
    """

def write_arpa(table: NgramTable, write: Callable[[bytes], object], with_max_columns: bool) -> None: ...

def open_compiled(file: mmap.mmap, name: str) -> NgramTable:
    """The table in the bytes of a compiled model, which must not change."""

def write_compiled(table: NgramTable, write: Callable[[bytes], object], with_index: bool) -> None: ...

LEAST_LOG10: float = -1e+38

COMPILED_MAGIC: bytes = ...

class KneserNeyTrainer:
    """Interpolated modified Kneser-Ney estimation."""

    def __init__(self, order: int, prune: Sequence[int], unknown_below: int, vocabulary: Sequence[str] | None, memory_bytes: int, temporary_directory: str) -> None: ...

    def add(self, read: Callable[[], bytes], name: str) -> None:
        """Text from a callable that gives bytes, empty at the end."""

    def finish(self, runs: Sequence[str] | None = None) -> tuple[NgramTable, list[tuple[float, float, float, bool]], int, int]:
        """
        Table, (D1, D2, D3+, closed form) per order, sentences, tokens. Call once. `runs` are files of shards.
        """

    def word_counts(self) -> tuple[list[str], Annotated[NDArray[numpy.uint64], dict(shape=(None,))], int, int]:
        """Words by appearance, their occurrences, sentences, tokens."""

    def add_words(self, words: Sequence[str], occurrences: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], sentences: int, tokens: int) -> None: ...

    def fix_vocabulary(self) -> list[str]:
        """The final words, without the special ones."""

def count_windows(read: Callable[[], bytes], name: str, words: Sequence[str], order: int) -> bytes:
    """The sorted run of a shard's windows over the final words."""

class Reading:
    """What a channel makes of one line; immutable."""

    @staticmethod
    def from_slots(table: NgramTable, slots: Sequence[Sequence[tuple[str, float]]], id: str, id_is_integer: bool) -> Reading: ...

    @staticmethod
    def from_lattice(table: NgramTable, edges: Sequence[tuple[int, int, str, float]], id: str, id_is_integer: bool) -> Reading: ...

    @property
    def spans(self) -> list[tuple[int, int]]:
        """
        The nodes that each slot of a lattice leads from and to; none: the slots stand in a row.
        """

    @property
    def id(self) -> str:
        """The record's own name; empty if it has none."""

    @property
    def id_is_integer(self) -> bool: ...

    @property
    def num_positions(self) -> int: ...

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

SAMPLER_BATCH: int = 16

class Strategy(enum.Enum):
    """Which contexts of a rejected path become finer."""

    ALL_BY_ONE = 0
    """Each position's by one word."""

    FULL_CONTEXT = 1
    """Each position's to the exact state."""

    CULPRIT = 2
    """That of the position where q / p is largest, by one word."""

class Trial:
    """A path and what it is worth."""

    @property
    def path(self) -> list[int]:
        """Places in the slots' distinct words."""

    @property
    def log_q(self) -> float: ...

    @property
    def log_p(self) -> float: ...

    @property
    def log_ratio(self) -> float:
        """ln p / q; 0 if and only if all terms are equal."""

    @property
    def is_tight(self) -> bool: ...

class DecodeStep:
    """One turn of the search."""

    @property
    def trial(self) -> Trial: ...

    @property
    def upper(self) -> float: ...

    @property
    def lower(self) -> float: ...

    @property
    def done(self) -> bool: ...

    @property
    def refinements(self) -> int: ...

    @property
    def states(self) -> int: ...

class SampleStep:
    """A batch of draws from one bound."""

    @property
    def trials(self) -> list[Trial]: ...

    @property
    def accepted(self) -> list[bool]: ...

    @property
    def log_total(self) -> float: ...

    @property
    def is_fixed(self) -> bool: ...

    @property
    def states(self) -> int: ...

class PartitionEstimate:
    """What is known of ln Z."""

    @property
    def upper(self) -> float: ...

    @property
    def value(self) -> float | None:
        """None where draws that were not seen could decide."""

    @property
    def error(self) -> float:
        """The standard error of the value."""

class Sampled:
    """Accepted draws."""

    @property
    def paths(self) -> list[list[int]]:
        """Places in the slots as given."""

    @property
    def complete(self) -> bool: ...

    @property
    def trials(self) -> int: ...

    @property
    def refinements(self) -> int: ...

    @property
    def states(self) -> int: ...

    @property
    def log_partition(self) -> PartitionEstimate: ...

class Relaxation:
    """The bound q >= p and its operator, without the loop."""

    def __init__(self, table: NgramTable, begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: bool = True, total: bool = False, strategy: Strategy = Strategy.ALL_BY_ONE, paper: bool = False, seed: int = 0, widest_row: int = 64) -> None: ...

    def best(self) -> Trial: ...

    def draw(self) -> Trial: ...

    def score(self, path: Sequence[int]) -> Trial: ...

    def tighten(self, path: Sequence[int]) -> None: ...

    @property
    def log_total(self) -> float: ...

    @property
    def is_exact(self) -> bool: ...

    @property
    def num_states(self) -> int: ...

    @property
    def num_edges(self) -> int: ...

    @property
    def num_ngrams(self) -> list[int]:
        """Per order, the n-grams whose own weight q has; `paper` only."""

    def states(self, position: int) -> list[tuple[list[int], bool]]:
        """
        What the states before a position know: words, and whether nothing else matters.
        """

class Decoder:
    """Decoding by refinement, step by step."""

    def __init__(self, table: NgramTable, begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: bool = True, strategy: Strategy = Strategy.ALL_BY_ONE, paper: bool = False) -> None: ...

    def step(self) -> DecodeStep: ...

    def run(self, seconds: float = float('inf'), refinements: int = 18446744073709551615, states: int = 18446744073709551615) -> tuple[list[int], float, bool, float, float, int, int]:
        """path, log weight, exact, upper, lower, refinements, states"""

    @property
    def best_path(self) -> list[int]: ...

    def states(self, position: int) -> list[tuple[list[int], bool]]:
        """
        What the states before a position know: words, and whether nothing else matters.
        """

def kbest_refine(table: NgramTable, begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: bool, k: int, strategy: Strategy = Strategy.ALL_BY_ONE, seconds: float = float('inf'), refinements: int = 18446744073709551615, states: int = 18446744073709551615) -> tuple[list[list[int]], list[float], bool, float, float, int, int]:
    """paths, log weights, exact, upper, lower, refinements, states"""

class Sampler:
    """Sampling by refinement, batch by batch."""

    def __init__(self, table: NgramTable, begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: bool = True, seed: int = 0, batch: int = 16, target_rate: float = 0.5, rate_window: int = 100, strategy: Strategy = Strategy.ALL_BY_ONE, paper: bool = False) -> None: ...

    def step(self) -> SampleStep: ...

    def run(self, count: int, seconds: float = float('inf'), refinements: int = 18446744073709551615, states: int = 18446744073709551615) -> Sampled: ...

class Method(enum.Enum):
    AUTO = 0

    REFINE = 1

    PAPER = 2

    FULL = 3

    DOMINANCE = 4

    SPARSE = 5

class TaskKind(enum.Enum):
    DECODE = 0

    KBEST = 1

    SAMPLE = 2

    MARGINALS = 3

    MBR = 4

class Task:
    """What to ask of each record."""

    def __init__(self, kind: TaskKind, method: Method, count: int, seed: int, seconds: float, refinements: int, states: int, ends: bool, strategy: Strategy, batch: int, target_rate: float, rate_window: int) -> None: ...

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
    def routes(self) -> list[list[int]]:
        """The slots of each path, in a lattice."""

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
    def spans(self) -> list[tuple[int, int]]:
        """The nodes that each slot of a lattice leads from and to."""

    @property
    def certificate(self) -> CoreCertificate | None:
        """Of the best path or the k best; None of other questions."""

    @property
    def method(self) -> Method: ...

    @property
    def refinements(self) -> int: ...

    @property
    def states(self) -> int: ...

    @property
    def complete(self) -> bool:
        """As many samples as were asked for."""

    @property
    def log_partition(self) -> PartitionEstimate: ...

    @property
    def expected_errors(self) -> float: ...

    @property
    def trials(self) -> int: ...

class Engine:
    """Exact inference under one language model; shared by threads."""

    def __init__(self, table: NgramTable) -> None: ...

    @property
    def table(self) -> NgramTable: ...

    def answer_readings(self, readings: Sequence[Reading], task: Task, first_stream: int, threads: int) -> list[Answer]: ...

    def answer_lines(self, channel: Channel, text: bytes, task: Task, first_stream: int, threads: int) -> list[Answer]:
        """Each line of the text as the channel reads it."""

class FertilityHmm:
    """One sentence pair in one direction: natural-log weights."""

    def __init__(self, emission: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], jump: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], end: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], fertility: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def num_sources(self) -> int: ...

    @property
    def num_targets(self) -> int: ...

    @property
    def max_fertility(self) -> int: ...

    def weights(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        Emission, jump, end and fertility, row by row; the inverse of the constructor.
        """

    def log_weight(self, links: Sequence[int]) -> float: ...

    def align(self, task: AlignTask, stream: int = 0) -> DirectionAnswer: ...

class AlignMethod(enum.Enum):
    EXACT = 0

    PAPER = 1

    VITERBI = 2

class PaperStep(enum.Enum):
    CONSTANT = 0

    HARMONIC = 1

    ROOT = 2

class PaperOptions:
    def __init__(self) -> None: ...

    @property
    def iterations(self) -> int: ...

    @iterations.setter
    def iterations(self, arg: int, /) -> None: ...

    @property
    def step(self) -> PaperStep: ...

    @step.setter
    def step(self, arg: PaperStep, /) -> None: ...

    @property
    def scale(self) -> float: ...

    @scale.setter
    def scale(self, arg: float, /) -> None: ...

    @property
    def exactly_all(self) -> bool: ...

    @exactly_all.setter
    def exactly_all(self, arg: bool, /) -> None: ...

class AlignTask:
    """What to ask of each sentence pair."""

    def __init__(self) -> None: ...

    @property
    def method(self) -> AlignMethod: ...

    @method.setter
    def method(self, arg: AlignMethod, /) -> None: ...

    @property
    def directions(self) -> list[bool]: ...

    @directions.setter
    def directions(self, arg: Sequence[bool], /) -> None: ...

    @property
    def paper(self) -> PaperOptions: ...

    @paper.setter
    def paper(self, arg: PaperOptions, /) -> None: ...

    @property
    def num_best(self) -> int: ...

    @num_best.setter
    def num_best(self, arg: int, /) -> None: ...

    @property
    def num_samples(self) -> int: ...

    @num_samples.setter
    def num_samples(self, arg: int, /) -> None: ...

    @property
    def chain_probabilities(self) -> bool: ...

    @chain_probabilities.setter
    def chain_probabilities(self, arg: bool, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def seconds(self) -> float: ...

    @seconds.setter
    def seconds(self, arg: float, /) -> None: ...

    @property
    def labels(self) -> int: ...

    @labels.setter
    def labels(self, arg: int, /) -> None: ...

class DirectionAnswer:
    @property
    def links(self) -> list[list[int]]: ...

    @property
    def log_weights(self) -> list[float]: ...

    @property
    def exact(self) -> bool: ...

    @property
    def upper(self) -> float: ...

    @property
    def iterations(self) -> int: ...

    @property
    def labels(self) -> int: ...

    @property
    def trials(self) -> int: ...

    @property
    def samples(self) -> list[list[int]]: ...

    @property
    def probabilities(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...

class AlignAnswer:
    """What became of one sentence pair."""

    @property
    def error(self) -> str: ...

    @property
    def source_length(self) -> int: ...

    @property
    def target_length(self) -> int: ...

    def direction(self, d: int) -> DirectionAnswer: ...

class GibbsOptions:
    def __init__(self) -> None: ...

    @property
    def model1_sweeps(self) -> int: ...

    @model1_sweeps.setter
    def model1_sweeps(self, arg: int, /) -> None: ...

    @property
    def hmm_sweeps(self) -> int: ...

    @hmm_sweeps.setter
    def hmm_sweeps(self, arg: int, /) -> None: ...

    @property
    def fertility_sweeps(self) -> int: ...

    @fertility_sweeps.setter
    def fertility_sweeps(self, arg: int, /) -> None: ...

    @property
    def coupling(self) -> float: ...

    @coupling.setter
    def coupling(self, arg: float, /) -> None: ...

    @property
    def lexicon_prior(self) -> float: ...

    @lexicon_prior.setter
    def lexicon_prior(self, arg: float, /) -> None: ...

    @property
    def stem_weight(self) -> float: ...

    @stem_weight.setter
    def stem_weight(self, arg: float, /) -> None: ...

    @property
    def stem_prior(self) -> float: ...

    @stem_prior.setter
    def stem_prior(self, arg: float, /) -> None: ...

    @property
    def null_probability(self) -> float: ...

    @null_probability.setter
    def null_probability(self, arg: float, /) -> None: ...

    @property
    def null_prior(self) -> float: ...

    @null_prior.setter
    def null_prior(self, arg: float, /) -> None: ...

    @property
    def fertility_weight(self) -> float: ...

    @fertility_weight.setter
    def fertility_weight(self, arg: float, /) -> None: ...

    @property
    def max_fertility(self) -> int: ...

    @max_fertility.setter
    def max_fertility(self, arg: int, /) -> None: ...

    @property
    def max_jump(self) -> int: ...

    @max_jump.setter
    def max_jump(self, arg: int, /) -> None: ...

    @property
    def uniform_jump(self) -> float: ...

    @uniform_jump.setter
    def uniform_jump(self, arg: float, /) -> None: ...

    @property
    def diagonal(self) -> float: ...

    @diagonal.setter
    def diagonal(self, arg: float, /) -> None: ...

class GibbsDirection:
    """One direction of a chain, as a checkpoint keeps it."""

    def __init__(self, links: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], cell_sums: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], jump_sums: Sequence[Sequence[float]], fertility_sums: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def links(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    @property
    def cell_sums(self) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,))]: ...

    @property
    def jump_sums(self) -> list[list[float]]: ...

    @property
    def fertility_sums(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...

class AlignmentTrainer:
    """Gibbs chains over a parallel text."""

    def __init__(self, source: bytes, target: bytes, source_name: str, target_name: str, options: GibbsOptions, string_prior: bool, seed: int, chains: int, earlier: AlignmentModel | None = None) -> None: ...

    def sweep(self, threads: int) -> float: ...

    def sweep_shard(self, chain: int, begin: int, end: int, shard: int) -> float: ...

    @property
    def cells_before(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
        """Of each sentence, and all: cells of the link matrices before it."""

    @property
    def tokens_before(self) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))]]:
        """Of each sentence, and all: source and target words before it."""

    @property
    def num_sweeps_done(self) -> int: ...

    @property
    def num_sentences(self) -> int: ...

    @property
    def num_chains(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    def lengths(self, sentence: int) -> tuple[int, int]: ...

    def probabilities(self, sentence: int, d: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...

    def direction(self, chain: int, d: int) -> GibbsDirection: ...

    def restore(self, chain: int, sweeps_done: int, forward: GibbsDirection, reverse: GibbsDirection) -> None: ...

    def tables(self) -> AlignmentTables: ...

class AlignmentEm:
    """Model 1 and the HMM over a parallel text."""

    def __init__(self, source: bytes, target: bytes, source_name: str, target_name: str, options: GibbsOptions) -> None: ...

    def iterate(self, hmm: bool, threads: int) -> float: ...

    def expect(self, hmm: bool, begin: int, end: int, threads: int) -> float: ...

    def maximise(self, hmm: bool) -> None: ...

    def counts(self, d: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

    def set_counts(self, d: int, counts: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def num_sentences(self) -> int: ...

    def tables(self) -> AlignmentTables: ...

class AlignmentTables:
    """The arrays of an alignment model."""

    def __init__(self) -> None: ...

    @property
    def words(self) -> list[list[str]]: ...

    @words.setter
    def words(self, arg: Sequence[Sequence[str]], /) -> None: ...

    @property
    def word_count(self) -> list[list[int]]: ...

    @word_count.setter
    def word_count(self, arg: Sequence[Sequence[int]], /) -> None: ...

    @property
    def partners(self) -> list[list[int]]: ...

    @partners.setter
    def partners(self, arg: Sequence[Sequence[int]], /) -> None: ...

    @property
    def likeness(self) -> list[list[float]]: ...

    @likeness.setter
    def likeness(self, arg: Sequence[Sequence[float]], /) -> None: ...

    @property
    def pair_source(self) -> list[int]: ...

    @pair_source.setter
    def pair_source(self, arg: Sequence[int], /) -> None: ...

    @property
    def pair_target(self) -> list[int]: ...

    @pair_target.setter
    def pair_target(self, arg: Sequence[int], /) -> None: ...

    @property
    def pair_count(self) -> list[list[float]]: ...

    @pair_count.setter
    def pair_count(self, arg: Sequence[Sequence[float]], /) -> None: ...

    @property
    def null_count(self) -> list[list[float]]: ...

    @null_count.setter
    def null_count(self, arg: Sequence[Sequence[float]], /) -> None: ...

    @property
    def fertility(self) -> list[list[float]]: ...

    @fertility.setter
    def fertility(self, arg: Sequence[Sequence[float]], /) -> None: ...

    @property
    def jumps(self) -> list[list[list[float]]]: ...

    @jumps.setter
    def jumps(self, arg: Sequence[Sequence[Sequence[float]]], /) -> None: ...

class AlignmentModel:
    """A trained alignment model, immutable."""

    def __init__(self, tables: AlignmentTables, options: GibbsOptions, string_prior: bool) -> None: ...

    @property
    def tables(self) -> AlignmentTables: ...

    @property
    def options(self) -> GibbsOptions: ...

    @property
    def string_prior(self) -> bool: ...

    @property
    def has_fertilities(self) -> bool: ...

    def hmm(self, d: int, source: Sequence[str], target: Sequence[str]) -> FertilityHmm: ...

    def align_lines(self, source: bytes, target: bytes, task: AlignTask, first_record: int, threads: int) -> list[AlignAnswer]: ...

class Symmetrization(enum.Enum):
    INTERSECTION = 0

    UNION = 1

    GROW_DIAG = 2

    GROW_DIAG_FINAL = 3

    GROW_DIAG_FINAL_AND = 4

def symmetrize(forward: Sequence[tuple[int, int]], reverse: Sequence[tuple[int, int]], method: Symmetrization) -> list[tuple[int, int]]: ...

def spelling_likeness(a: str, b: str) -> float: ...

class Guesser:
    """Which tag a word that was never seen may have; immutable."""

    @property
    def num_tags(self) -> int: ...

    def guess(self, word: str, is_first: bool) -> list[float]:
        """ln p(tag | word), for every tag."""

class SuffixGuesser(Guesser):
    def __init__(self, num_tags: int, suffixes: Sequence[str], log_probs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prior: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_length: int, shapes: bool) -> None: ...

    @staticmethod
    def class_of(word: str, is_first: bool, shapes: bool) -> str: ...

class LogLinearGuesser(Guesser):
    def __init__(self, num_tags: int, features: Sequence[str], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @staticmethod
    def train(num_tags: int, examples: Sequence[tuple[str, bool, Sequence[tuple[int, float]]]], epochs: int, rate: float, penalty: float, min_count: int, seed: int) -> LogLinearGuesser:
        """Examples are words, whether first in their sentence, (tag, count)."""

    @property
    def features(self) -> list[str]: ...

    @property
    def weights(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...

class SpellingGuesser(Guesser):
    """ln p(word | tag) by each tag's character bigrams."""

    def __init__(self, characters: Sequence[str], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], back_off: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], before: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], after: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], excess: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class TagChannel(Channel):
    """From words to the tags that each may have."""

    @overload
    def __init__(self, table: NgramTable, words: Sequence[str], begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tags: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], symbols: Sequence[tuple[int, str, int, float]], guesser: Guesser, guess_weight: float, floor: float, seen_tags_only: bool) -> None: ...

    @overload
    def __init__(self, table: NgramTable, words: Sequence[str], begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tags: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_probs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], symbols: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], guesser: Guesser) -> None: ...

    def knows(self, word: str) -> bool: ...

    def known_words(self, text: bytes) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """For each word of a text: 1 if it was seen in training."""

def lower_case(text: str) -> str: ...

def tag_words(engine: Engine, channel: TagChannel, sentences: list[Sequence[str]], names: list[str], threads: int) -> list[tuple[tuple[str, ...], float, tuple[bool, float, float, str, int, int], str | None, int | None]]:
    """The best tags of each sentence; `names` has the tag of each symbol."""

class InductionOptions:
    def __init__(self, tags: int, *, order: int = 3, one_tag: bool = False, lexicon: str = 'none', spelling: str = 'none', sampler: str = 'local', particles: int = 10, chunk: int = 64, singleton_tags: int = 8, local_every: int = 1, sample_hyperparameters: bool = True, geometric: float = 0.9, strength_shape: float = 1.0, strength_scale: float = 10.0) -> None: ...

    def plant_fault(self, name: str) -> None:
        """A deliberate error; only in builds for tests."""

class SweepRecord:
    @property
    def log_joint(self) -> float: ...

    @property
    def moved(self) -> float: ...

    @property
    def accepted(self) -> float: ...

    @property
    def effective_size(self) -> float: ...

class InductionChain:
    """One Markov chain of part-of-speech induction."""

    def __init__(self, options: InductionOptions, *, words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], spelling_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], spelling: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], num_characters: int, tags: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, stream: int = 0) -> None: ...

    def sweep(self) -> SweepRecord: ...

    def keep(self) -> None:
        """Adds the present tags to the counts of `max_marginal`."""

    def tags(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    def max_marginal(self) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))]]:
        """
        Each token's most frequent tag among the kept samples, and its share of them.
        """

    def classes(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """(begin, tag): word i may have tag[begin[i]:begin[i + 1]]."""

    def hyperparameters(self) -> dict[str, tuple[float, float]]:
        """(discount, strength) by process."""

    def set_hyperparameters(self, values: Mapping[str, tuple[float, float]]) -> None: ...

    def log_joint(self) -> float: ...

    def transition_counts(self, level: int) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """(customers, tables) by n-gram code, most distant tag first."""

    def emission_counts(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """(begin, tag, customers, tables) by word."""

    def spelling_counts(self, level: int) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """(tag, previous, next, customers, tables)."""

    def effective_sizes(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Mean effective sample size of the particles and number of blocks; entry i: types of 2^(i-1) to 2^i - 1 tokens.
        """

    def state(self) -> dict[str, object]: ...

    def restore(self, state: dict[str, object]) -> None: ...

    def check(self) -> None:
        """Raises where a count is broken."""

class WordTable:
    """Words and their ids; <unk>, <s> and </s> are 0, 1 and 2."""

    def __init__(self) -> None: ...

    def add(self, word: str) -> int:
        """The id of the word, which is added if it is new."""

    def words(self) -> list[str]: ...

    def __len__(self) -> int: ...

class TokenText:
    """Sentences of word ids."""

    @property
    def num_sentences(self) -> int: ...

    @property
    def tokens(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    @property
    def begin(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

    @property
    def unknown(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    def counts(self, num_words: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
        """Occurrences of each word, one </s> a sentence among them."""

def read_tokens(text: bytes, name: str, first_line: int, words: WordTable, grow: bool) -> TokenText:
    """
    Lines as word ids; new words are added to the table if it may grow, and are <unk> if not.
    """

class ExchangeClustering:
    """Word classes by exchange."""

    def __init__(self, text: TokenText, num_words: int, num_classes: int, start: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def exchange(self, threads: int) -> int:
        """One pass over the words; how many changed their class."""

    @property
    def average_mutual_information(self) -> float: ...

    @property
    def num_classes(self) -> int: ...

    @property
    def classes(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    @property
    def counts(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

    def paths(self) -> list[str]:
        """The bit string of each class."""

class HmmShape:
    """Groups of states and the words' sets."""

    def __init__(self, group_begin: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], word_group: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], set_begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], has_end: bool) -> None: ...

    @property
    def num_states(self) -> int: ...

    @property
    def num_words(self) -> int: ...

    @property
    def has_end(self) -> bool: ...

    @property
    def group_begin(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    @property
    def word_group(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    @property
    def set_begin(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

    @property
    def members(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

class SparseHmm(HmmShape):
    """A hidden Markov model with sparse emissions; immutable."""

    def __init__(self, shape: HmmShape, initial: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], transition: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], emission: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def initial(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def transition(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...

    @property
    def emission(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def token_log_probs(self, text: TokenText, threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """ln p of each word and </s> given the words before it."""

class Smoothing:
    """Pseudo-counts; see counts.hpp."""

    def __init__(self) -> None: ...

    @property
    def cluster(self) -> float: ...

    @cluster.setter
    def cluster(self, arg: float, /) -> None: ...

    @property
    def state(self) -> float: ...

    @state.setter
    def state(self, arg: float, /) -> None: ...

    @property
    def group(self) -> float: ...

    @group.setter
    def group(self, arg: float, /) -> None: ...

    @property
    def emission(self) -> float: ...

    @emission.setter
    def emission(self, arg: float, /) -> None: ...

class EmOptions:
    def __init__(self) -> None: ...

    @property
    def folds(self) -> int: ...

    @folds.setter
    def folds(self, arg: int, /) -> None: ...

    @property
    def cross_validated(self) -> bool: ...

    @cross_validated.setter
    def cross_validated(self, arg: bool, /) -> None: ...

    @property
    def noise(self) -> float: ...

    @noise.setter
    def noise(self, arg: float, /) -> None: ...

    @property
    def smoothing(self) -> Smoothing: ...

    @smoothing.setter
    def smoothing(self, arg: Smoothing, /) -> None: ...

class HmmEm:
    """Training of a chain by incremental expectation-maximisation."""

    def __init__(self, text: TokenText, shape: HmmShape, options: EmOptions, seed: int) -> None: ...

    def iterate(self, threads: int) -> float: ...

    def iterate_under(self, chain: SparseHmm, threads: int) -> float: ...

    def chain(self, smoothing: Smoothing, threads: int) -> SparseHmm: ...

    @property
    def iterations_done(self) -> int: ...

    @property
    def num_tokens(self) -> int: ...

    @property
    def num_folds(self) -> int: ...

    def fold(self, f: int) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))]]:
        """The counts of a fold: pairs, first, emissions."""

    def restore(self, done: int, pairs: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], first: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], emissions: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]]) -> None: ...

class BilinearOptions:
    def __init__(self) -> None: ...

    @property
    def rate(self) -> float: ...

    @rate.setter
    def rate(self, arg: float, /) -> None: ...

    @property
    def dropout(self) -> float: ...

    @dropout.setter
    def dropout(self, arg: float, /) -> None: ...

class LogBilinear:
    """Log-bilinear transitions fitted to a training's counts."""

    def __init__(self, em: HmmEm, options: BilinearOptions, seed: int) -> None: ...

    def fit(self, em: HmmEm, passes: int, threads: int) -> float: ...

    def chain(self, em: HmmEm, smoothing: Smoothing, weight: float, threads: int) -> SparseHmm: ...

def filter_states(chain: SparseHmm, words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], complete: bool) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
    """Begin of each position, states, p(state | words so far), ln p."""

def posterior_states(chain: SparseHmm, words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], complete: bool) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
    """Begin of each position, states, p(state | all words), ln p."""

def best_states(chain: SparseHmm, words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], complete: bool) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], float]: ...

def next_words(chain: SparseHmm, words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """p(word | words) of each word."""

def state_visits(chain: SparseHmm, text: TokenText, threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

class Automaton:
    """A deterministic finite automaton over word ids."""

    def __init__(self, start: int, accepts: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class Walk:
    """Words and the states behind them."""

    @property
    def words(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    @property
    def states(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

class HmmProduct:
    """Sentences of a chain that an automaton accepts."""

    def __init__(self, chain: SparseHmm, automaton: Automaton, fixed: Sequence[int], shortest: int, longest: int, best: bool, threads: int) -> None: ...

    @property
    def log_prob(self) -> float: ...

    def draw(self, seed: int, stream: int) -> Walk: ...

    def best_walk(self) -> Walk: ...

    def word_probabilities(self, positions: Sequence[int]) -> list[Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """p(word at a position | constraint), for each position."""
