"""Texts as sentences of tokens, as the core wants them: small letters, and what each token may do.

A typed word with letters that the words of the model hardly have, as Grüße in English, is of another language
and stays; so do initials and acronyms, and a letter
that belongs to a sign, as in ``:D`` and ``'s``.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hiddenite.correct.pairs import lower
from hiddenite.correct.tokens import Protect, Token, has_inner_capitals, tokens
from hiddenite.segments import sentences

FOREIGN_SHARE = 0.003  # of the listed words: letters in fewer of them are those of other languages
MAX_ACRONYM = 5
MAX_OTHERS = 4  # readings of a token besides the recogniser's own
_WORD, _SPACE, _CAPITAL, _LINE = 1, 2, 4, 8  # flags of the core's tokens
_MOUTHS = "dopx"  # letters of smileys
_CLITICS = frozenset(
    ("n't", "nt", "ll", "ve", "re", "m", "s", "d", "t")
)  # as tokenised text has them: do n't

_NOT = (" 't", " ’t")  # the rest of a negation, as other tokenised text has it: isn 't


@dataclass(frozen=True)
class Cut:
    """A text as sentences of tokens."""

    text: str
    tokens: list[Token]
    sentences: list[tuple[int, int]]
    rows: list[Row]


Shares = tuple[tuple[str, float], ...]  # other readings of a recogniser, and their shares
Seen = tuple[int, int, Shares]  # of a word of the text: from, to
Row = tuple[list[str], bytes, list[tuple[int, list[tuple[str, float]]]]]
# Of the core: lower-case tokens, flags, and the tokens that were also read in other ways.


def own_letters(alphabet: str, words: Iterable[str], num_words: int) -> frozenset[str]:
    """Return the letters of the language that words are listed of; of all that the model has if none are."""
    counts = Counter(c for word in words if not word.isascii() for c in set(word))
    least = max(1.0, FOREIGN_SHARE * num_words)
    return frozenset(c for c in alphabet if c.isascii() or not num_words or counts[c] >= least)


@dataclass(frozen=True)
class Cutter:
    """Cuts texts for one corrector."""

    kind: str  # of errors
    letters: frozenset[str]  # of the language
    opened: frozenset[str] = frozenset()  # numbers that are known to stand for words, as 2 for to

    def cut(self, text: str, protect: Protect, seen: Iterable[Seen] = ()) -> Cut:
        """Return a text as sentences of tokens; ``seen`` are words that were also read in other ways."""
        found = tokens(text, protect)
        ranges = list(sentences(text, found))
        others = dict(_other_readings(text, found, seen))
        rows = []
        for begin, end in ranges:
            words, flags = self._row(text, found, begin, end, protect)
            near = [
                (i - begin, others[found[i].start])
                for i in range(begin, end if others else begin)
                if found[i].start in others and flags[i - begin] & _WORD
            ]
            rows.append((words, flags, near))
        return Cut(text, found, ranges, rows)

    def _row(
        self, text: str, found: list[Token], begin: int, end: int, protect: Protect
    ) -> tuple[list[str], bytes]:
        words = []
        flags = bytearray()
        seen_word = False
        is_upper = text[found[begin].start : found[end - 1].end].isupper()
        for i in range(begin, end):
            token = found[i]
            piece = text[token.start : token.end]
            flag = 0
            is_glued = i > begin and token.start == found[i - 1].end
            if i > begin and not is_glued:
                flag = _SPACE | (_LINE if "\n" in text[found[i - 1].end : token.start] else 0)
            is_host = text.startswith(_NOT, token.end) and piece.endswith("n") and self.kind != "ocr"
            is_clitic = (is_glued or piece == "n't") and piece in _CLITICS and self.kind != "ocr"
            is_sign = is_glued and len(piece) == 1 and self.kind != "ocr"
            is_sign = is_sign and (piece.lower() in _MOUTHS or text[token.start - 1] in "'’")
            stays = is_host or is_clitic or is_sign or (not is_upper and self._is_acronym(piece))
            if not stays and self._may_change(token.kind, piece, protect):
                flag |= _WORD
                if seen_word and piece[0].isupper() and not (piece.isupper() and len(piece) > 1):
                    flag |= _CAPITAL
            seen_word = seen_word or token.kind in ("word", "mixed")
            words.append(lower(piece))
            flags.append(flag)
        return words, bytes(flags)

    def _may_change(self, kind: str, piece: str, protect: Protect) -> bool:
        if kind == "word" and self._is_foreign(piece):
            return False
        if kind == "word":
            return not (protect.inner_capitals and has_inner_capitals(piece) and self.kind != "ocr")
        if kind == "mixed" and self.kind == "ocr":
            return sum(c.isalpha() for c in piece) >= 2 * sum(c.isdigit() for c in piece)
        if kind == "number":
            return piece in self.opened
        return kind == "mixed" and (self.kind == "normalise" or not protect.numbers)

    def _is_acronym(self, piece: str) -> bool:
        """Return whether a typed word is short and in capitals; where all are, it is a word like others."""
        return self.kind == "typing" and len(piece) <= MAX_ACRONYM and piece.isupper() and piece != "I"

    def _is_foreign(self, piece: str) -> bool:
        if piece.isascii() or self.kind != "typing":
            return False
        return any(c.isalpha() and c not in self.letters for c in lower(piece))


def _other_readings(
    text: str, found: Sequence[Token], seen: Iterable[Seen]
) -> Iterator[tuple[int, list[tuple[str, float]]]]:
    """Yield the other readings of tokens, by where these begin.

    A word may hold several tokens, a word and a full stop; a reading of the word is one of the token if it
    differs there alone.
    """
    starts = [token.start for token in found]
    for start, end, shares in seen:
        for token in found[bisect.bisect_left(starts, start) : bisect.bisect_left(starts, end)]:
            before, after = text[start : token.start], text[token.end : end]
            own = lower(text[token.start : token.end])
            readings: dict[str, float] = {}
            for whole, share in shares:
                inner = whole[len(before) : len(whole) - len(after)]
                fits = len(whole) > len(before) + len(after)
                fits = fits and whole.startswith(before) and whole.endswith(after)
                if fits and lower(inner) != own and 0 < share < 1 and _is_one_word(inner):
                    readings[lower(inner)] = readings.get(lower(inner), 0.0) + share
            if readings:
                best = sorted(readings.items(), key=lambda item: -item[1])[:MAX_OTHERS]
                yield token.start, best


def _is_one_word(text: str) -> bool:
    pieces = tokens(text)
    return len(pieces) == 1 and pieces[0].kind in ("word", "mixed")
