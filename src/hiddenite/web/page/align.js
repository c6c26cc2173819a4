// The Align tab: one matrix, three searches of the same model.

import { ask, isAbort } from "./api.js";
import { byId, cycle, el, later, number, percent, showError, table } from "./dom.js";

const METHODS = [["exact", "■"], ["viterbi", "○"], ["paper", "×"]];
const IDLE = 80; // milliseconds

let running = new AbortController();

const key = (i, j) => `${i}-${j}`;

// One cell is in the Tab order; the arrow keys go from there.
function startCells(table) {
  const rows = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td")]);
  rows.forEach((cells, i) => cells.forEach((cell, j) => {
    cell.tabIndex = i === 0 && j === 0 ? 0 : -1;
    const tell = () => { byId("cell").textContent = cell.title; };
    cell.addEventListener("mouseenter", tell);
    cell.addEventListener("focus", tell);
    cell.addEventListener("keydown", (event) => {
      const step = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key];
      const next = step && rows[i + step[0]]?.[j + step[1]];
      if (!next) return;
      event.preventDefault();
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }));
}

function showMatrix(answers) {
  const { source, target, probabilities } = answers.exact;
  const share = new Map((probabilities ?? []).map(([i, j, p]) => [key(i, j), p]));
  const links = Object.fromEntries(METHODS.map(([name]) => [name, new Set(answers[name].links.map(([i, j]) => key(i, j)))]));
  const head = el("tr", {}, el("th"), ...target.map((word) => el("th", { scope: "col" }, el("span", {}, word))));
  const rows = source.map((word, i) => el("tr", {}, el("th", { scope: "row" }, word), ...target.map((other, j) => {
    const p = share.get(key(i, j)) ?? 0;
    const chance = probabilities === null ? "probability not known" : percent(p);
    const found = METHODS.filter(([name]) => links[name].has(key(i, j)));
    const text = `${word} – ${other}: ${chance}${found.length ? `; linked by ${found.map(([name]) => name).join(", ")}` : ""}`;
    const cell = el("td", { title: text, class: p > 0.6 ? "strong" : "" },
      ...found.map(([name, sign]) => el("b", { class: `mark ${name}` }, sign)));
    cell.style.setProperty("--share", p.toFixed(3));
    return cell;
  })));
  const matrix = el("table", { class: "matrix" }, el("thead", {}, head), el("tbody", {}, ...rows));
  byId("matrix").replaceChildren(matrix);
  byId("cell").textContent = "";
  startCells(matrix);
}

function showSearches(answers) {
  const best = answers.exact;
  const wanted = new Set(best.links.map(([i, j]) => key(i, j)));
  const rows = METHODS.map(([name, sign]) => {
    const { links, log_weight: weight, certificate } = answers[name];
    const same = links.filter(([i, j]) => wanted.has(key(i, j))).length;
    const different = links.length + wanted.size - 2 * same;
    const gap = certificate.gap === null ? "none" : `within ${number(certificate.gap, 2)}`;
    return [`${sign} ${name}`, number(weight), certificate.exact ? "✓ optimal" : gap, String(links.length), String(different)];
  });
  byId("searches").replaceChildren(table(["search", "#ln weight", "proof", "#links", "#other links"], rows));
}

const update = later(IDLE, async () => {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const pair = { source: byId("source").value, target: byId("target").value };
  if (!pair.source.trim() || !pair.target.trim()) {
    byId("matrix").textContent = "Type two sentences to see their links.";
    byId("searches").replaceChildren();
    return;
  }
  try {
    const results = await Promise.all(METHODS.map(([method]) =>
      ask("align", { ...pair, method, marginals: method === "exact" ? "samples" : null }, signal)));
    const answers = Object.fromEntries(METHODS.map(([name], i) => [name, results[i]]));
    showMatrix(answers);
    showSearches(answers);
    showError(byId("align-error"), null);
  } catch (error) {
    if (!isAbort(error)) showError(byId("align-error"), error);
  }
});

export function startAlign(info) {
  const examples = info.examples.align ?? [];
  const example = cycle(examples.length ? examples : [["", ""]]);
  byId("align-example").hidden = examples.length === 0;
  const fill = () => {
    [byId("source").value, byId("target").value] = example();
    update();
  };
  for (const id of ["source", "target"]) {
    byId(id).maxLength = info.limits.characters;
    byId(id).addEventListener("input", update);
  }
  byId("align-example").addEventListener("click", fill);
  fill();
}
