"""
The C++ core of hiddenite. Use the package's own names; these may change.
"""

from collections.abc import Callable, Sequence


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
    def bytes(self) -> int: ...

    @property
    def num_words(self) -> int: ...

    def word(self, id: int) -> str: ...

    def find(self, word: str) -> int | None: ...

    def conditional(self, word: int, context: Sequence[int]) -> float:
        """ln p(word | context)"""

    def max_conditional(self, word: int, context: Sequence[int]) -> float:
        """Its maximum over all contexts that end in `context`."""

    def score_text(self, text: bytes, threads: int, name: str, first_line: int) -> tuple:
        """Per line: log_prob, log_prob_known, tokens, oov."""

def read_arpa(read: Callable, name: str, unknown_log10: float | None) -> tuple:
    """
    Table, warnings and number of implied n-grams from a callable that gives bytes.
    """

def write_arpa(table: NgramTable, write: Callable, with_max_columns: bool) -> None: ...

class KneserNeyTrainer:
    """Interpolated modified Kneser-Ney estimation."""

    def __init__(self, order: int, prune: Sequence[int], unknown_below: int, vocabulary: Sequence[str] | None, memory_bytes: int, temporary_directory: str) -> None: ...

    def add(self, read: Callable, name: str) -> None:
        """Text from a callable that gives bytes, empty at the end."""

    def finish(self) -> tuple:
        """
        Table, (D1, D2, D3+, closed form) per order, sentences, tokens. Call once.
        """
