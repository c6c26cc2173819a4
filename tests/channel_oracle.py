"""The channels by their definitions: slow, obvious, and written without a look at the C++.

Each weight is a recursion over everything that can happen, in the words of the header that states the model.
``best`` picks the best course of events, ``total`` adds all of them up: that is the law encoders draw from.
"""

from __future__ import annotations

import functools
import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence

from hiddenite import NgramModel
from hiddenite.channel import TypoRates
from tests.models import load

Collect = Callable[[Iterable[float]], float]  # probabilities of alternatives -> one number
best: Collect = functools.partial(max, default=0.0)
total: Collect = sum


def unigram_model(words: Mapping[str, float] | Iterable[str], unknown: bool = True) -> NgramModel:
    """A model that holds these words, with log10 probabilities if they are given."""
    log10 = dict(words) if isinstance(words, Mapping) else dict.fromkeys(words, -1.0)
    rows = {"<s>": -99.0, "</s>": -1.0} | log10 | ({"<unk>": -1.5} if unknown else {})
    lines = ["\\data\\", f"ngram 1={len(rows)}", "", "\\1-grams:", *(f"{p}\t{w}" for w, p in rows.items())]
    return load("\n".join([*lines, "", "\\end\\", ""]))


def log(probability: float) -> float:
    return math.log(probability) if probability > 0 else -math.inf


# ----------------------------------------------------------------------- keypad

LETTERS = dict(zip("23456789", ("abc", "def", "ghi", "jkl", "mno", "pqrs", "tuv", "wxyz"), strict=True))
LETTER_KEYS = {letter: int(key) for key, letters in LETTERS.items() for letter in letters}
CENTRES = {0: (1, 3)} | {key: ((key - 1) % 3, (key - 1) // 3) for key in range(1, 10)}


def key_of(character: str) -> int:
    """The key of a character that decomposes into an ASCII letter and marks, or does not decompose."""
    base = unicodedata.normalize("NFKD", character)[0].lower()
    return int(base) if base in "0123456789" else LETTER_KEYS.get(base, 0)


def key_law(intended: int, ambiguity: float) -> list[float]:
    """p(observed key | intended key), equation 9 normalised."""
    weights = [1 / (ambiguity * math.dist(CENTRES[key], CENTRES[intended]) + 1) for key in range(10)]
    return [weight / sum(weights) for weight in weights]


def keypad_log_weight(word: str, observed: str, ambiguity: float) -> float:
    pairs = zip(word, observed, strict=True)
    return sum(math.log(key_law(key_of(c), ambiguity)[int(o)]) for c, o in pairs)


# ------------------------------------------------------------------------- typo

PLAIN = ("`1234567890-=", "qwertyuiop[]\\", "asdfghjkl;'", "zxcvbnm,./")
SHIFTED = ("~!@#$%^&*()_+", "QWERTYUIOP{}|", 'ASDFGHJKL:"', "ZXCVBNM<>?")
ROW_STARTS = (0.0, 1.5, 1.75, 2.25)
NUM_KEYS = 47


def _layer(rows: Sequence[str]) -> dict[str, tuple[float, int]]:
    return {
        c: (x + i, y)
        for y, (x, row) in enumerate(zip(ROW_STARTS, rows, strict=True))
        for i, c in enumerate(row)
    }


LAYERS = (_layer(PLAIN), _layer(SHIFTED))


@functools.cache
def neighbours(character: str) -> frozenset[str]:
    """The touching keys in the same shift state, and the same key in the other one."""
    for layer, other in (LAYERS, LAYERS[::-1]):
        if character in layer:
            place = layer[character]
            near = {c for c, p in layer.items() if 0 < math.dist(p, place) < 1.3}
            return frozenset(near | {next(c for c, p in other.items() if p == place)})
    return frozenset()


def substitution(intended: str, seen: str, rates: TypoRates) -> float:
    """The probability that a substituted character becomes this other one."""
    near = neighbours(intended)
    if not near:
        return 1 / NUM_KEYS
    if seen in near:
        return rates.neighbour / len(near)
    return (1 - rates.neighbour) / (NUM_KEYS - 1 - (len(near) - 1))


def typo_prob(intended: str, seen: str, rates: TypoRates, events: int, collect: Collect = best) -> float:
    """p(seen | intended) with at most so many events."""
    error = rates.error_rate

    @functools.cache
    def from_here(t: int, j: int, left: int) -> float:
        rest, shown = intended[t:], seen[j:]
        courses = []
        if shown and left:
            courses.append(error * rates.insertion / NUM_KEYS * from_here(t, j + 1, left - 1))
        if not rest:
            if not shown:
                courses.append(1 - error * rates.insertion)
            return collect(courses)
        crossing = len(rest) > 1 and rest[0] != rest[1]
        if left:
            courses.append(error * rates.deletion * from_here(t + 1, j, left - 1))
            if shown and shown[0] != rest[0]:
                odds = error * rates.substitution * substitution(rest[0], shown[0], rates)
                courses.append(odds * from_here(t + 1, j + 1, left - 1))
            if crossing and shown[:2] == rest[1] + rest[0]:
                courses.append(error * rates.transposition * from_here(t + 2, j + 2, left - 1))
        if shown[:1] == rest[0]:
            kept = 1 - error if crossing else 1 - error + error * rates.transposition
            courses.append(kept * from_here(t + 1, j + 1, left))
        return collect(courses)

    return from_here(0, 0, events)


# -------------------------------------------------------------------- confusion

Table = Mapping[tuple[str, str], float]  # (intended, seen) -> probability


def remaining(character: str, table: Table) -> float:
    """The probability that a character is seen as itself."""
    own = table.get((character, character))
    taken = sum(p for (intended, _), p in table.items() if not intended or intended[0] == character)
    return own if own is not None else max(0.0, 1 - taken)


def confusion_prob(intended: str, seen: str, table: Table) -> float:
    """The probability of the best alignment."""
    end = 1 - sum(p for (piece, _), p in table.items() if not piece)

    @functools.cache
    def from_here(t: int, j: int) -> float:
        courses = [end] if t == len(intended) and j == len(seen) else []
        for (piece, shown), p in table.items():
            if piece == shown and len(piece) == 1:
                continue  # a character's own entry: what remains of it, below
            if intended.startswith(piece, t) and seen.startswith(shown, j):
                courses.append(p * from_here(t + len(piece), j + len(shown)))
        if t < len(intended) and intended[t] == seen[j : j + 1]:
            courses.append(remaining(intended[t], table) * from_here(t + 1, j + 1))
        return best(courses)

    return from_here(0, 0)
