"""Alignment matrices as one HTML page: no script, no external request, light and dark."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from hiddenite.align.answers import Alignment

_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Word alignment</title>
<style>
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --rule: #ddd; --mark: 13 105 80; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #16181b; --rule: #333; --mark: 92 214 176; }
}
body { font: 15px/1.4 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem; }
figure { margin: 0 0 3rem; overflow-x: auto; }
table { border-collapse: collapse; }
thead th { height: 7rem; vertical-align: bottom; font-weight: normal; }
thead th span { writing-mode: vertical-rl; transform: rotate(180deg); }
tbody th { text-align: right; padding-right: .5rem; font-weight: normal; }
td { width: 1.6rem; height: 1.6rem; border: 1px solid var(--rule); background: rgb(var(--mark) / var(--p)); }
td.link { outline: 2px solid var(--ink); outline-offset: -2px; }
</style></head><body>
<h1>Word alignment</h1>
<p>Rows are source words, columns target words. The colour of a cell is the link's probability, shown as a
number when the pointer rests on it; framed cells are the links.</p>
"""


def page(pairs: Iterable[tuple[Sequence[str], Sequence[str], Alignment]]) -> str:
    """Return the page of some sentence pairs with their probabilities."""
    return _HEAD + "".join(_figure(*pair) for pair in pairs) + "</body></html>\n"


def _figure(source: Sequence[str], target: Sequence[str], alignment: Alignment) -> str:
    columns = "".join(f"<th><span>{html.escape(word)}</span></th>" for word in target)
    rows = "".join(_row(word, target, alignment, i) for i, word in enumerate(source))
    head = f"<thead><tr><th></th>{columns}</tr></thead>"
    return f"<figure><table>{head}\n<tbody>{rows}</tbody></table></figure>\n"


def _row(word: str, target: Sequence[str], alignment: Alignment, i: int) -> str:
    cells = []
    for j, other in enumerate(target):
        linked = (i, j) in (alignment.links or ())
        p = float(linked) if alignment.probabilities is None else float(alignment.probabilities[i, j])
        title = html.escape(f"{word} – {other}: {p:.3f}", quote=True)
        mark = ' class="link"' if linked else ""
        cells.append(f'<td{mark} style="--p:{min(p, 1.0):.3f}" title="{title}"></td>')
    return f"<tr><th>{html.escape(word)}</th>{''.join(cells)}</tr>\n"
