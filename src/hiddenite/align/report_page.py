"""The page of align report: matrices of links, dubious links, the lexicon, for keyboard and pointer."""

from __future__ import annotations

from typing import Any

from hiddenite.align.report import Report
from hiddenite.files.page import make_page

_STYLE = """
button, input { font: inherit; color: inherit; background: none; border: 1px solid var(--rule);
  border-radius: 6px; padding: .3rem .8rem; }
button { cursor: pointer; }
button[aria-pressed=true] { background: rgb(var(--mark) / .2); border-color: rgb(var(--mark)); }
input { flex: 1; min-width: 12rem; }
article { margin: 1.5rem 0 2.5rem; }
article h2 { font-size: 1rem; margin: 0 0 .5rem; }
.scroll { overflow-x: auto; padding-bottom: .3rem; }
table { border-collapse: collapse; }
.matrix thead th { height: 7.5rem; vertical-align: bottom; font-weight: normal; padding: 0; }
.matrix thead th span { writing-mode: vertical-rl; transform: rotate(180deg); white-space: nowrap; }
.matrix tbody th { text-align: right; padding-right: .5rem; font-weight: normal; white-space: nowrap; }
.matrix td { width: 1.5rem; min-width: 1.5rem; height: 1.5rem; padding: 0; border: 1px solid var(--rule);
  background: rgb(var(--mark) / var(--p, 0)); }
.matrix td.link { outline: 2px solid var(--ink); outline-offset: -2px; }
.matrix .on { background-color: var(--hit); }
.list { width: 100%; }
.list th, .list td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--rule);
  vertical-align: top; }
.list td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
#tip { position: fixed; display: none; z-index: 3; background: var(--tip); color: var(--tip-ink);
  padding: .3rem .6rem; border-radius: 6px; pointer-events: none; font-size: .9rem; max-width: 30rem; }
"""

_SCRIPT = """
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const view = document.getElementById("view"), box = document.getElementById("search");
const tip = document.getElementById("tip"), more = document.getElementById("more");
const state = { tab: "pairs", shown: 0, found: [] };
const sizes = { pairs: 10, links: 100, lexicon: 100 };

function make(name, text, kind) {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  if (kind) node.className = kind;
  return node;
}
function word(name, text) {
  const node = make(name, text);
  node.dir = "auto";
  if (query() && text.toLowerCase().includes(query())) node.classList.add("hit");
  return node;
}
function query() { return box.value.trim().toLowerCase(); }
function has(words) { return words.some(one => one.toLowerCase().includes(query())); }
const tests = {
  pairs: one => "line " + one.n === query() || has([one.s.join(" "), one.t.join(" ")]),
  links: one => has([one[1], one[2]]),
  lexicon: one => has([one[0], ...one[2].map(pair => pair[0])]),
};
function percent(p) { return (100 * p).toFixed(1) + " %"; }

function matrix(pair) {
  const article = make("article"), table = make("table", undefined, "matrix");
  article.append(make("h2", "Line " + pair.n));
  article.append(make("div", "about " + (pair.d * (pair.s.length + pair.t.length)).toFixed(1) +
    " wrong decisions expected", "meta"));
  const head = table.createTHead().insertRow();
  head.append(make("th"));
  for (const one of pair.t) { const cell = make("th"); cell.append(word("span", one)); head.append(cell); }
  const p = new Map(pair.c.map(([i, j, value]) => [i * pair.t.length + j, value]));
  const body = table.createTBody();
  pair.s.forEach((one, i) => {
    const row = body.insertRow();
    row.append(word("th", one));
    pair.t.forEach((other, j) => {
      const cell = row.insertCell(), value = p.get(i * pair.t.length + j) || 0;
      cell.style.setProperty("--p", value);
      if (value > 0 && value >= data.threshold) cell.className = "link";
      cell.dataset.tip = one + " – " + other + ": " + (value ? percent(value) : "below 1 %");
    });
  });
  table.addEventListener("pointerover", event => light(table, event.target));
  table.addEventListener("pointerleave", () => light(table, null));
  const scroll = make("div", undefined, "scroll");
  scroll.append(table);
  article.append(scroll);
  return article;
}
function light(table, cell) {
  for (const one of table.querySelectorAll(".on")) one.classList.remove("on");
  if (!cell || !cell.dataset.tip) return;
  cell.parentNode.cells[0].classList.add("on");
  table.tHead.rows[0].cells[cell.cellIndex].classList.add("on");
}
function list(heads, rows) {
  const table = make("table", undefined, "list"), head = table.createTHead().insertRow();
  for (const one of heads) head.append(make("th", one));
  const body = table.createTBody();
  for (const cells of rows) {
    const row = body.insertRow();
    for (const cell of cells) row.append(cell);
  }
  return table;
}
function openPair(number) {
  box.value = "line " + number;
  show("pairs");
}
function linkRow(one) {
  const where = make("td");
  if (data.pairs.some(pair => pair.n === one[0])) {
    const button = make("button", "line " + one[0]);
    button.addEventListener("click", () => openPair(one[0]));
    where.append(button);
  } else where.textContent = "line " + one[0];
  return [word("td", one[1]), word("td", one[2]), make("td", percent(one[3]), "number"), where];
}
function entryRow(one) {
  const cell = make("td");
  one[2].forEach(([other, p], n) => cell.append(n ? ", " : "", word("span", other), " " + percent(p)));
  return [word("td", one[0]), make("td", one[1].toFixed(1), "number"), cell];
}
function grow() {
  const next = state.found.slice(state.shown, state.shown + sizes[state.tab]);
  if (state.tab === "pairs") next.forEach(one => view.append(matrix(one)));
  if (state.tab === "links" && next.length)
    view.append(list(["source word", "target word", "probability", "where"], next.map(linkRow)));
  if (state.tab === "lexicon" && next.length)
    view.append(list(["source word", "links", "translations"], next.map(entryRow)));
  state.shown += next.length;
  more.hidden = state.shown >= state.found.length;
  document.getElementById("count").textContent = state.found.length + " found";
}
function show(tab) {
  state.tab = tab;
  for (const button of document.querySelectorAll("nav button"))
    button.setAttribute("aria-pressed", button.dataset.tab === tab);
  state.found = query() ? data[tab].filter(tests[tab]) : data[tab];
  state.shown = 0;
  view.replaceChildren();
  grow();
}
for (const button of document.querySelectorAll("nav button"))
  button.addEventListener("click", () => show(button.dataset.tab));
box.addEventListener("input", () => show(state.tab));
more.addEventListener("click", grow);
document.addEventListener("pointermove", event => {
  const text = event.target.dataset ? event.target.dataset.tip : undefined;
  tip.style.display = text ? "block" : "none";
  if (!text) return;
  tip.textContent = text;
  tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8) + "px";
});
show("pairs");
"""

_BODY = """<nav><button data-tab="pairs">Sentence pairs</button>
<button data-tab="links">Dubious links</button>
<button data-tab="lexicon">Lexicon</button>
<input id="search" type="search" placeholder="Search for a word, or line 12" aria-label="Search">
<span id="count" class="meta" role="status"></span></nav>
<main id="view"></main>
<button id="more" hidden>Show more</button>
<div id="tip" role="tooltip"></div>
"""


def page(report: Report, source: str, target: str) -> str:
    """Return the page; ``source`` and ``target`` are the names of the texts."""
    title = source if source == target else f"{source} and {target}"
    return make_page(
        f"Links of {title}", _about(report), _BODY, style=_STYLE, script=_SCRIPT, data=_data(report)
    )


def _about(report: Report) -> str:
    shown = (
        "" if len(report.pairs) == report.num_pairs else f" The {len(report.pairs):,} most dubious are shown."
    )
    return (
        f"{report.num_pairs:,} sentence pairs, {report.num_words[0]:,} and {report.num_words[1]:,} words, "
        f"{report.num_links:,} links: those whose probability is {report.threshold:g} or more. Of all "
        f"decisions, link or no link, about {report.doubt:,.0f} are expected to be wrong; where most of them "
        f"are comes first.{shown} The colour of a cell is the link's probability, shown as a number when you "
        "point at it; framed cells are the links."
    )


def _data(report: Report) -> dict[str, Any]:
    """Return what the script reads."""
    return {
        "threshold": report.threshold,
        "pairs": [
            {
                "n": one.number,
                "s": one.source,
                "t": one.target,
                "c": [[i, j, round(p, 4)] for i, j, p in one.links],
                "d": round(one.doubt, 5),
            }
            for one in report.pairs
        ],
        "links": [[one.number, one.source, one.target, round(one.p, 4)] for one in report.links],
        "lexicon": [
            [one.word, round(one.count, 2), [[f, round(p, 4)] for f, p in one.translations]]
            for one in report.lexicon
        ],
    }
