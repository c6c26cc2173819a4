"""The page of induce report: classes to look at, rename, merge and split, for keyboard and pointer.

What the reader does is a list of changes of one object, the mapping, which the page saves and opens again.
Classes of one name are one class from then on: they are renamed and merged together until one is separated.
The page is drawn anew after each change, so the script brings back the focus and what was typed but not yet
used, and waits for the pointer to be released: a button must not vanish between pressing and releasing.
"""

from __future__ import annotations

from typing import Any

from hiddenite.files.page import make_page
from hiddenite.induction.naming import FORMAT, VERSION
from hiddenite.induction.report import ClassReport, ClassWord, InductionReport

_STYLE = """
h3 { font-size: .85rem; margin: .9rem 0 .3rem; color: var(--quiet); font-weight: 600; }
button, input, select, .file { font: inherit; color: inherit; background: none; border: 1px solid var(--rule);
  border-radius: 6px; padding: .25rem .7rem; }
select { background: var(--paper); }
button, .file { cursor: pointer; }
button:disabled { opacity: .45; cursor: default; }
.main { background: rgb(var(--mark) / .18); border-color: rgb(var(--mark)); }
#search { flex: 1; min-width: 10rem; }
article { margin: 1.2rem 0; padding: .8rem 1rem 1rem; background: var(--card); border: 1px solid var(--rule);
  border-radius: 10px; }
header { display: flex; gap: .8rem; align-items: center; flex-wrap: wrap; }
header b { min-width: 2.6rem; }
header input { width: 9rem; font-weight: 600; }
.bar { width: 7rem; height: .6rem; border-radius: 4px; background: var(--rule); overflow: hidden; }
.bar i { display: block; height: 100%; background: rgb(var(--mark)); }
.words { display: flex; flex-wrap: wrap; gap: .3rem; }
.words button { padding: .05rem .5rem; border-radius: 12px; }
.words button small, td small { color: var(--quiet); }
.words button[aria-pressed=true] { background: var(--hit); border-color: var(--ink); }
.words button.moved { border-style: dashed; border-color: rgb(var(--warn)); }
.dubious button { border-color: rgb(var(--warn) / .6); }
table { border-collapse: collapse; width: 100%; }
td { padding: .1rem .4rem; vertical-align: top; }
td.left { text-align: right; width: 46%; color: var(--quiet); }
td.mid { font-weight: 600; white-space: nowrap; text-align: center; }
td.right { color: var(--quiet); }
.row { display: flex; gap: .4rem; flex-wrap: wrap; align-items: center; margin-top: .6rem; }
[hidden] { display: none !important; }
"""

_SCRIPT = """
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const view = document.getElementById("view"), box = document.getElementById("search");
const undo = document.getElementById("undo"), tally = document.getElementById("tally");
let mapping = { names: {}, words: {} }, past = [], saved = true, pressed = false, waiting = false;
const drafts = new Map();
const chosen = new Map(data.classes.map(one => [one.t, new Set()]));
const byTag = new Map(data.classes.map(one => [one.t, one]));

function make(name, text, kind) {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  if (kind) node.className = kind;
  return node;
}
function get(from, key) { return Object.hasOwn(from, key) ? from[key] : undefined; }
function put(into, key, value) {  // any word may be a key: "constructor", "__proto__"
  Object.defineProperty(into, key, { value, writable: true, enumerable: true, configurable: true });
}
function button(text, act, key, kind) {
  const node = make("button", text, kind);
  node.type = "button";
  node.dataset.key = key;
  node.addEventListener("click", act);
  return node;
}
function query() { return box.value.trim().toLowerCase(); }
function percent(p) { return (100 * p).toFixed(p > .995 ? 0 : 1) + " %"; }
function label(tag) { return get(mapping.names, tag) || tag; }
function moved(tag, word) { return get(get(mapping.words, tag) || {}, word); }
function partners(tag) {
  return data.classes.map(one => one.t).filter(t => t !== tag && label(t) === label(tag));
}
function clean(name) { return name.trim().replace(/\\s+/g, "_"); }
function change(act) {
  past.push(JSON.stringify(mapping));
  act();
  saved = false;
  draw();
}
function call(old, name) {  // all that is called one way, another way
  for (const one of data.classes) if (label(one.t) === old) put(mapping.names, one.t, name);
  for (const own of Object.values(mapping.words)) {
    for (const word of Object.keys(own)) if (own[word] === old) put(own, word, name);
  }
}
function rename(tag, name) {
  if (clean(name) === label(tag)) return draw();
  if (clean(name)) change(() => call(label(tag), clean(name))); else separate(tag);
}
function merge(tag, other) {
  change(() => call(label(tag), label(other)));
}
function separate(tag) {
  change(() => {
    const rest = partners(tag);
    if (rest.length && label(tag) === tag) rest.forEach(t => put(mapping.names, t, rest[0]));
    delete mapping.names[tag];
  });
}
function split(tag, name) {
  const words = chosen.get(tag);
  if (!words.size || !clean(name)) return;
  change(() => {
    const own = get(mapping.words, tag) || {};
    for (const word of words) {
      if (clean(name) === label(tag)) delete own[word]; else put(own, word, clean(name));
    }
    if (Object.keys(own).length) put(mapping.words, tag, own); else delete mapping.words[tag];
    words.clear();
    drafts.delete(tag);
  });
}
function dubious(one) { return one.d.filter(entry => label(entry[3]) !== label(one.t)); }
function labels() {
  const all = new Set(data.classes.map(one => label(one.t)));
  for (const own of Object.values(mapping.words)) for (const name of Object.values(own)) all.add(name);
  return [...all].sort();
}
function chip(one, entry, doubtful) {
  const [word, tokens, p, other, q] = entry, set = chosen.get(one.t);
  const node = button(undefined, () => {
    if (set.has(word)) set.delete(word); else set.add(word);
    draw();
  }, (doubtful ? "doubt " : "word ") + one.t + " " + word);
  const text = make("span", word);
  text.dir = "auto";
  if (query() && word.toLowerCase().includes(query())) text.className = "hit";
  node.append(text, " ", make("small", doubtful ? "or " + label(other) + " " + percent(q) : tokens));
  node.setAttribute("aria-pressed", set.has(word));
  node.title = tokens + " tokens, " + percent(p) + " " + label(one.t) + ", " + percent(q) + " " +
    label(other);
  const away = moved(one.t, word);
  if (away) { node.classList.add("moved"); node.append(make("small", " → " + away)); }
  return node;
}
function head(one) {
  const top = make("header"), name = make("input"), bar = make("div", undefined, "bar"), fill = make("i");
  name.value = label(one.t);
  name.setAttribute("aria-label", "Name of class " + one.t);
  name.dataset.key = "name " + one.t;
  name.setAttribute("list", "names");
  name.addEventListener("change", () => setTimeout(() => rename(one.t, name.value)));  // focus has moved
  fill.style.width = 100 * one.p + "%";
  bar.append(fill);
  bar.title = "mean probability of the class over its tokens";
  top.append(make("b", one.t), name, make("span", one.n.toLocaleString("en") + " tokens (" +
    percent(one.n / data.tokens) + "), " + one.k.toLocaleString("en") + " words", "meta"), bar,
    make("span", "confidence " + percent(one.p), "meta"));
  const others = partners(one.t);
  if (others.length) {
    top.append(make("span", "one class with " + others.join(", "), "meta"),
      button("Separate", () => separate(one.t), "separate " + one.t));
  }
  return top;
}
function sentences(one) {
  const table = make("table");
  for (const [number, left, word, right] of one.s) {
    const row = table.insertRow();
    for (const [text, kind] of [[left, "left"], [word, "mid"], [right, "right"]]) {
      const cell = make("td", text, kind);
      cell.dir = "auto";
      cell.title = "sentence " + number;
      row.append(cell);
    }
  }
  return table;
}
function similar(one) {
  const row = make("div", undefined, "row");
  for (const [other, value] of one.a) {
    const same = label(other) === label(one.t);
    const words = byTag.get(other).w.slice(0, 3).map(entry => entry[0]).join(", ");
    const node = button((same ? "merged with " : "merge into ") + label(other) + ": " + words + " … (" +
      percent(value) + " similar)", () => merge(one.t, other), "merge " + one.t + " " + other);
    node.disabled = same;
    node.title = "typical words: " + byTag.get(other).w.slice(0, 8).map(entry => entry[0]).join(", ");
    row.append(node);
  }
  return row;
}
function splitter(one) {
  const row = make("div", undefined, "row"), name = make("input"), count = chosen.get(one.t).size;
  name.placeholder = "name of the new class";
  name.dataset.key = "draft " + one.t;
  name.value = drafts.get(one.t) || "";
  name.addEventListener("input", () => drafts.set(one.t, name.value));
  name.setAttribute("list", "names");
  name.setAttribute("aria-label", "Class for the words that are picked in " + one.t);
  const act = button("Move " + count + " picked word" + (count === 1 ? "" : "s"),
    () => split(one.t, name.value), "move " + one.t, "main");
  name.addEventListener("keydown", event => { if (event.key === "Enter") split(one.t, name.value); });
  const pick = button("Pick all dubious words", () => {
    for (const entry of dubious(one)) chosen.get(one.t).add(entry[0]);
    draw();
  }, "pick " + one.t);
  pick.disabled = !dubious(one).length;
  act.disabled = !count;
  row.append(make("span", "Split: pick words, then", "meta"), name, act, pick);
  return row;
}
function article(one) {
  const node = make("article"), words = make("div", undefined, "words");
  node.id = one.t;
  one.w.forEach(entry => words.append(chip(one, entry, false)));
  node.append(head(one), make("h3", "Typical words, with their number of tokens"), words);
  if (dubious(one).length) {
    const doubtful = make("div", undefined, "words dubious");
    dubious(one).forEach(entry => doubtful.append(chip(one, entry, true)));
    node.append(make("h3", "Dubious words, with the class they may belong to instead"), doubtful);
  }
  if (one.s.length) node.append(make("h3", "In context"), sentences(one));
  if (one.a.length) node.append(make("h3", "Classes with similar neighbours"), similar(one));
  node.append(splitter(one));
  return node;
}
function has(one) {
  if (!query()) return true;
  const texts = [label(one.t), one.t, ...one.w.map(entry => entry[0]), ...one.d.map(entry => entry[0])];
  return texts.some(text => text.toLowerCase().includes(query()));
}
function draw() {
  waiting = pressed;
  if (pressed) return;
  const place = scrollY, found = data.classes.filter(has), key = document.activeElement.dataset.key;
  view.replaceChildren(...found.map(article));
  const list = document.getElementById("names");
  list.replaceChildren(...labels().map(name => {
    const node = make("option");
    node.value = name;
    return node;
  }));
  undo.disabled = !past.length;
  tally.textContent = found.length + " of " + data.classes.length + " classes, " + labels().length +
    " names" +
    (saved ? "" : ", not saved");
  const again = key && [...view.querySelectorAll("[data-key]")].find(node => node.dataset.key === key);
  const target = again && again.disabled ? again.parentNode.querySelector("input") : again;
  if (target) target.focus({ preventScroll: true });
  scrollTo(0, place);
}
function save() {
  const record = { format: data.format, version: data.version, ...mapping };
  const link = make("a");
  const text = JSON.stringify(record, null, 1) + "\\n";
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = "names.json";
  link.click();
  saved = true;
  draw();
}
async function load(event) {
  try {
    const record = JSON.parse(await event.target.files[0].text());
    if (record.format !== data.format) throw new Error();
    change(() => { mapping = { names: record.names || {}, words: record.words || {} }; });
  } catch { alert("This is not a mapping file of this page."); }
  event.target.value = "";
}
function release() {
  setTimeout(() => {  // after the click
    pressed = false;
    if (waiting) draw();
  });
}
undo.addEventListener("click", () => { mapping = JSON.parse(past.pop()); saved = false; draw(); });
addEventListener("pointerdown", () => { pressed = true; }, true);
addEventListener("pointerup", release, true);
addEventListener("pointercancel", release, true);
document.getElementById("save").addEventListener("click", save);
document.getElementById("load").addEventListener("change", load);
box.addEventListener("input", draw);
addEventListener("beforeunload", event => { if (!saved) event.preventDefault(); });
draw();
"""

_BODY = """<nav>
<input id="search" type="search" placeholder="Search for a word or a class" aria-label="Search">
<button id="undo" type="button">Undo</button>
<label class="file">Open mapping<input id="load" type="file" accept=".json" hidden></label>
<button id="save" type="button" class="main">Save mapping</button>
<span id="tally" class="meta" role="status"></span></nav>
<datalist id="names"></datalist>
<main id="view"></main>
"""


def page(report: InductionReport, title: str) -> str:
    """Return the page; ``title`` is the name of the run."""
    return make_page(
        f"Classes of {title}", _about(report), _BODY, style=_STYLE, script=_SCRIPT, data=_data(report)
    )


def _about(report: InductionReport) -> str:
    return (
        f"{len(report.classes)} classes of {report.tokens:,} tokens, {report.types:,} words and "
        f"{report.sentences:,} sentences, the largest class first; mean confidence "
        f"{100 * report.confidence:.1f} %. Type a name over a class's number to rename it; merge it with a "
        "similar one by its button, or by giving both one name, and separate them again; pick words to split "
        "a class. Save the mapping and apply it to text: hiddenite induce label TAGGED --mapping names.json."
    )


def _data(report: InductionReport) -> dict[str, Any]:
    """Return what the script reads."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "tokens": report.tokens,
        "classes": [_class(one) for one in report.classes],
    }


def _class(one: ClassReport) -> dict[str, Any]:
    return {
        "t": one.tag,
        "n": one.tokens,
        "k": one.types,
        "p": round(one.confidence, 4),
        "w": [_word(word) for word in one.typical],
        "d": [_word(word) for word in one.dubious],
        "s": [[o.sentence, " ".join(o.left), o.word, " ".join(o.right)] for o in one.occurrences],
        "a": [[tag, round(value, 4)] for tag, value in one.similar],
    }


def _word(one: ClassWord) -> list[Any]:
    return [one.word, one.tokens, round(one.probability, 4), one.other, round(one.other_probability, 4)]
