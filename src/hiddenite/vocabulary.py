"""Words and their ids.

``<unk>``, ``<s>`` and ``</s>`` are 0, 1, 2; the other words are numbered by their length in characters, so
that all words with equally many characters form one range of ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from hiddenite._core import NgramTable

UNKNOWN = "<unk>"
SENTENCE_BEGIN = "<s>"
SENTENCE_END = "</s>"


class Vocabulary:
    """The words of a language model."""

    def __init__(self, table: NgramTable) -> None:
        self._table = table

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self):,} words>"

    def __len__(self) -> int:
        return self._table.num_words

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._table.find(word) is not None

    def __iter__(self) -> Iterator[str]:
        return (self._table.word(i) for i in range(len(self)))

    def __getitem__(self, word_id: int) -> str:
        return self._table.word(word_id)

    def has_words_of(self, other: Vocabulary) -> bool:
        """Tell whether both have the same words with the same ids."""
        if self._table is other._table:
            return True
        return len(self) == len(other) and self._fingerprint == other._fingerprint

    @cached_property
    def _fingerprint(self) -> bytes:
        import hashlib  # noqa: PLC0415  (only two models with as many words need it)

        return hashlib.sha256("\n".join(self).encode()).digest()

    def id(self, word: str) -> int:
        """Return the id of ``word``, that of ``<unk>`` if it is not in the vocabulary."""
        found = self._table.find(word)
        return 0 if found is None else found
