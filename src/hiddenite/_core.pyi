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

class Deadline:
    """
    Calls that a thread makes in a `with` of it end with TimeoutError when it is over.
    """

    def __init__(self, seconds: float) -> None: ...

    def cancel(self) -> None:
        """It is over now. From any thread."""

    @property
    def is_over(self) -> bool: ...

    def check(self) -> None:
        """Raise TimeoutError if it is over."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object | None, error: object | None, trace: object | None) -> None: ...

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

def open_compiled_member(container: Container, member: str, name: str) -> NgramTable:
    """The table of a compiled model that is a member of a container."""

def write_compiled(table: NgramTable, write: Callable[[bytes], object], with_index: bool) -> None: ...

LEAST_LOG10: float = -1e+38

COMPILED_MAGIC: bytes = ...

class State:
    """What a model remembers of the words so far; a new one is empty."""

    def __init__(self) -> None: ...

    def assign(self, other: State) -> None:
        """Become another state."""

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __copy__(self) -> State: ...

    def __deepcopy__(self, memo: object) -> State: ...

class Scorer:
    """A table that scores one sentence or one word a call."""

    def __init__(self, table: NgramTable) -> None: ...

    def begin_state(self) -> State:
        """The state after <s>."""

    def score(self, sentence: str | bytes, bos: bool, eos: bool, log10: bool, /) -> float:
        """ln p of a sentence, or log10: sentence, bos, eos, log10."""

    def full_scores(self, sentence: str | bytes, bos: bool, eos: bool, log10: bool, /) -> list[tuple[float, int, bool]]:
        """
        (ln p, length of the n-gram, unknown) per word: sentence, bos, eos, log10.
        """

    @overload
    def base_score(self, state: State, word: str | bytes, out: State, /) -> float:
        """ln p(word | state); the third argument becomes the state after it."""

    @overload
    def base_score(self, state: State, word: str | bytes, /) -> tuple[float, State]:
        """(ln p(word | state), the state after it)"""

    @overload
    def base_log10_score(self, state: State, word: str | bytes, out: State, /) -> float: ...

    @overload
    def base_log10_score(self, state: State, word: str | bytes, /) -> tuple[float, State]:
        """The same in log10."""

class NgramSmoothing(enum.Enum):
    """How counts become probabilities."""

    KNESER_NEY = 0

    ABSOLUTE = 1

    WITTEN_BELL = 2

    GOOD_TURING = 3

    ADD_K = 4

class KneserNeyTrainer:
    """Estimation, modified Kneser-Ney if nothing else is said."""

    def __init__(self, order: int, prune: Sequence[int], unknown_below: int, vocabulary: Sequence[str] | None, memory_bytes: int, temporary_directory: str, smoothing: NgramSmoothing = NgramSmoothing.KNESER_NEY, added: float = 1.0) -> None: ...

    def add_counts(self, read: Callable[[], bytes], name: str) -> None:
        """Counts of n-grams, a file, instead of text."""

    def finish_counts(self, write: Callable[[bytes], object]) -> None:
        """Instead of finish: the counts of the text. Call once."""

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

class Histories(enum.Enum):
    """How often pruning thinks that contexts occur."""

    TEXT = 0

    EXACT = 1

    STOLCKE = 2

def mix_tables(tables: Sequence[NgramTable], weights: Sequence[float]) -> NgramTable: ...

def mixture_log_probs(tables: Sequence[NgramTable], text: bytes, name: str) -> list[Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    ln p of each word and </s> under each table; words of other tables have probability zero.
    """

def prune_by_entropy(table: NgramTable, threshold: float, histories: Histories) -> NgramTable: ...

def prune_to_size(table: NgramTable, keep: int, histories: Histories) -> tuple[NgramTable, float]:
    """The table, and the threshold that leaves so many n-grams."""

def relative_entropies(table: NgramTable, histories: Histories) -> list[tuple[list[int], float]]:
    """
    N-grams of order 2 and above, and what each costs if it alone goes; NaN: it must stay.
    """

def weigh_table(table: NgramTable, weight: float, begins: bool) -> NgramTable: ...

def limit_order(table: NgramTable, order: int) -> NgramTable: ...

def filter_words(table: NgramTable, words: Sequence[str], with_renormalization: bool) -> NgramTable: ...

def quantize(table: NgramTable, bits: int) -> NgramTable: ...

def write_compact(table: NgramTable, write: Callable[[bytes], object]) -> None: ...

def sample_sentences(table: NgramTable, count: int, prefix: str, most_words: int, seed: int, first_stream: int) -> list[tuple[list[str], float, bool]]:
    """
    Words, ln p and whether </s> was drawn, of sentences that begin with the prefix.
    """

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

class MapNumbers(enum.Enum):
    """What the numbers of a map are."""

    PROBABILITIES = 0

    LOG10 = 1

    LN = 2

class WordMap:
    """Observed words and what they may stand for."""

def read_word_map(read: Callable[[], bytes], name: str, numbers: MapNumbers, joiner: str) -> WordMap:
    """A map from a callable that gives bytes."""

class MapEncoder(Encoder):
    """Words as the map says that they are observed."""

    def __init__(self, map: WordMap) -> None: ...

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

class RestorationChannel(Channel):
    def __init__(self, table: NgramTable, forms: Sequence[str], spellings: Sequence[str], words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kinds: Sequence[tuple[int, float, int]], most_events: int, joins: bool, longest_unknown: int, unknown_cost: float) -> None: ...

class MapChannel(Channel):
    def __init__(self, table: NgramTable, map: WordMap, keep: int | None) -> None: ...

class ClassChannel(Channel):
    def __init__(self, table: NgramTable, read: Callable[[], bytes], name: str) -> None: ...

class WeightedChannel(Channel):
    def __init__(self, channel: Channel, channel_weight: float, word_penalty: float) -> None: ...

class SlotsChannel(Channel):
    def __init__(self, table: NgramTable, keep: int | None) -> None: ...

SAMPLER_BATCH: int = 32

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
    def lower(self) -> float: ...

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

    def __init__(self, table: NgramTable, begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: bool = True, strategy: Strategy = Strategy.ALL_BY_ONE, paper: bool = False, spans: Sequence[tuple[int, int]] = []) -> None: ...

    def step(self) -> DecodeStep: ...

    def run(self, seconds: float = float('inf'), refinements: int = 18446744073709551615, states: int = 18446744073709551615) -> tuple[list[int], float, bool, float, float, int, int]:
        """path, log weight, exact, upper, lower, refinements, states"""

    @property
    def best_path(self) -> list[int]: ...

    @property
    def edges(self) -> tuple[list[int], list[int]]:
        """
        Of a lattice: the slot of each edge, and the candidate by its place in the slot; paths are edges then.
        """

    def states(self, position: int) -> list[tuple[list[int], bool]]:
        """
        What the states before a position know: words, and whether nothing else matters.
        """

def kbest_refine(table: NgramTable, begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: bool, k: int, strategy: Strategy = Strategy.ALL_BY_ONE, seconds: float = float('inf'), refinements: int = 18446744073709551615, states: int = 18446744073709551615) -> tuple[list[list[int]], list[float], bool, float, float, int, int]:
    """paths, log weights, exact, upper, lower, refinements, states"""

class Sampler:
    """Sampling by refinement, batch by batch."""

    def __init__(self, table: NgramTable, begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: bool = True, seed: int = 0, batch: int = 32, target_rate: float = 0.5, rate_window: int = 100, strategy: Strategy = Strategy.ALL_BY_ONE, paper: bool = False) -> None: ...

    def step(self) -> SampleStep: ...

    def run(self, count: int, seconds: float = float('inf'), refinements: int = 18446744073709551615, states: int = 18446744073709551615) -> Sampled: ...

class SumFault(enum.Enum):
    """Deliberate errors of the bounds of sums; tests of tests only."""

    NONE = 0

    FORGETS = 1

    TRUSTS_ROOT = 2

    LOOKS_PAST = 3

def plant_sum_fault(fault: SumFault) -> None: ...

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

    def __init__(self, kind: TaskKind, method: Method, count: int, seed: int, seconds: float, refinements: int, states: int, ends: bool, strategy: Strategy, batch: int, target_rate: float, rate_window: int, epsilon: float) -> None: ...

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
    def error_bound(self) -> float:
        """No probability of a sum is further off; samples: total variation."""

    @property
    def expected_errors(self) -> float: ...

    @property
    def least_errors(self) -> float: ...

    @property
    def most_errors(self) -> float: ...

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

    def log_weight(self, links: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float: ...

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
    def proves(self) -> bool: ...

    @proves.setter
    def proves(self, arg: bool, /) -> None: ...

    @property
    def num_samples(self) -> int: ...

    @num_samples.setter
    def num_samples(self, arg: int, /) -> None: ...

    @property
    def gibbs_probabilities(self) -> bool: ...

    @gibbs_probabilities.setter
    def gibbs_probabilities(self, arg: bool, /) -> None: ...

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

class CoreAligned:
    """Best alignments of one direction, and what is proved of the first."""

    @property
    def links(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None))]:
        """[k, generated word]: 0 is NULL."""

    @property
    def log_weights(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def exact(self) -> bool: ...

    @property
    def lower(self) -> float: ...

    @property
    def upper(self) -> float: ...

    @property
    def iterations(self) -> int: ...

    @property
    def labels(self) -> int: ...

class LinkDraws:
    """Independent draws of alignments."""

    @property
    def links(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None))]:
        """[draw, generated word]: 0 is NULL."""

    def __len__(self) -> int: ...

    @property
    def is_complete(self) -> bool: ...

    @property
    def gibbs_sweeps(self) -> int:
        """Above 0: probabilities are averages of so many Gibbs sweeps."""

    @property
    def gibbs_error(self) -> float: ...

    @property
    def trials(self) -> int: ...

    @property
    def log_partition_upper(self) -> float: ...

    @property
    def log_partition(self) -> float | None: ...

    @property
    def log_partition_error(self) -> float: ...

class ProofTree:
    """Why no alignment weighs more: cases, and multipliers for each."""

    @property
    def nodes(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None))]:
        """
        [node, 3]: kind (0 leaf, 1 count, 2 link), word and value, each before its two cases.
        """

    @property
    def multipliers(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        [leaf, generated word * (generating words + 1) + generating word]: column 0 is NULL's, all 0.
        """

class DirectionAnswer:
    """What became of one direction of a sentence pair."""

    @property
    def best(self) -> CoreAligned | None: ...

    @property
    def sampled(self) -> LinkDraws | None: ...

    @property
    def proof(self) -> ProofTree | None: ...

    @property
    def probabilities(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """[target * source], empty if they are not known."""

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
    def chains(self) -> int: ...

    @chains.setter
    def chains(self, arg: int, /) -> None: ...

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
    def jump_words(self) -> int: ...

    @jump_words.setter
    def jump_words(self, arg: int, /) -> None: ...

    @property
    def jump_weight(self) -> float: ...

    @jump_weight.setter
    def jump_weight(self, arg: float, /) -> None: ...

    @property
    def ending_weight(self) -> float: ...

    @ending_weight.setter
    def ending_weight(self, arg: float, /) -> None: ...

    @property
    def ending_prior(self) -> float: ...

    @ending_prior.setter
    def ending_prior(self, arg: float, /) -> None: ...

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

    def __init__(self, links: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], cell_sums: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], jump_sums: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], fertility_sums: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def links(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    @property
    def cell_sums(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]: ...

    @property
    def jump_sums(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

    @property
    def fertility_sums(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...

class AlignmentTrainer:
    """Gibbs chains over a parallel text."""

    def __init__(self, source: bytes, target: bytes, source_name: str, target_name: str, options: GibbsOptions, string_prior: bool, seed: int, lanes: int, earlier: AlignmentModel | None = None) -> None: ...

    def sweep(self, threads: int) -> float: ...

    def sweep_shard(self, lane: int, begin: int, end: int, shard: int) -> float: ...

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
    def num_sweeps(self) -> int: ...

    @property
    def num_lanes(self) -> int: ...

    @property
    def cell_width(self) -> int:
        """Bytes of a cell in cell_sums."""

    def links_text(self, begin: int, end: int, d: int, single: float, threshold: float) -> bytes: ...

    def best_threshold(self, d: int, single: float) -> float:
        """
        The threshold of the greatest expected F over the text; d is a direction, -1 both.
        """

    @property
    def bytes(self) -> int: ...

    def lengths(self, sentence: int) -> tuple[int, int]: ...

    def probabilities(self, sentence: int, d: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...

    def direction(self, lane: int, d: int) -> GibbsDirection: ...

    def restore(self, lane: int, sweeps_done: int, forward: GibbsDirection, reverse: GibbsDirection) -> None: ...

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
    def pair_source(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    @pair_source.setter
    def pair_source(self, arg: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def pair_target(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    @pair_target.setter
    def pair_target(self, arg: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def word_count(self) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]: ...

    @word_count.setter
    def word_count(self, arg: tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], /) -> None: ...

    @property
    def partners(self) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]: ...

    @partners.setter
    def partners(self, arg: tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], /) -> None: ...

    @property
    def likeness(self) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))]]: ...

    @likeness.setter
    def likeness(self, arg: tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], /) -> None: ...

    @property
    def pair_count(self) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))]]: ...

    @pair_count.setter
    def pair_count(self, arg: tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], /) -> None: ...

    @property
    def null_count(self) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))]]: ...

    @null_count.setter
    def null_count(self, arg: tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], /) -> None: ...

    @property
    def fertility(self) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))]]: ...

    @fertility.setter
    def fertility(self, arg: tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], /) -> None: ...

    def jumps(self, d: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        Of direction d: counts of distances from the start, inside, and to the end.
        """

    def set_jumps(self, d: int, start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], inner: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], end: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class AlignmentModel:
    """A trained alignment model; learn() alone changes it."""

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

    def copy(self) -> AlignmentModel:
        """For learn()."""

    def learn(self, source: Sequence[str], target: Sequence[str], forward: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], reverse: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Count one more sentence pair; links are of generated words, 0 is NULL."""

    def align_lines(self, source: bytes, target: bytes, task: AlignTask, first_record: int, threads: int) -> list[AlignAnswer]: ...

    def align_trained(self, trainer: AlignmentTrainer, task: AlignTask, begin: int, end: int, threads: int) -> list[AlignAnswer]:
        """The same of sentence pairs that a trainer has read."""

class Symmetrization(enum.Enum):
    INTERSECTION = 0

    UNION = 1

    GROW_DIAG = 2

    GROW_DIAG_FINAL = 3

    GROW_DIAG_FINAL_AND = 4

def symmetrize(forward: Sequence[tuple[int, int]], reverse: Sequence[tuple[int, int]], method: Symmetrization) -> list[tuple[int, int]]: ...

def spelling_likeness(a: str, b: str) -> float: ...

class WordAttributes:
    """Numbers that are known of words; immutable."""

    def __init__(self, words: Sequence[str], begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], numbers: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def of(self, word: str) -> list[int]:
        """As it is listed, or in lower case."""

class TagParts:
    """The parts that tags are made of; immutable."""

    @overload
    def __init__(self, num_tags: int) -> None:
        """Each tag is its own part."""

    @overload
    def __init__(self, begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], parts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def num_parts(self) -> int: ...

class ContextEmissions:
    """What observed words add to the weights of tags; immutable."""

    def __init__(self, tag_parts: TagParts, keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], parts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], base_weight: float, prior_weight: float, attributes: WordAttributes | None = None) -> None: ...

class ContextTrainer:
    """Finds the weights of context emissions, an epoch at a time."""

    def __init__(self, parts: TagParts, words: Sequence[str], word: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], tag: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], counted: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], evidence_begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], evidence_tag: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], evidence_log: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], guesser: Guesser, guess_weight: float, base_weight: float, prior_weight: float, penalty: float, margin: float, drop_words: bool, seed: int, attributes: WordAttributes | None = None) -> None: ...

    def set_transitions(self, tables: Sequence[NgramTable], fold: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], symbols: Sequence[tuple[int, str, float, Sequence[int]]]) -> None:
        """
        Symbols are tag, word, ln of the share, and the id in each fold's table.
        """

    def local_epoch(self, rate: float) -> None: ...

    def structured_epoch(self, rate: float) -> None: ...

    def log_likelihood(self, structured: bool) -> float: ...

    def gradient(self, structured: bool) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Of the log likelihood, by each weight."""

    @property
    def weights(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...

    @weights.setter
    def weights(self, arg: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def squares(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...

    @squares.setter
    def squares(self, arg: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    def finish(self, least: float) -> tuple[NDArray[numpy.uint64], NDArray[numpy.uint64], NDArray[numpy.uint32], NDArray[numpy.float32]]:
        """Keys, begin, parts, weights; those of at least so much."""

def tag_lattice_marginals(table: NgramTable, slots: Sequence[Sequence[tuple[int, float]]]) -> tuple[float, list[float]]:
    """
    Of slots of (symbol, score): ln of the sum over all paths, and the candidates' posterior probabilities.
    """

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
    def __init__(self, table: NgramTable, words: Sequence[str], begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tags: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], symbols: Sequence[tuple[int, str, int, float]], guesser: Guesser, guess_weight: float, floor: float, seen_tags_only: bool, context: ContextEmissions | None = None, allowed_words: Sequence[str] = [], allowed_begin: Sequence[int] = [], allowed_tags: Sequence[int] = []) -> None: ...

    @overload
    def __init__(self, table: NgramTable, words: Sequence[str], begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tags: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_probs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], symbols: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], guesser: Guesser) -> None: ...

    def knows(self, word: str) -> bool: ...

    def known_words(self, text: bytes) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """For each word of a text: 1 if it was seen in training."""

def lower_case(text: str) -> str: ...

def tag_words(engine: Engine, channel: TagChannel, sentences: list[Sequence[str]], names: list[str], threads: int) -> list[tuple[tuple[str, ...], float, tuple[bool, float, float, str, int, int], str | None, int | None]]:
    """The best tags of each sentence; `names` has the tag of each symbol."""

def merge_tags(tags: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], num_tags: int, target: int, kinds: Sequence[int] = []) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], list[tuple[int, int, float]]]:
    """
    (tag of each tag, merges as (kept, gone, loss)): greedily, by least loss of mutual information; tags of one kind first.
    """

class InductionOptions:
    def __init__(self, tags: int, *, order: int = 3, one_tag: bool = False, lexicon: str = 'none', spelling: str = 'none', sampler: str = 'local', particles: int = 10, chunk: int = 64, one_tag_trials: int = 4, chunk_share: float = 0.5, negligible: float = 0.0001, local_every: int = 1, sample_hyperparameters: bool = True, geometric: float = 0.9, strength_shape: float = 1.0, strength_scale: float = 10.0) -> None: ...

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

    def undo_sweep(self) -> None:
        """Take back the last sweep, unless it was kept."""

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

def best_matching(weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> list[tuple[int, int]]:
    """
    Pairs (row, column), each used at most once, of the largest total weight.
    """

def match_labels(labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], num_classes: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """
    Labels renamed one to one, so that the weight of those that equal the target is greatest.
    """

def shared_weights(labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], num_classes: int, threads: int = 0) -> list[float]:
    """
    [row, row], flat: the weight of the items on which two rows agree once they are matched.
    """

def vote(labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], num_classes: int, first: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """The label that most rows vote for, in the names of the row first."""

def most_telling(labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], num_classes: int, beginnings: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], tokens: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 0) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], float, float]:
    """
    (classes, the weight on which rows agree with them, nats that they tell), of the ends of voting that which tells most of the labels and of the next class.
    """

def latent_classes(labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], num_classes: int, first: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], most_steps: int, threads: int = 0) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], list[float]]:
    """(posterior [item, class], flat; the objective after each step)."""

def agree(labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], num_classes: int, first: int, most_steps: int, threads: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    [item, class], flat: how probable the classes are by votes and latent classes.
    """

def agree_in_groups(labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], num_classes: int, groups: Sequence[Sequence[int]], most_steps: int, threads: int = 0) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """[group, item], flat: the class that each group of rows agrees on."""

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

class SoftTargets:
    """Words that may stand at each token, with probabilities."""

    def __init__(self, begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], probability: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class HmmEm:
    """Training of a chain by incremental expectation-maximisation."""

    def __init__(self, text: TokenText, shape: HmmShape, options: EmOptions, seed: int, targets: SoftTargets | None = None) -> None: ...

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

@overload
def filter_sentences(chain: SparseHmm, text: TokenText, threads: int) -> list[tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]]:
    """filter_states of each sentence, without its end."""

@overload
def filter_sentences(chain: LexicalHmm, text: TokenText, threads: int) -> list[tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]]: ...

@overload
def posterior_sentences(chain: SparseHmm, text: TokenText, threads: int) -> list[tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]]:
    """posterior_states of each sentence, with its end."""

@overload
def posterior_sentences(chain: LexicalHmm, text: TokenText, threads: int) -> list[tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]]: ...

def log_prob_gradient(chain: SparseHmm, text: TokenText, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    Of the weighted sum of ln p(sentence), by ln initial, ln transition and ln emission.
    """

@overload
def filter_states(chain: SparseHmm, words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], complete: bool) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
    """Begin of each position, states, p(state | words so far), ln p."""

@overload
def filter_states(chain: LexicalHmm, words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], complete: bool) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]: ...

@overload
def posterior_states(chain: SparseHmm, words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], complete: bool) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
    """Begin of each position, states, p(state | all words), ln p."""

@overload
def posterior_states(chain: LexicalHmm, words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], complete: bool) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]: ...

@overload
def best_states(chain: SparseHmm, words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], complete: bool) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], float]: ...

@overload
def best_states(chain: LexicalHmm, words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], complete: bool) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], float]: ...

@overload
def next_words(chain: SparseHmm, words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """p(word | words) of each word."""

@overload
def next_words(chain: LexicalHmm, words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

@overload
def state_visits(chain: SparseHmm, text: TokenText, threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

@overload
def state_visits(chain: LexicalHmm, text: TokenText, threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

class Automaton:
    """A deterministic finite automaton over word ids."""

    def __init__(self, start: int, accepts: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], class_of: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

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

class DenseHmm:
    """
    A hidden Markov model whose states emit every word; reads the given arrays.
    """

    def __init__(self, initial: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], transition: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], emission: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], num_words: int, end_word: int) -> None: ...

    @property
    def num_states(self) -> int: ...

    @property
    def num_words(self) -> int: ...

class GuidePrefix:
    """What a guide knows of the words so far; immutable."""

    @property
    def length(self) -> int: ...

    @property
    def ended(self) -> bool: ...

    @property
    def alive(self) -> bool: ...

class HmmGuide:
    """p(constraint | prefix, next word) for every next word."""

    @overload
    def __init__(self, chain: SparseHmm, automaton: Automaton, fixed: Sequence[int], shortest: int, longest: int, threads: int) -> None: ...

    @overload
    def __init__(self, chain: DenseHmm, automaton: Automaton, fixed: Sequence[int], shortest: int, longest: int, threads: int) -> None: ...

    @overload
    def __init__(self, chain: LexicalHmm, automaton: Automaton, fixed: Sequence[int], shortest: int, longest: int, threads: int) -> None: ...

    def begin(self) -> GuidePrefix: ...

    def follow(self, prefix: GuidePrefix, word: int) -> tuple[GuidePrefix, float]:
        """Words before the constraint; p(word | before)."""

    def advance(self, prefix: GuidePrefix, word: int) -> tuple[GuidePrefix, float]:
        """The prefix with the word, and p(word | prefix)."""

    def advance_unknown(self, prefix: GuidePrefix, class_id: int) -> GuidePrefix: ...

    def next_words(self, prefix: GuidePrefix, words: Sequence[int] = []) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
        """
        p(word); p(word and constraint); p(constraint | unknown word) by class; ln of the scale. All words if none is given.
        """

    def next_bounds(self, prefix: GuidePrefix) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
        """
        By class: least, most and mean of p(constraint | prefix, word); ln of their scale.
        """

    def log_prob(self, prefix: GuidePrefix) -> float:
        """ln p(constraint | prefix)."""

    def allowed_classes(self, prefix: GuidePrefix) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """Classes whose words leave a way to an accepting end."""

    def is_satisfied(self, prefix: GuidePrefix) -> bool: ...

class ContextTree:
    """Word contexts, closed under prefixes; single words have their ids."""

    def __init__(self, num_words: int, parent: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], word: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def size(self) -> int: ...

    @property
    def num_words(self) -> int: ...

    def next(self, context: int, word: int) -> int: ...

    def words(self, context: int) -> list[int]: ...

    @property
    def lengths(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]: ...

    def longer(self) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
        """Prefix and last word of each context of several words."""

    def token_contexts(self, text: TokenText) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """The context before each token, </s> included."""

class LexicalTable:
    """What contexts say of the next word."""

    def __init__(self, begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], word: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], probability: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], back_off: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def begin(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

    @property
    def word(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    @property
    def probability(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...

    @property
    def back_off(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...

    def shares(self, tree: ContextTree, text: TokenText) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))]]:
        """l and g of each token, </s> included."""

class LexicalCounts:
    """Counts of the words after listed contexts."""

    def __init__(self, tree: ContextTree, listed: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], text: TokenText, discounts: Sequence[float]) -> None: ...

    def table(self) -> LexicalTable: ...

    def leave_one_out(self, text: TokenText) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))]]:
        """
        l and g of each token of the text that was counted, without the token itself.
        """

    @property
    def totals(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

class SelectionOptions:
    def __init__(self) -> None: ...

    @property
    def most(self) -> list[int]: ...

    @most.setter
    def most(self, arg: Sequence[int], /) -> None: ...

    @property
    def least_gain(self) -> list[float]: ...

    @least_gain.setter
    def least_gain(self, arg: Sequence[float], /) -> None: ...

    @property
    def discounts(self) -> list[float]: ...

    @discounts.setter
    def discounts(self, arg: Sequence[float], /) -> None: ...

    @property
    def lexical_weight(self) -> float: ...

    @lexical_weight.setter
    def lexical_weight(self, arg: float, /) -> None: ...

    @property
    def optimism(self) -> float: ...

    @optimism.setter
    def optimism(self, arg: float, /) -> None: ...

def select_contexts(text: TokenText, num_words: int, log_prob: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: SelectionOptions) -> tuple[ContextTree, Annotated[NDArray[numpy.bool_], dict(shape=(None,))]]:
    """Contexts, and which of them are listed."""

class ResidualEm:
    """Counts of hidden states beside a lexical route."""

    def __init__(self, text: TokenText, shape: HmmShape) -> None: ...

    def iterate(self, chain: SparseHmm, lexical: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], gamma: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> float: ...

    def fit(self, model: LogBilinear, passes: int, threads: int) -> float: ...

    def chain(self, model: LogBilinear, smoothing: Smoothing, weight: float, within: float, threads: int) -> SparseHmm: ...

class KeptStates:
    """States of contexts: where each context's begin, and their places."""

    @property
    def begin(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

    @property
    def places(self) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,))]: ...

class JointFilter:
    """All states of several chains together."""

    def __init__(self, chains: Sequence[SparseHmm], weights: Sequence[float], text: TokenText, lexical: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], gamma: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], tree: ContextTree | None, threads: int) -> None: ...

    @property
    def hidden(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def log_prob(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def keep(self, chains: Sequence[SparseHmm], tree: ContextTree, most: int) -> KeptStates: ...

def keep_all(chains: Sequence[SparseHmm], tree: ContextTree) -> KeptStates: ...

class LexicalHmm:
    """A lexicalised hidden Markov model; immutable."""

    def __init__(self, contexts: ContextTree, table: LexicalTable, lexical_weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], chains: Sequence[SparseHmm], chain_weight: Sequence[float], state_begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def num_states(self) -> int: ...

    @property
    def num_words(self) -> int: ...

    @property
    def num_chains(self) -> int: ...

    @property
    def has_end(self) -> bool: ...

    @property
    def contexts(self) -> ContextTree: ...

    @property
    def table(self) -> LexicalTable: ...

    def chain(self, i: int) -> SparseHmm: ...

    @property
    def chain_weight(self) -> list[float]: ...

    @property
    def lexical_weight(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...

    @property
    def state_begin(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

    @property
    def places(self) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,))]: ...

    def token_log_probs(self, text: TokenText, threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """ln p of each word and </s> given the words before it."""

    def step(self, context: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], word: int) -> tuple[int, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        The next context, and weights of its states: the given ones times p(word, state' | state).
        """

class LexicalProduct:
    """Sentences of a lexicalised model that an automaton accepts."""

    def __init__(self, model: LexicalHmm, automaton: Automaton, fixed: Sequence[int], shortest: int, longest: int, best: bool, threads: int) -> None: ...

    @property
    def log_prob(self) -> float: ...

    def draw(self, seed: int, stream: int) -> Walk: ...

    def best_walk(self) -> Walk:
        """The most probable words and states."""

    def word_probabilities(self, positions: Sequence[int]) -> list[Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """p(word at a position | constraint), for each position."""

def prove(table: NgramTable, reading: Reading, path: Sequence[int], ends: bool, seconds: float, refinements: int, states: int) -> tuple[bool, list[list[tuple[list[int], bool, float]]], int, int]:
    """
    Complete, states of each position (words, closed, upper weight), refinements, states of the automaton.
    """

def fingerprint(table: NgramTable) -> str:
    """The name of what the model says."""

def align_lines(noisy: str, noisy_begins: Sequence[int], clean: str, clean_begins: Sequence[int]) -> list[tuple[int, int]]:
    """
    (noisy token, clean token) of each place where tokens begin on both sides of the best alignment.
    """

def edit_distance(a: str, b: str) -> int:
    """The fewest characters to insert, delete or replace."""

class SlipKind(enum.Enum):
    TYPING = 0

    OCR = 1

class EditModel:
    """p(seen | intended), summed over alignments."""

    def __init__(self, alphabet: str, kind: SlipKind, keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def log_prob(self, intended: str, seen: str) -> float: ...

    def piece_prob(self, left: str, intended: str, seen: str) -> float:
        """p(piece | left neighbour); ^ is the beginning, $ the end."""

def train_edits(alphabet: str, kind: SlipKind, pairs: Sequence[tuple[str, str, float]], iterations: int, keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
    """Counts by expectation-maximisation from (intended, seen, weight)."""

def expected_edits(model: EditModel, pairs: Sequence[tuple[str, str, float]]) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]: ...

def find_words(model: EditModel, words: Sequence[str], log_prior: Sequence[float], seen: str, keep: int, least_log_edit: float, beam: float, max_prefixes: int, num_alike: int) -> tuple[list[tuple[int, float, float]], float, int, bool]:
    """
    The best words of a list for a seen one: (place, ln p_edit, score); left_out, prefixes, all done.
    """

def plant_edit_fault(factor: float) -> None:
    """Deliberately too low bounds; tests of tests only."""

class WordLexicon:
    """The words that can have been meant."""

    def __init__(self, table: NgramTable, letters: NgramTable, words: Sequence[str], weights: Sequence[float], trusts_list: bool, rare_below: int) -> None: ...

    def __len__(self) -> int: ...

    def __contains__(self, word: str) -> bool: ...

    def log_spell(self, word: str) -> float: ...

    @property
    def lists_language(self) -> bool:
        """Whether the list has at least half of the model's frequent words."""

    def characters(self) -> str:
        """All characters of its words, the most frequent first."""

def rare_words(table: NgramTable, most: int) -> list[str]:
    """Words that at most so many different words precede."""

class SeenWords:
    """What a seen word can have been meant as."""

    def __init__(self, lexicon: WordLexicon, model: EditModel, rates: Sequence[float], memory_weight: float, map_power: float, keep: int, least_unknown: float, least_known: float, beam: float, max_prefixes: int, num_alike: int, pairs: Sequence[tuple[str, str, float]], totals: Sequence[tuple[str, float]]) -> None: ...

    def meant(self, seen: str) -> tuple[list[tuple[list[str], float]], bool, float]:
        """
        (words, log weight) of each reading, the word as seen first; whether it is known; left_out.
        """

    @property
    def num_cached(self) -> int: ...

    def clear_cache(self) -> None: ...

class ReadingChoice:
    @property
    def words(self) -> list[str]: ...

    @property
    def prob(self) -> float: ...

class SentenceChange:
    @property
    def first(self) -> int: ...

    @property
    def end(self) -> int: ...

    @property
    def choice(self) -> ReadingChoice: ...

    @property
    def alternatives(self) -> list[ReadingChoice]: ...

    @property
    def was_known(self) -> bool: ...

class SentenceCorrection:
    @property
    def changes(self) -> list[SentenceChange]: ...

    @property
    def upper(self) -> float: ...

    @property
    def lower(self) -> float: ...

    @property
    def exact(self) -> bool: ...

    @property
    def states(self) -> int: ...

    @property
    def error_bound(self) -> float: ...

    @property
    def left_out(self) -> float: ...

class SentenceDraw:
    @property
    def parts(self) -> list[SentenceChange]: ...

    @property
    def count(self) -> int: ...

class Corrections:
    """Changes of sentences with their probabilities; shared by threads."""

    def __init__(self, engine: Engine, words: SeenWords, is_scanned: bool) -> None: ...

    def correct(self, sentences: Sequence[tuple[Sequence[str], bytes, Sequence[tuple[int, Sequence[tuple[str, float]]]]]], threads: int) -> list[SentenceCorrection]: ...

    def expect(self, sentences: Sequence[tuple[Sequence[str], bytes, Sequence[tuple[int, Sequence[tuple[str, float]]]]]], least: float, threads: int) -> list[tuple[str, str, float]]:
        """(seen, meant, probability) of all tokens that may change."""

    def sample(self, sentence: tuple[Sequence[str], bytes, Sequence[tuple[int, Sequence[tuple[str, float]]]]], count: int, seed: int, stream: int) -> list[SentenceDraw]: ...

    def lattice(self, sentence: tuple[Sequence[str], bytes, Sequence[tuple[int, Sequence[tuple[str, float]]]]]) -> Reading: ...

SILENT: int = 4294967295

NO_WORD: int = 4294967295

class WordGraph:
    """A word lattice: nodes in order, edges by the node that they leave."""

    def __init__(self, start: int, start_of: Sequence[int], end_of: Sequence[int], word: Sequence[int], log_weight: Sequence[float], log_final: Sequence[float]) -> None: ...

    @property
    def num_edges(self) -> int: ...

    def nearest_path(self, label: Sequence[int], sequence: Sequence[int]) -> tuple[int, list[int]]:
        """
        The least word errors of a path, and where the sequence stands at each node.
        """

class Composition:
    """A word lattice times a language model."""

    def __init__(self, table: NgramTable | None, graph: WordGraph, lm_weight: float, begins: bool, ends: bool, max_states: int, seconds: float) -> None: ...

    @staticmethod
    def mixture(tables: Sequence[NgramTable], log_share: Sequence[float], ids: Sequence[Sequence[int]], graph: WordGraph, lm_weight: float, begins: bool, ends: bool, max_states: int, seconds: float) -> Composition:
        """
        A word lattice times a mixture of models, words numbered for all of them together.
        """

    @property
    def num_states(self) -> int: ...

    @property
    def num_arcs(self) -> int: ...

    @property
    def rounding(self) -> float: ...

    @property
    def has_path(self) -> bool: ...

    @property
    def log_partition(self) -> float: ...

    def best(self) -> tuple[list[int], float]:
        """The edges of the best path, and its weight."""

    def posteriors(self) -> list[float]:
        """Of each edge: the share of all weight that goes through it."""

    def length_shares(self, label: Sequence[int]) -> list[float]:
        """
        Of each number of words: the share of all weight that paths with so many have.
        """

    def best_through(self) -> list[float]:
        """Of each edge: the weight of the best path through it."""

    def sample(self, count: int, seed: int, stream: int) -> list[tuple[list[int], float]]:
        """Independent paths with their weights."""

    def rank(self, label: Sequence[int], count: int, sums: bool, max_prefixes: int) -> tuple[list[tuple[list[int], list[int], float]], bool, float]:
        """
        Label sequences best first: labels, edges of the best path, weight; whether they are the best; what a missing one can weigh.
        """

    def total_of(self, label: Sequence[int], sequence: Sequence[int]) -> float:
        """ln of the total weight of the paths with these labels."""

def expected_errors(composition: Composition, label: Sequence[int], sequence: Sequence[int], max_rows: int, least_share: float) -> tuple[float, float] | None:
    """
    The expected word errors of a sequence, and the share of paths that they leave out; None beyond max_rows.
    """

class PathShares:
    """Counts, orders and distances of words over the paths of a lattice."""

    def __init__(self, composition: Composition, label: Sequence[int], least_share: float) -> None: ...

    def counts(self, word: int) -> list[float]:
        """Of each number: the share of paths in which the word stands so often."""

    def around(self, x: int, y: int, size: int) -> list[float]:
        """
        The shares of paths with y once, by how often x stands before and after it.
        """

    def errors(self, sequence: Sequence[int], least_share: float, enough: float, max_rows: int) -> tuple[float, float, int]:
        """
        No more than the expected errors of the sequence, the share of paths left out, and the work that it took.
        """

def best_lattice_path(table: NgramTable | None, graph: WordGraph, lm_weight: float, begins: bool, ends: bool, max_states: int, seconds: float) -> tuple[list[int], float, bool, float, int]:
    """
    The edges of the best path, its weight (-inf: there is none), whether it is proved, what no path exceeds, and how many states the search made.
    """

def best_mixture_path(tables: Sequence[NgramTable], log_share: Sequence[float], ids: Sequence[Sequence[int]], graph: WordGraph, lm_weight: float, begins: bool, ends: bool, max_states: int, seconds: float) -> tuple[list[int], float, bool, float, int]:
    """The same under a mixture of models."""

class LatticeSearch:
    """The best paths of a lattice by refinement of a bound."""

    def __init__(self, table: NgramTable, graph: WordGraph, lm_weight: float, begins: bool, ends: bool, strategy: Strategy = Strategy.ALL_BY_ONE, paper: bool = False) -> None: ...

    def step(self) -> DecodeStep: ...

    def run(self, seconds: float, refinements: int, states: int) -> tuple[list[int], float, tuple[bool, float, int, int]]:
        """edges, log weight, (exact, upper, refinements, states)"""

    def kbest(self, k: int, label: Sequence[int], seconds: float, refinements: int, states: int) -> tuple[list[list[int]], list[float], tuple[bool, float, int, int]]:
        """
        The k best paths, of those with equal labels the best: edges, log weights, (exact, upper, refinements, states).
        """

    def states(self, node: int) -> list[tuple[list[int], bool]]:
        """
        What the states at a node know: words, and whether nothing else matters.
        """

def word_errors(a: Sequence[int], b: Sequence[int]) -> int:
    """Levenshtein's distance."""

def error_matrix(sequences: Sequence[Sequence[int]]) -> list[int]:
    """Levenshtein's distance of each to each, row after row."""
