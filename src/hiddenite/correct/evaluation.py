"""How good a corrector is, against texts with their right versions.

A noisy text and its right version are cut into pieces that belong together (:mod:`hiddenite.correct.pairs`);
pieces that one change covers are one. With *seen*, *right* and *made* the piece before, in the right version
and after correction, letters of any case being equal:

- **true** changes: seen != made = right; **wrong** ones: seen != made != right; **missed**: seen != right
  and made != right
- precision = true / (true + wrong), recall = true / (number of pieces with seen != right), over pieces with
  a word; F_b = (1 + b^2) P R / (b^2 P + R)
- **spoilt**: share of the pieces with seen = right whose made is another
- word error: insertions, deletions and substitutions of words between white space, over the right words;
  character error the same of characters
- calibration: changes are put into ten bins by their printed probability; the expected calibration error is
  the mean over changes of |mean probability - share of true ones| of their bin
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from hiddenite._core import edit_distance
from hiddenite.correct.answers import Change, Correction
from hiddenite.correct.pairs import Piece, align, lower, span_text

if TYPE_CHECKING:
    from hiddenite.correct.corrector import Corrector

NUM_BINS = 10
NUM_MISTAKES = 10


class Judged(NamedTuple):
    """A piece of a text after correction."""

    seen: str
    right: str
    made: str
    changes: tuple[Change, ...]
    start: int  # of the piece, in the noisy text


@dataclass(frozen=True, slots=True)
class Bin:
    """Changes of like probability."""

    count: int
    probability: float  # their mean,
    true: float  # and the share that is right


@dataclass(frozen=True, slots=True)
class Mistake:
    """A frequent error of the corrector."""

    seen: str
    made: str
    right: str
    count: int
    context: str  # where it was made first


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How good a corrector is."""

    precision: float
    recall: float
    f1: float
    f05: float
    spoilt: float  # share of the good pieces
    words: int  # pieces with a word
    errors: int  # of them, wrong before
    true: int
    wrong: int
    word_error_before: float
    word_error: float
    character_error_before: float
    character_error: float
    calibration_error: float
    bins: tuple[Bin, ...]
    mistakes: tuple[Mistake, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return asdict(self)


def judge(noisy: str, right: str, changes: Sequence[Change]) -> Iterator[Judged]:
    """Yield the pieces of a text that hold a word, as they were, should be and became."""
    for group in _groups(list(align(noisy, right)), changes):
        pieces = [piece for piece, _ in group]
        made_by = tuple(dict.fromkeys(change for _, found in group for change in found))
        seen_tokens = tuple(t for piece in pieces for t in piece.noisy)
        right_tokens = tuple(t for piece in pieces for t in piece.clean)
        if not any(t.kind in ("word", "mixed") for t in seen_tokens):
            continue
        start, end = seen_tokens[0].start, seen_tokens[-1].end
        made = _applied(noisy, start, end, made_by)
        seen, meant = lower(span_text(noisy, seen_tokens)), lower(span_text(right, right_tokens))
        yield Judged(seen, meant, lower(" ".join(made.split())), made_by, start)


def _groups(pieces: list[Piece], changes: Sequence[Change]) -> Iterator[list[tuple[Piece, list[Change]]]]:
    """Yield pieces with the changes that touch them; those that share a change come together."""
    group: list[tuple[Piece, list[Change]]] = []
    reach = -1  # the end of the last change so far
    k = 0
    for piece in pieces:
        start = piece.noisy[0].start if piece.noisy else reach
        end = piece.noisy[-1].end if piece.noisy else reach
        if group and start >= reach and piece.noisy:
            yield group
            group = []
        while k < len(changes) and changes[k].end <= start:
            k += 1
        found = [c for c in changes[k : k + 8] if c.start < end and c.end > start]
        reach = max([reach, end, *(c.end for c in found)]) if found else max(reach, 0)
        group.append((piece, found))
    if group:
        yield group


def _applied(text: str, start: int, end: int, changes: Iterable[Change]) -> str:
    made = []
    for change in changes:
        made += [text[start : change.start], change.new]
        start = change.end
    return "".join([*made, text[start:end]])


@dataclass
class Tally:
    """Sums over texts."""

    words: int = 0
    good: int = 0
    errors: int = 0
    true: int = 0
    wrong: int = 0
    spoilt: int = 0
    edits: list[int] = field(
        default_factory=lambda: [0] * 6
    )  # words: before, after, right; characters: the same
    judged: list[tuple[float, bool]] = field(default_factory=list)  # changes: probability, right
    mistakes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    contexts: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def add(self, noisy: str, right: str, correction: Correction) -> None:
        """Add a text."""
        for piece in judge(noisy, right, correction.changes):
            self._add_piece(noisy, piece)
        texts = noisy, correction.text, right
        for k, (a, b, c) in enumerate((map(str.split, texts), map(list, texts))):
            self.edits[3 * k] += _distance(a, c)
            self.edits[3 * k + 1] += _distance(b, c)
            self.edits[3 * k + 2] += len(c)

    def _add_piece(self, noisy: str, piece: Judged) -> None:
        self.words += 1
        is_error, is_changed, is_right = (
            piece.seen != piece.right,
            piece.seen != piece.made,
            piece.made == piece.right,
        )
        self.good += not is_error
        self.errors += is_error
        self.true += is_changed and is_right
        self.wrong += is_changed and not is_right
        self.spoilt += not is_error and is_changed
        self.judged += [(change.probability, is_right) for change in piece.changes]
        if not is_right:
            key = (piece.seen, piece.made, piece.right)
            self.mistakes[key] += 1
            self.contexts.setdefault(
                key, " ".join(noisy[max(0, piece.start - 30) : piece.start + 40].split())
            )

    def evaluation(self) -> Evaluation:
        """Return the figures."""
        precision = _share(self.true, self.true + self.wrong)
        recall = _share(self.true, self.errors)
        bins = calibration_bins(self.judged)
        total = sum(one.count for one in bins)
        error = sum(one.count * abs(one.probability - one.true) for one in bins) / total if total else 0.0
        e = self.edits
        return Evaluation(
            precision,
            recall,
            f_measure(precision, recall, 1.0),
            f_measure(precision, recall, 0.5),
            _share(self.spoilt, self.good),
            self.words,
            self.errors,
            self.true,
            self.wrong,
            _share(e[0], e[2]),
            _share(e[1], e[2]),
            _share(e[3], e[5]),
            _share(e[4], e[5]),
            error,
            bins,
            tuple(
                Mistake(seen, made, right, count, self.contexts[seen, made, right])
                for (seen, made, right), count in self.mistakes.most_common(NUM_MISTAKES)
            ),
        )


def f_measure(precision: float, recall: float, beta: float) -> float:
    """Return (1 + b^2) P R / (b^2 P + R)."""
    below = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / below if below else 0.0


def calibration_bins(judged: Iterable[tuple[float, bool]]) -> tuple[Bin, ...]:
    """Return the bins of changes (probability, right) that are not empty."""
    found: dict[int, list[tuple[float, bool]]] = {}
    for probability, is_right in judged:
        found.setdefault(min(int(probability * NUM_BINS), NUM_BINS - 1), []).append((probability, is_right))
    return tuple(
        Bin(len(rows), sum(p for p, _ in rows) / len(rows), sum(r for _, r in rows) / len(rows))
        for _, rows in sorted(found.items())
    )


def evaluate(corrector: Corrector, pairs: Iterable[tuple[str, str]], *, careful: bool = False) -> Evaluation:
    """Judge a corrector by pairs of a noisy text and its right version."""
    rows = list(pairs)
    tally = Tally()
    corrections = corrector.correct_many((noisy for noisy, _ in rows), careful=careful)
    for (noisy, right), correction in zip(rows, corrections, strict=True):
        tally.add(noisy, right, correction)
    return tally.evaluation()


def _distance(a: list[str], b: list[str]) -> int:
    """Return the edit distance of sequences: each different item becomes a character."""
    numbers: dict[str, str] = {}
    texts = [
        "".join(numbers.setdefault(item, chr(0x100 + len(numbers))) for item in items) for items in (a, b)
    ]
    return edit_distance(*texts)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
