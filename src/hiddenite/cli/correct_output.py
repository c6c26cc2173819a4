"""What ``hiddenite correct`` writes of its passages: text, changes, JSON, a diff, a page, or drawn texts.

A form is a function of a block of answers. Forms that look at one passage alone give one outcome a passage;
a diff's hunks go over several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from hiddenite.cli.common import json_line
from hiddenite.cli.correct_page import page_head, page_passage
from hiddenite.correct.answers import Change, Correction
from hiddenite.correct.documents import Passage, apply_changes, line_and_column, usable_changes
from hiddenite.correct.formats import WRITERS
from hiddenite.jobs.batch import Outcome
from hiddenite.results import Failure

CONTEXT = 3  # unchanged lines around a hunk
SHOWN = 5  # alternatives in a line of --changes


@dataclass(frozen=True, slots=True)
class Answered:
    """A passage, and what became of it."""

    passage: Passage
    changes: tuple[Change, ...]  # that the document can take
    raw: str  # with these changes
    exact: bool = True

    @classmethod
    def of(cls, passage: Passage, correction: Correction | None, form: str) -> Answered:
        """Return the answer of a passage; without a correction it stays as it is."""
        if correction is None:
            return cls(passage, (), passage.raw)
        changes = tuple(usable_changes(passage, correction.changes))
        raw = apply_changes(passage, changes, WRITERS.get(form))
        return cls(passage, changes, raw, correction.certificate.exact)

    def text(self) -> str:
        """Return the words as they are now, in the document's markup where that is text itself."""
        if self.passage.words is None:
            return self.raw
        pieces, done = [], 0
        for change in self.changes:
            pieces += [self.passage.text[done : change.start], change.new]
            done = change.end
        return "".join([*pieces, self.passage.text[done:]])

    def outcome(self, text: str) -> Outcome:
        """Return what is written of it."""
        return Outcome(text, self.passage.line, self.passage.fault, self.exact)


Form = Callable[[Sequence[Answered], Sequence[Correction | None], int, str], list[Outcome]]


def as_text(block: Sequence[Answered], _: object, __: int, ___: str) -> list[Outcome]:
    """Return the document."""
    return [one.outcome(one.raw) for one in block]


def as_changes(block: Sequence[Answered], _: object, __: int, ___: str) -> list[Outcome]:
    """Return a line a change: line:column, old, new, probability, alternatives."""
    return [
        one.outcome("".join(_change_line(one.passage, change) for change in one.changes)) for one in block
    ]


def _change_line(passage: Passage, change: Change) -> str:
    line, column = line_and_column(passage, change.start)
    others = ", ".join(f"{_one_line(one.text)} {one.probability:.3f}" for one in change.alternatives[:SHOWN])
    old, new = _one_line(change.old), _one_line(change.new)
    return f"{line}:{column}\t{old}\t{new}\t{change.probability:.3f}\t{others}\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def as_json(
    block: Sequence[Answered], corrections: Sequence[Correction | None], _: int, form: str
) -> list[Outcome]:
    """Return an object a passage; of documents only passages that have text."""
    pairs = zip(block, corrections, strict=True)
    kept = [
        pair for pair in pairs if form == "plain" or pair[0].passage.text.strip() or pair[0].passage.fault
    ]
    return [answer.outcome(json_line(_record(answer, correction))) for answer, correction in kept]


def _record(answer: Answered, correction: Correction | None) -> dict[str, object]:
    passage = answer.passage
    if correction is None:
        return Failure(passage.fault or "", None, passage.line).to_dict()
    places = [line_and_column(passage, change.start) for change in answer.changes]
    changes = [
        {"line": line, "column": column} | change.to_dict()
        for (line, column), change in zip(places, answer.changes, strict=True)
    ]
    certificate = correction.certificate.to_dict()
    text = answer.text().removesuffix("\n").removesuffix("\r")
    return {"id": passage.line, "text": text, "changes": changes, "certificate": certificate}


def as_page(block: Sequence[Answered], _: object, first: int, name: str) -> list[Outcome]:
    """Return a part of an HTML page; the first block begins it, and HTML needs no end."""
    head = [Outcome(page_head(name), 0)] if first == 0 else []
    return head + [one.outcome(page_passage(one.passage, one.changes)) for one in block]


# ------------------------------------------------------------------------- diff


def as_diff(block: Sequence[Answered], _: object, __: int, name: str) -> list[Outcome]:
    """Return the hunks of a unified diff; no change adds or removes a line, so both sides number alike."""
    lines = [line for one in block for line in _line_pairs(one)]
    marked = [place for place, (_, old, new) in enumerate(lines) if old != new]
    failed = [one.outcome("") for one in block if one.passage.fault is not None]
    if not marked:
        return failed
    head = f"--- {name}\n+++ {name}\n"
    hunks = "".join(_hunk(lines[first:end]) for first, end in _ranges(marked, len(lines)))
    exact = all(one.exact for one in block)
    return [Outcome(head + hunks, lines[marked[0]][0], None, exact), *failed]


def _line_pairs(answer: Answered) -> Iterator[tuple[int, str, str]]:
    """Give the number, the old and the new content of each line."""
    pairs = zip(_split(answer.passage.raw), _split(answer.raw), strict=True)
    for number, (old, new) in enumerate(pairs, answer.passage.line):
        yield number, old, new


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _ranges(marked: Iterable[int], size: int) -> list[tuple[int, int]]:
    """Return the lines of each hunk: those marked with their context, joined where they meet."""
    found: list[tuple[int, int]] = []
    for place in marked:
        first, end = max(0, place - CONTEXT), min(size, place + CONTEXT + 1)
        if found and first <= found[-1][1]:
            first = found.pop()[0]
        found.append((first, end))
    return found


def _hunk(lines: Sequence[tuple[int, str, str]]) -> str:
    where = f"{lines[0][0]},{len(lines)}"
    texts = [f"@@ -{where} +{where} @@\n"]
    removed: list[str] = []
    added: list[str] = []
    for _, old, new in lines:
        if old == new:
            texts += [*removed, *added, _marked(" ", old)]
            removed, added = [], []
        else:
            removed.append(_marked("-", old))
            added.append(_marked("+", new))
    return "".join([*texts, *removed, *added])


def _marked(mark: str, line: str) -> str:
    return mark + line + ("" if line.endswith("\n") else "\n\\ No newline at end of file\n")


FORMS: dict[str, Form] = {
    "text": as_text,
    "changes": as_changes,
    "json": as_json,
    "diff": as_diff,
    "html": as_page,
}
