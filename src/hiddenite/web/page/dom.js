// Elements and numbers. Text is only ever set as text, so nothing a user types becomes markup.

export const byId = (id) => document.getElementById(id);

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

export function number(x, digits = 3) {
  if (x === null || x === undefined) return "−∞";
  const text = x.toFixed(digits);
  return text.replace("-", Number(text) === 0 ? "" : "−"); // no zero below zero
}

export const percent = (p) => (p === null ? "–" : p === 0 ? "0%" : p >= 0.9995 ? "100%" : p < 0.001 ? "<0.1%" : `${(100 * p).toFixed(1)}%`);

// A name, a share and a bar as long as the share.
export function bar(name, share) {
  const node = el("div", { class: "bar" }, el("span", { class: "name", dir: "auto" }, name), " ", el("span", {}, percent(share)), " ");
  node.style.setProperty("--share", `${100 * share}%`);
  return node;
}

// `head` are names; those that begin with # head columns of numbers.
export function table(head, rows) {
  const kinds = head.map((name) => (name.startsWith("#") ? { class: "number" } : {}));
  const names = head.map((name, i) => el("th", { scope: "col", ...kinds[i] }, name.replace("#", "")));
  const body = rows.map((row) => el("tr", {}, ...row.map((value, i) => el("td", { ...kinds[i], dir: "auto" }, value))));
  return el("table", {}, el("thead", {}, el("tr", {}, ...names)), el("tbody", {}, ...body));
}

export function showError(node, error) {
  node.hidden = !error;
  node.textContent = error ? error.message : "";
}

export const card = (id) => byId(id).closest(".card");

// What a card shows: "" its answer, "pending" an old one while the new one is on its way, "empty", "failed".
export function mark(cards, state) {
  for (const one of cards) {
    one.dataset.state = state;
    one.setAttribute("aria-busy", String(state === "pending"));
  }
}

export const isPending = (one) => one.dataset.state === "pending";

export const METHODS = {
  refine: "refinement of an upper bound",
  paper: "refinement, as published",
  full: "dynamic programming over all states",
  dominance: "dynamic programming without states that provably lose",
  sparse: "Viterbi over every state that can be reached",
};

// "proved optimal" and by which method, or how far off; and what it took.
export function certificate(node, proof, more = "", what = "") {
  const verdict = proof.exact
    ? el("span", { class: "proved" }, `✓ ${what}proved optimal under this model by ${METHODS[proof.method] ?? proof.method}`)
    : el("span", { class: "unproved" }, proof.gap === null ? "not proved: the time ended first" : `not proved: the time ended within ${number(proof.gap, 2)} of the best`);
  node.replaceChildren(verdict, ` · ${more}method ${proof.method}, ${proof.states.toLocaleString("en")} states`);
}

let tips = 0;

// A word with more about it: for the pointer, for the keyboard, and as a description for screen readers.
export function withTip(node, ...inside) {
  const tip = el("span", { class: "card tip", role: "tooltip", id: `tip-${(tips += 1)}` }, ...inside);
  node.tabIndex = 0;
  node.setAttribute("role", "group");
  node.setAttribute("aria-describedby", tip.id);
  node.append(tip);
  // A tip near the right edge opens to the left.
  const place = () => node.classList.toggle("right", node.getBoundingClientRect().left > window.innerWidth / 2);
  node.addEventListener("mouseenter", place);
  node.addEventListener("focus", place);
  node.addEventListener("keydown", (event) => node.classList.toggle("closed", event.key === "Escape"));
  node.addEventListener("mouseleave", () => node.classList.remove("closed"));
  return node;
}

export const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : word.endsWith("s") ? "es" : "s"}`;

// Runs only the last of many calls, `milliseconds` after it.
export function later(milliseconds, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
}

export function cycle(items) {
  let next = 0;
  return () => items[next++ % items.length];
}
