"""Noisy lines and their clean versions, token by token: what correctors learn from and are judged by.

The two lines may have different numbers of tokens. ``cpp/hiddenite/correct/line_alignment.hpp`` cuts them
where tokens begin on both sides of the best alignment of their characters; a piece between two cuts holds
the tokens that belong together: one and one mostly, one and two where words were written as one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from hiddenite._core import align_lines
from hiddenite.correct.tokens import Token, tokens


class Piece(NamedTuple):
    """Tokens that belong together."""

    noisy: tuple[Token, ...]
    clean: tuple[Token, ...]


def lower(text: str) -> str:
    """Return a text in small letters, character by character, so that places stay."""
    small = text.lower()
    if len(small) == len(text):
        return small.replace("’", "'")
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text).replace("’", "'")


def align(noisy: str, clean: str) -> Iterator[Piece]:
    """Yield the pieces of a noisy line and its clean version in order; none is empty on both sides."""
    a, b = tokens(noisy), tokens(clean)
    cuts = align_lines(lower(noisy), [t.start for t in a], lower(clean), [t.start for t in b])
    for (i, j), (k, m) in itertools.pairwise(cuts):
        yield Piece(tuple(a[i:k]), tuple(b[j:m]))


def span_text(text: str, piece: tuple[Token, ...]) -> str:
    """Return the text that tokens cover, white space between them as one blank."""
    if not piece:
        return ""
    return " ".join(text[piece[0].start : piece[-1].end].split())
