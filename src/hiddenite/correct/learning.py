"""What a corrector learns from noisy texts and their clean versions.

Pairs of lines are cut into pieces that belong together. One and one word teach how often words are wrong,
which wrong words go with which right ones (remembered as they are), and how letters go wrong (the edit
model's counts, by EM on the wrong pairs only); the other pieces give the rates of splits, merges, hyphens,
marks inside words and tokens that stand for nothing. What was learnt before is kept and added to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from hiddenite._core import edit_distance, train_edits
from hiddenite.correct.corrector import Learnt
from hiddenite.correct.pairs import Piece, align, lower
from hiddenite.correct.settings import Rates, Settings, default_settings
from hiddenite.correct.tokens import PROTECT_ALL
from hiddenite.errors import ModelError

if TYPE_CHECKING:
    from hiddenite.correct.corrector import Corrector

_Key = TypeVar("_Key", bound=Hashable)
ITERATIONS = 5
PRIOR_TOKENS = 100.0  # the rates before learning count as so many words
LEAST_EXPECTED = 0.02  # readings of a smaller probability teach nothing
_MAX_PHRASE = 5


@dataclass
class Counts:
    """What pairs of lines say."""

    words: int = 0
    right: list[int] = field(default_factory=lambda: [0, 0])  # [capitalised]
    wrong: list[int] = field(default_factory=lambda: [0, 0])
    slips: Counter[tuple[str, str]] = field(default_factory=Counter)  # (meant, seen): unequal and alike
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)  # (seen, meant)
    totals: Counter[str] = field(default_factory=Counter)  # meant
    splits: int = 0
    merges: int = 0
    hyphens: int = 0  # before white space
    joined: int = 0  # of them, no part of the word
    glued: int = 0
    spurious: int = 0

    def add_line(self, noisy: str, clean: str) -> None:
        """Count a line and its clean version."""
        small_noisy, small_clean = lower(noisy), lower(clean)
        is_first = True
        for piece in align(noisy, clean):
            a = [small_noisy[t.start : t.end] for t in piece.noisy]
            b = [small_clean[t.start : t.end] for t in piece.clean]
            self._count_hyphens(noisy, piece, a)
            if all(t.kind in ("word", "mixed") for t in piece.clean) and b:
                self.totals.update(b)
                self._add_piece(noisy, piece, a, b, is_first)
            is_first = is_first and not b

    def _count_hyphens(self, noisy: str, piece: Piece, a: list[str]) -> None:
        for k, text in enumerate(a):
            end = piece.noisy[k].end
            if (
                text == "-"
                and end < len(noisy)
                and noisy[end].isspace()
                and not noisy[end - 2 : end - 1].isspace()
            ):
                self.hyphens += 1

    def _add_piece(self, noisy: str, piece: Piece, a: list[str], b: list[str], is_first: bool) -> None:
        kinds = [t.kind for t in piece.noisy]
        are_words = all(kind in ("word", "mixed") for kind in kinds)
        if len(a) == 1 and are_words and len(b) <= _MAX_PHRASE:
            word = noisy[piece.noisy[0].start : piece.noisy[0].end]
            self._add_word(a[0], b, not is_first and word[0].isupper() and not word.isupper())
        elif len(b) == 1 and len(a) == 2 and are_words:
            self._add_two(a, b[0])
        elif len(b) == 1 and len(a) == 3 and kinds[1] == "mark" and alike(b[0], a[0] + a[2]):
            if piece.noisy[2].start > piece.noisy[1].end:
                self.joined += a[1] == "-"
            else:
                self.glued += 1
        elif len(b) == 1 and len(a) == 2 and "mark" in kinds and alike(b[0], a[kinds.index("mark") ^ 1]):
            self.spurious += kinds[0] == "mark"
            self.glued += kinds[1] == "mark"

    def _add_two(self, seen: list[str], meant: str) -> None:
        """Count two tokens for one word: a word in two, or one of them stands for nothing."""
        joined = edit_distance(meant, seen[0] + seen[1])
        alone, which = min((edit_distance(meant, word), k) for k, word in enumerate(seen))
        if alone <= joined and len(seen[1 - which]) <= 2:
            self.spurious += 1
        elif alike(meant, seen[0] + seen[1]):
            self.merges += 1
            self._add_slip(meant, seen[0] + seen[1])

    def _add_word(self, seen: str, meant: list[str], is_capital: bool) -> None:
        self.words += 1
        self.pairs[seen, " ".join(meant)] += 1
        if len(meant) > 1:
            self.splits += "".join(meant) == seen
        elif meant[0] == seen:
            self.right[is_capital] += 1
        elif alike(meant[0], seen):
            self.wrong[is_capital] += 1
            self._add_slip(meant[0], seen)

    def _add_slip(self, meant: str, seen: str) -> None:
        if meant != seen:
            self.slips[meant, seen] += 1

    def add_phrases(self, clean: Iterable[str]) -> None:
        """Count how often the learnt phrases stand in the clean lines as they should."""
        phrases = {meant for _, meant in self.pairs if " " in meant}
        for line in clean if phrases else ():
            words = lower(line).split()
            for n in range(2, _MAX_PHRASE + 1):
                found = (" ".join(words[i : i + n]) for i in range(len(words) - n + 1))
                self.totals.update(phrase for phrase in found if phrase in phrases)
        for (_, meant), count in self.pairs.items():
            if " " in meant:
                self.totals[meant] += count

    def rates(self, before: Rates) -> Rates:
        """Return the rates, those before counting as a few words."""
        n = PRIOR_TOKENS

        def share(count: int, total: int, prior: float) -> float:
            return (count + n * prior) / (total + n)

        word = share(self.wrong[0], self.wrong[0] + self.right[0], before.word)
        capital = share(self.wrong[1], self.wrong[1] + self.right[1], before.capital)
        return Rates(
            word,
            min(capital, word),  # most that are unknown are names
            share(self.splits, self.words, before.split),
            share(self.merges, self.words, before.merge),
            (self.joined + 2 * before.hyphen) / (max(self.hyphens, self.joined) + 2),
            share(self.glued, self.words, before.glue),
            share(self.spurious, self.words, before.spurious),
        )


def alike(a: str, b: str) -> bool:
    """Return whether one word can be a slip of the other, and not just another word in its place."""
    return edit_distance(a, b) <= 0.67 * max(len(a), len(b))


def count_pairs(pairs: Iterable[tuple[str, str]]) -> Counts:
    """Count all pairs of lines."""
    counts = Counts()
    rows = [(noisy, clean) for noisy, clean in pairs]
    for noisy, clean in rows:
        counts.add_line(noisy, clean)
    counts.add_phrases(clean for _, clean in rows)
    return counts


def learn(corrector: Corrector, pairs: Iterable[tuple[str, str]], kind: str | None) -> Corrector:
    """Return the corrector after learning; see :meth:`Corrector.learn`."""
    settings = _settings_of(corrector, kind)
    counts = count_pairs(pairs)
    if counts.words == 0:
        raise ModelError(
            "the pairs have no words in common; give lines of noisy text with their clean versions"
        )
    before = corrector.learnt
    slips = [(meant, seen, float(count)) for (meant, seen), count in sorted(counts.slips.items())]
    keys, edits, _ = train_edits(
        corrector.alphabet, settings.slip_kind, slips, ITERATIONS, before.keys, before.counts
    )
    seen, totals = _sum(before.pairs, counts.pairs), _sum(before.totals, counts.totals)
    learnt = Learnt(keys, edits, seen, totals, corrector.alphabet)
    rates = counts.rates(settings.rates)
    # What people confuse is learnt with the words themselves; a machine's confusions are those of letters.
    known = settings.known_threshold if settings.kind == "ocr" else settings.threshold
    return corrector.with_learnt(learnt, replace(settings, rates=rates, known_threshold=known))


def _settings_of(corrector: Corrector, kind: str | None) -> Settings:
    if kind is None or kind == corrector.settings.kind:
        return corrector.settings
    if len(corrector.learnt.keys):
        raise ModelError(
            f"the model has learnt {corrector.settings.kind} and cannot go on with {kind}; start a new one"
        )
    return default_settings(kind)


def _sum(before: Mapping[_Key, float], new: Mapping[_Key, float]) -> dict[_Key, float]:
    result = dict(before)
    for key, count in new.items():
        result[key] = result.get(key, 0.0) + count
    return result


def learn_unpaired(corrector: Corrector, texts: Iterable[str]) -> Corrector:
    """Return the corrector after one pass over noisy texts; see :meth:`Corrector.learn_unpaired`.

    The posterior says what each word was probably meant as; the edit model and the rate of wrong words are
    estimated from that as if it had been seen. More passes make it worse: what was believed too readily is
    then believed twice.
    """
    rows = [row for text in texts for row in corrector._cutter.cut(text, PROTECT_ALL).rows]
    slips: Counter[tuple[str, str]] = Counter()
    total = wrong = 0.0
    for seen, meant, probability in corrector._core.expect(rows, LEAST_EXPECTED, 0):
        total += probability
        if seen != meant:
            wrong += probability
            slips[meant, seen] += probability  # type: ignore[assignment]
    if total == 0.0:
        raise ModelError("the texts have no words to learn from")
    before = corrector.learnt
    pairs = [(meant, seen, float(weight)) for (meant, seen), weight in sorted(slips.items())]
    keys, edits, _ = train_edits(
        corrector.alphabet, corrector.settings.slip_kind, pairs, ITERATIONS, before.keys, before.counts
    )
    rates = corrector.settings.rates
    n = PRIOR_TOKENS
    word = (wrong + n * rates.word) / (total + n)
    learnt = Learnt(keys, edits, before.pairs, before.totals, corrector.alphabet)
    return corrector.with_learnt(learnt, replace(corrector.settings, rates=replace(rates, word=word)))
