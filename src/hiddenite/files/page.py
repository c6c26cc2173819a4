"""Reports as HTML pages: one file, no request to anywhere, light and dark, small screens too.

A policy in the page's head forbids all that would come from elsewhere, and scripts too where the page has
none. Data of a script is JSON in which no character can end the element that holds it; the script makes text
nodes of it, so that no word of a text is ever read as markup.
"""

from __future__ import annotations

import html
import json
from typing import Any

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --quiet: #5f5f5f; --rule: #ddd;
  --card: #fafafa; --mark: 13 105 80; --hit: #fbe6b3; --warn: 170 90 0; --wrong: #b3261e;
  --tip: #202327; --tip-ink: #f4f4f4; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #16181b; --quiet: #a3a3a3; --rule: #3a3d42; --card: #1d2024;
    --mark: 92 214 176; --hit: #63500f; --warn: 240 170 80; --wrong: #ff8a80; --tip: #ececec;
    --tip-ink: #17181a; }
}
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  padding: 1rem 1.5rem 4rem; max-width: 75rem; }
h1 { font-size: 1.35rem; margin: .5rem 0; }
.about, .meta { color: var(--quiet); }
nav { position: sticky; top: 0; z-index: 2; background: var(--paper); padding: .6rem 0; display: flex;
  gap: .5rem; flex-wrap: wrap; align-items: center; border-bottom: 1px solid var(--rule); }
:focus-visible { outline: 2px solid rgb(var(--mark)); outline-offset: 1px; }
.hit { background: var(--hit); }
"""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'{policy}">
<title>{title}</title>
<style>{style}</style></head><body>
<header><h1>{title}</h1>
<p class="about">{about}</p></header>
{body}{script}</body></html>
"""

_SCRIPT = """<noscript><p>This page needs its script, which is part of the file.</p></noscript>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
"""


def make_page(
    title: str,
    about: str,
    body: str,
    *,
    style: str = "",
    script: str = "",
    data: dict[str, Any] | None = None,
) -> str:
    """Return a page; title and about are plain text, the body is HTML, the data is what the script reads."""
    return _PAGE.format(
        title=html.escape(title),
        about=html.escape(about),
        body=body,
        style=_STYLE + style,
        policy="; script-src 'unsafe-inline'" if script else "",
        script=_SCRIPT.format(data=_json(data or {}), script=script) if script else "",
    )


def _json(data: dict[str, Any]) -> str:
    """Return JSON that no element's end can hide in."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
