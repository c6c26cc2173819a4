"""A corrected text as one HTML page: no script, no external request, light and dark.

Each change is marked by how sure it is; what it was and what else it can be shows when the pointer rests on
it or the keyboard reaches it. The page is written as the text is read: it has no closing tags, which HTML
does not need.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from hiddenite.correct.answers import Change
from hiddenite.correct.documents import Passage, line_and_column

SURE, LIKELY = 0.9, 0.7
SHOWN = 5
_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{name}, corrected</title>
<style>
:root {{ color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --quiet: #5f5f5f; --rule: #d8d8d8;
  --sure: #c9ecd9; --likely: #fbe6b3; --unsure: #f7cfc4; --tip: #202327; --tip-ink: #f4f4f4; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #e6e6e6; --paper: #16181b; --quiet: #a3a3a3; --rule: #383b40;
    --sure: #1f5137; --likely: #63500f; --unsure: #6d2f22; --tip: #ececec; --tip-ink: #17181a; }}
}}
body {{ font: 16px/1.6 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  margin: 2rem auto; padding: 0 1rem; max-width: 50rem; }}
h1 {{ font-size: 1.3rem; }}
.about {{ color: var(--quiet); border-bottom: 1px solid var(--rule); padding-bottom: 1rem; }}
main {{ white-space: pre-wrap; overflow-wrap: anywhere; }}
mark {{ color: inherit; border-radius: 3px; padding: 0 .15em; position: relative; cursor: help;
  border-bottom: 2px solid; }}
mark.sure {{ background: var(--sure); }}
mark.likely {{ background: var(--likely); border-bottom-style: dashed; }}
mark.unsure {{ background: var(--unsure); border-bottom-style: dotted; }}
mark .tip {{ display: none; position: absolute; left: 0; top: 1.9em; z-index: 1; padding: .5em .8em;
  width: max-content; max-width: 18rem; border-radius: 6px; background: var(--tip); color: var(--tip-ink);
  font-size: .85rem; line-height: 1.4; white-space: pre-line; }}
mark:hover .tip, mark:focus .tip {{ display: block; }}
mark:focus {{ outline: 2px solid currentcolor; outline-offset: 2px; }}
</style></head><body>
<h1>{name}, corrected</h1>
<p class="about">Marked words have changed: <mark class="sure">sure</mark> (90 % or more),
<mark class="likely">likely</mark> (70 % or more), <mark class="unsure">less sure</mark>. Point at one, or
reach it with the Tab key, to see what it was and what else it can be.</p>
<main>"""


def page_head(name: str) -> str:
    """Return the beginning of a page about the file ``name``."""
    return _HEAD.format(name=html.escape(name))


def page_passage(passage: Passage, changes: Sequence[Change]) -> str:
    """Return a passage's text with its changes marked; of OCR files the words, not the markup."""
    shown = passage.raw if passage.words is None else passage.text
    if passage.fault is not None:
        shown = shown.encode(errors="surrogateescape").decode(errors="replace")
    pieces, done = [], 0
    for change in changes:
        pieces += [html.escape(shown[done : change.start]), _mark(passage, change)]
        done = change.end
    return "".join([*pieces, html.escape(shown[done:]), "\n\n" if passage.words else ""])


def _mark(passage: Passage, change: Change) -> str:
    kind = "sure" if change.probability >= SURE else "likely" if change.probability >= LIKELY else "unsure"
    line, column = line_and_column(passage, change.start)
    others = [f"{one.text} {100 * one.probability:.1f} %" for one in change.alternatives[:SHOWN]]
    rows = [f"was: {change.old}", f"{change.new} {100 * change.probability:.1f} %", *others]
    tip = html.escape("\n".join([*rows, f"line {line}, column {column}"]))
    new = html.escape(change.new) or "∅"
    return f'<mark class="{kind}" tabindex="0">{new}<span class="tip" role="note">{tip}</span></mark>'
