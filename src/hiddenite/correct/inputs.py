"""What users give a corrector, checked: texts, pairs of texts, lists of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hiddenite.candidates import check_text
from hiddenite.correct.pairs import lower
from hiddenite.errors import ModelError
from hiddenite.files.corpus import decode_part


def as_text(text: object, place: str = "") -> str:
    """Return a text that may be bytes or a cell of an Arrow column; ``place`` begins an error."""
    if not isinstance(text, str):
        text = text.as_py() if hasattr(text, "as_py") else text
        text = decode_part(text, place.rstrip(": ") or "the text") if isinstance(text, bytes) else text
        if not isinstance(text, str):
            raise ModelError(f"{place}found {text!r:.40}, expected text")
    check_text(text, place)
    return text


def each_text(texts: Iterable[object]) -> Iterator[str]:
    """Give texts one by one."""
    if isinstance(texts, str | bytes):
        raise ModelError(f"found the text {texts[:40]!r}, expected a list of texts; write [text]")
    for place, text in enumerate(texts, 1):
        yield as_text(text, f"text {place}: ")


def each_pair(pairs: Iterable[object]) -> Iterator[tuple[str, str]]:
    """Give pairs of a noisy and a clean text one by one."""
    for place, pair in enumerate(() if isinstance(pairs, str | bytes) else pairs, 1):
        if isinstance(pair, str | bytes) or not isinstance(pair, Iterable):
            raise ModelError(f"pair {place}: found {pair!r:.40}, expected a noisy and a clean text")
        both = tuple(pair)
        if len(both) != 2:
            raise ModelError(f"pair {place}: found {len(both)} texts, expected two: noisy and clean")
        yield as_text(both[0], f"pair {place}: "), as_text(both[1], f"pair {place}: ")
    if isinstance(pairs, str | bytes):
        raise ModelError(f"found the text {pairs[:40]!r}, expected pairs (noisy text, clean text)")


def listed_words(words: Iterable[str] | Mapping[str, float] | None) -> dict[str, float]:
    """Return a list of words in small letters, each with a weight."""
    if isinstance(words, str | bytes):
        raise ModelError("words is a string, expected a collection of words")
    listed = words if isinstance(words, Mapping) else dict.fromkeys(words or (), 1.0)
    result = {}
    for word, weight in listed.items():
        if not 0 < weight < float("inf"):
            raise ModelError(f"the word {word!r:.40} has the weight {weight}, expected a number above 0")
        result[lower(as_text(word, "words: "))] = float(weight)
    return result
