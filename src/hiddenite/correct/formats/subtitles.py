"""Subtitles: SubRip (SRT) and WebVTT. Numbers, times, tags, notes and styles are masked.

A sentence often goes on in the next cue, so a passage takes cues up to the end of a sentence, at most a few.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from hiddenite.correct.documents import Passage
from hiddenite.correct.formats.lines import Line, blank, faulty, masked

SRT_TIMES = r"[ \t]*\d{1,3}:\d\d:\d\d[,.]\d{1,3}[ \t]*-->"
MAX_CUES = 8
_TIMES = {
    "srt": re.compile(SRT_TIMES),
    "vtt": re.compile(r"[ \t]*(?:\d{1,4}:)?\d\d:\d\d\.\d{3}[ \t]*-->"),
}
_MARKUP = re.compile(
    r"</?[A-Za-z0-9][^<>\n]*>|\{\\[^{}\n]*\}|&(?:#\d+|#x[0-9a-fA-F]+|\w+);|^[ \t]*-(?=[ \t]?\S)", re.M
)
_NOTES = ("WEBVTT", "NOTE", "STYLE", "REGION")
_SENTENCE_END = re.compile(r"""[.!?…]["'”’»)\]]*\s*$""")


def passages(lines: Iterable[Line], form: str) -> Iterator[Passage]:
    """Give cues, as many together as make a sentence."""
    waiting: list[tuple[Line, str]] = []  # with its text
    cues = 0
    for cue in _cues(lines):
        if cue[0].fault is not None:
            yield from _flush(waiting)
            yield faulty(cue[0])
            waiting, cues = [], 0
            continue
        texts = _texts(cue, form)
        waiting += zip(cue, texts, strict=True)
        cues += 1
        spoken = "".join(texts).rstrip()
        if cues == MAX_CUES or not spoken or _SENTENCE_END.search(spoken):
            yield from _flush(waiting)
            waiting, cues = [], 0
    yield from _flush(waiting)


def _flush(waiting: list[tuple[Line, str]]) -> Iterator[Passage]:
    if waiting:
        raw = "".join(line.text for line, _ in waiting)
        yield Passage(raw, "".join(text for _, text in waiting), waiting[0][0].number)


def _cues(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Give the lines up to and with the empty ones behind them."""
    waiting: list[Line] = []
    for line in lines:
        is_new = waiting and not waiting[-1].text.strip() and line.text.strip()
        if waiting and (is_new or line.fault is not None):
            yield waiting
            waiting = []
        if line.fault is not None:
            yield [line]
        else:
            waiting.append(line)
    if waiting:
        yield waiting


def _texts(cue: list[Line], form: str) -> list[str]:
    """Return the text of each line of a cue: blank up to the times. What has no times is a note."""
    times = next((place for place, line in enumerate(cue) if _TIMES[form].match(line.text)), len(cue))
    is_note = form == "vtt" and cue[0].text.removeprefix("\ufeff").startswith(_NOTES)
    if is_note:
        times = len(cue)
    hidden = [blank(line.text) for line in cue[: times + 1]]
    return hidden + [masked(line.text, _spans(line.text)) for line in cue[times + 1 :]]


def _spans(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _MARKUP.finditer(text)]
