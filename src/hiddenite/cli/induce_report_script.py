"""The script of the page of induce report.

What the reader does is a list of changes of one object, the mapping, which the page saves and opens again.
Classes of one name are one class from then on: they are renamed and merged together until one is separated.
The page is drawn anew after each change, so the script brings back the focus and what was typed but not yet
used, and waits for the pointer to be released: a button must not vanish between pressing and releasing.
A mapping of another run is opened only if the reader says so, who is told how many of its typical words have
the same class here.
"""

from __future__ import annotations

SCRIPT = """
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
function percent(p) { return (100 * p).toFixed(p >= .9995 ? 0 : 1) + " %"; }
function count(n, one, more) { return n.toLocaleString("en") + " " + (n === 1 ? one : more); }
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
function matches(word) { return query() && word.toLowerCase().includes(query()); }
function listed(one) {  // the typical words, and others that are searched for, picked or moved
  const more = [];
  let room = one.w.length;
  for (const entry of one.r) {
    const held = chosen.get(one.t).has(entry[0]) || moved(one.t, entry[0]);
    if (held || (matches(entry[0]) && room-- > 0)) more.push(entry);
  }
  return [...one.w, ...more];
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
  const text = make("bdi", word, matches(word) ? "hit" : "");
  node.append(text, " ", make("small", doubtful ? "or " + label(other) + " " + percent(q) : tokens));
  node.setAttribute("aria-pressed", set.has(word));
  node.title = count(tokens, "token", "tokens") + ", " + percent(p) + " " + label(one.t) + ", " +
    percent(q) + " " + label(other);
  const away = moved(one.t, word);
  if (away) { node.classList.add("moved"); node.append(make("small", " → " + away)); }
  return node;
}
function head(one) {
  const top = make("header"), name = make("input"), bar = make("div", undefined, "bar"), fill = make("i");
  name.value = label(one.t);
  name.dir = "auto";
  name.setAttribute("aria-label", "Name of class " + one.t);
  name.dataset.key = "name " + one.t;
  name.setAttribute("list", "names");
  name.addEventListener("change", () => setTimeout(() => rename(one.t, name.value)));  // focus has moved
  fill.style.width = 100 * one.p + "%";
  bar.append(fill);
  bar.title = "how probable the class is, mean over its tokens";
  top.append(make("h2", one.t), name, make("span", count(one.n, "token", "tokens") + " (" +
    percent(one.n / data.tokens) + "), " + count(one.k, "word", "words"), "meta"), bar,
    make("span", "confidence " + percent(one.p), "meta"));
  const others = partners(one.t);
  if (others.length) {
    top.append(make("span", "one class with " + others.join(", "), "meta"),
      button("Separate", () => separate(one.t), "separate " + one.t));
  }
  return top;
}
function sentences(one) {
  return one.s.map(([number, before, word, after]) => {
    const line = make("p", undefined, "line");
    line.dir = "auto";  // from right to left, what comes before is on the right
    line.title = "sentence " + number;
    line.append(make("span", before), " ", make("b", word), " ", make("span", after));
    return line;
  });
}
function similar(one) {
  const row = make("div", undefined, "row");
  for (const [other, value] of one.a) {
    const same = label(other) === label(one.t);
    const words = byTag.get(other).w.slice(0, 3).flatMap(entry => [", ", make("bdi", entry[0])]).slice(1);
    const node = button(undefined, () => merge(one.t, other), "merge " + one.t + " " + other);
    node.append(same ? "merged with " : "merge into ", make("bdi", label(other)), ": ", ...words, " … (" +
      percent(value) + " similar)");
    node.disabled = same;
    node.title = "typical words: " + byTag.get(other).w.slice(0, 8).map(entry => entry[0]).join(", ");
    row.append(node);
  }
  return row;
}
function splitter(one) {
  const row = make("div", undefined, "row"), name = make("input"), size = chosen.get(one.t).size;
  name.dir = "auto";
  name.placeholder = "name of the new class";
  name.dataset.key = "draft " + one.t;
  name.value = drafts.get(one.t) || "";
  name.addEventListener("input", () => drafts.set(one.t, name.value));
  name.setAttribute("list", "names");
  name.setAttribute("aria-label", "Class for the words that are picked in " + one.t);
  const act = button("Move " + count(size, "picked word", "picked words"),
    () => split(one.t, name.value), "move " + one.t, "main");
  name.addEventListener("keydown", event => { if (event.key === "Enter") split(one.t, name.value); });
  const pick = button("Pick all dubious words", () => {
    for (const entry of dubious(one)) chosen.get(one.t).add(entry[0]);
    draw();
  }, "pick " + one.t);
  pick.disabled = !dubious(one).length;
  act.disabled = !size;
  row.append(make("span", "Split: pick words, then", "meta"), name, act, pick);
  return row;
}
function article(one) {
  const node = make("article"), words = make("div", undefined, "words");
  node.id = one.t;
  listed(one).forEach(entry => words.append(chip(one, entry, false)));
  const part = one.r.length ? " (" + one.w.length + " of " + one.k.toLocaleString("en") + ")" : "";
  node.append(head(one), make("h3", "Typical words" + part + ", with their number of tokens"), words);
  if (dubious(one).length) {
    const doubtful = make("div", undefined, "words dubious");
    dubious(one).forEach(entry => doubtful.append(chip(one, entry, true)));
    node.append(make("h3", "Dubious words, with the class they may belong to instead"), doubtful);
  }
  if (one.s.length) node.append(make("h3", "In context"), ...sentences(one));
  if (one.a.length) node.append(make("h3", "Classes with similar neighbours"), similar(one));
  node.append(splitter(one));
  return node;
}
function has(one) {
  if (!query()) return true;
  return matches(label(one.t)) || matches(one.t) || [...one.w, ...one.r].some(entry => matches(entry[0]));
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
  tally.textContent = found.length + " of " + count(data.classes.length, "class", "classes") + ", " +
    count(labels().length, "name", "names") + (saved ? "" : ", not saved");
  const again = key && [...view.querySelectorAll("[data-key]")].find(node => node.dataset.key === key);
  const target = again && again.disabled ? again.parentNode.querySelector("input") : again;
  if (target) target.focus({ preventScroll: true });
  scrollTo(0, place);
}
function save() {
  const { format, version, run, typical } = data, record = { format, version, ...mapping, run, typical };
  const link = make("a");
  const text = JSON.stringify(record, null, 1) + "\\n";
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = "names.json";
  link.click();
  saved = true;
  draw();
}
function isRecord(part) { return typeof part === "object" && part !== null && !Array.isArray(part); }
function areNames(part) {
  return areTexts(part) && Object.values(part).every(name => name && clean(name) === name);
}
function areTexts(part) {
  return isRecord(part) && Object.values(part).every(text => typeof text === "string");
}
function fit(typical) {  // typical words that occur here, and those of them that mostly have their class
  const homes = new Map(), seen = new Map();
  for (const [tag, words] of Object.entries(typical)) {
    for (const word of words.split(" ")) homes.set(word, (homes.get(word) || new Set()).add(tag));
  }
  for (const one of data.classes) {
    for (const [word, tokens] of [...one.w, ...one.r]) {
      if (!homes.has(word)) continue;
      const [total, home] = seen.get(word) || [0, 0];
      seen.set(word, [total + tokens, home + (homes.get(word).has(one.t) ? tokens : 0)]);
    }
  }
  const all = [...seen.values()];
  return [all.length, all.filter(([total, home]) => 2 * home >= total).length];
}
function doubt({ names, words, run, typical }) {  // why a mapping may be none of this run
  const strange = Object.keys({ ...names, ...words }).filter(tag => !byTag.has(tag));
  if (run !== undefined && run !== data.run) {
    const [found, good] = fit(typical);
    return "was saved for another run" + (!found ? "" : ": of its " +
      count(found, "typical word", "typical words") + " in this text, " + good +
      (good === 1 ? " has" : " have") + " the same class here");
  }
  return strange.length ? "names " + strange.slice(0, 3).join(", ") + ", which this run does not have" : "";
}
async function load(event) {
  const file = event.target.files[0];
  try {
    const record = { names: {}, words: {}, typical: {}, ...JSON.parse(await file.text()) };
    const { format, version, names, words, typical } = record;
    const good = isRecord(words) && [names, ...Object.values(words)].every(areNames) && areTexts(typical);
    if (format !== data.format || version !== data.version || !good) throw new Error();
    const why = doubt(record);
    if (!why || confirm(file.name + " " + why + ". Open it all the same?")) {
      change(() => { mapping = { names, words }; });
    }
  } catch { alert(file.name + " is not a mapping. Choose a names.json that was saved on this page."); }
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
