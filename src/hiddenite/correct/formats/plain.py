"""Plain text: each line is a passage, or each paragraph where lines are wrapped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hiddenite.correct.documents import Passage
from hiddenite.correct.formats.lines import MAX_LINES, Line, faulty

_MARK = "\ufeff"


def passages(lines: Iterable[Line]) -> Iterator[Passage]:
    """Give each line."""
    for line in lines:
        yield faulty(line) if line.fault is not None else _passage([line])


def paragraphs(lines: Iterable[Line]) -> Iterator[Passage]:
    """Give lines together up to and with the empty ones behind them."""
    waiting: list[Line] = []
    for line in lines:
        is_empty = not line.text.strip()
        ended = waiting and not waiting[-1].text.strip() and not is_empty
        if waiting and (ended or line.fault is not None or len(waiting) >= MAX_LINES):
            yield _passage(waiting)
            waiting = []
        if line.fault is not None:
            yield faulty(line)
        else:
            waiting.append(line)
    if waiting:
        yield _passage(waiting)


def _passage(lines: list[Line]) -> Passage:
    raw = "".join(line.text for line in lines)
    return Passage(raw, raw.replace(_MARK, " "), lines[0].number)
