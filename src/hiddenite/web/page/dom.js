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

export const number = (x, digits = 3) => (x === null || x === undefined ? "−∞" : x.toFixed(digits).replace("-", "−"));
export const percent = (p) => (p === null ? "–" : p >= 0.9995 ? "100%" : p < 0.001 ? "<0.1%" : `${(100 * p).toFixed(1)}%`);

// A name, a share and a bar as long as the share.
export function bar(name, share) {
  const node = el("div", { class: "bar" }, el("span", { class: "name" }, name), el("span", {}, percent(share)));
  node.style.setProperty("--share", `${100 * share}%`);
  return node;
}

// `head` are names; those that begin with # head columns of numbers.
export function table(head, rows) {
  const kinds = head.map((name) => (name.startsWith("#") ? { class: "number" } : {}));
  const names = head.map((name, i) => el("th", { scope: "col", ...kinds[i] }, name.replace("#", "")));
  const body = rows.map((row) => el("tr", {}, ...row.map((value, i) => el("td", kinds[i], value))));
  return el("table", {}, el("thead", {}, el("tr", {}, ...names)), el("tbody", {}, ...body));
}

export function showError(node, error) {
  node.hidden = !error;
  node.textContent = error ? error.message : "";
}

// "proved optimal" or how far off, and what it took.
export function certificate(node, proof, more = "") {
  const verdict = proof.exact
    ? el("span", { class: "proved" }, "✓ proved optimal")
    : el("span", { class: "unproved" }, proof.gap === null ? "not proved" : `not proved: within ${number(proof.gap, 2)} of the best`);
  node.replaceChildren(verdict, ` · ${more}${proof.method}, ${proof.states.toLocaleString("en")} states`);
}

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
