// The Align tab: one matrix, three searches of the same model, both directions.

import { ask } from "./api.js";
import { byId, card, cycle, el, number, percent, table } from "./dom.js";
import { fillFrom } from "./files.js";
import { remember } from "./link.js";
import { alignPrograms } from "./programs.js";
import { startReport } from "./report.js";
import { pause, turns } from "./turn.js";
import { json, showUse } from "./use.js";

const METHODS = [["exact", "■"], ["viterbi", "○"], ["paper", "×"]];
const DIRECTIONS = { forward: "source → target", reverse: "target → source" };
const IDLE = 80; // milliseconds
const SAMPLES = 100;
const SEED = 1;

const key = (i, j) => `${i}-${j}`;

// One cell is in the Tab order; the arrow keys go from there.
function startCells(table) {
  const rows = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td")]);
  rows.forEach((cells, i) => cells.forEach((cell, j) => {
    cell.tabIndex = i === 0 && j === 0 ? 0 : -1;
    const tell = () => { byId("cell").textContent = cell.getAttribute("aria-label"); };
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

const linked = (answer) => new Set(answer.links.map(([i, j]) => key(i, j)));

// `answers` by method, and those of each direction alone if both were asked for.
function showMatrix(answers) {
  const { source, target, probabilities } = answers.exact;
  const share = new Map((probabilities ?? []).map(([i, j, p]) => [key(i, j), p]));
  const links = Object.fromEntries(METHODS.map(([name]) => [name, linked(answers[name])]));
  const alone = Object.keys(DIRECTIONS).filter((name) => answers[name]).map((name) => [DIRECTIONS[name], linked(answers[name])]);
  const { unknown } = answers.exact;
  const name = (word, side) => el("span", { dir: "auto", ...(unknown[side].includes(word) ? { class: "unknown" } : {}) }, word);
  const head = el("tr", {}, el("td"), ...target.map((word) => el("th", { scope: "col" }, name(word, "target"))));
  const rows = source.map((word, i) => el("tr", {}, el("th", { scope: "row" }, name(word, "source")), ...target.map((other, j) => {
    const p = share.get(key(i, j)) ?? 0;
    const chance = probabilities === null ? "probability not known" : percent(p);
    const found = METHODS.filter(([name]) => links[name].has(key(i, j)));
    const ways = alone.filter(([, set]) => set.has(key(i, j))).map(([name]) => name);
    const text = `${word} – ${other}: ${chance}${found.length ? `; linked by ${found.map(([name]) => name).join(", ")}` : ""}${ways.length ? `; in the direction ${ways.join(" and ")}` : ""}`;
    const cell = el("td", { "aria-label": text, class: p > 0.6 ? "strong" : "" },
      ...found.map(([name, sign]) => el("b", { class: `mark ${name}` }, sign)));
    cell.style.setProperty("--share", p.toFixed(3));
    return cell;
  })));
  const matrix = el("table", { class: "matrix", role: "grid", "aria-label": "Link matrix" }, el("thead", {}, head), el("tbody", {}, ...rows));
  byId("matrix").replaceChildren(matrix);
  byId("cell").textContent = "";
  startCells(matrix);
}

// Links of words that the model has never met are little more than guesses, and say so.
function showUnknown({ source, target, unknown }) {
  const words = [...new Set([...unknown.source, ...unknown.target])];
  const isAll = unknown.source.length === source.length || unknown.target.length === target.length;
  const all = isAll ? " All words of one side are new to it: it was trained on other languages, or on another text." : "";
  byId("align-unknown").replaceChildren(...(words.length === 0 ? [] : [
    "The model does not know", ...words.flatMap((word) => [" ", el("span", { class: "unknown", dir: "auto" }, word)]),
    `: place and spelling alone link such words.${all}`,
  ]));
}

function row(name, answer, best) {
  const { links, log_weight: weight, certificate } = answer;
  const wanted = linked(best);
  const same = links.filter(([i, j]) => wanted.has(key(i, j))).length;
  const gap = certificate.gap === null ? "not proved" : `not proved: within ${number(certificate.gap, 2)} of the best`;
  const proof = certificate.exact ? `✓ optimal under this model, proved by ${certificate.method}` : gap;
  return [name, number(weight), proof, String(links.length), String(links.length + wanted.size - 2 * same)];
}

function showSearches(answers) {
  const rows = METHODS.map(([name, sign]) => row(`${sign} ${name}`, answers[name], answers.exact));
  byId("searches").replaceChildren(table(["search", "#ln weight", "proof", "#links", "#other links than exact"], rows));
  const alone = Object.entries(DIRECTIONS).filter(([name]) => answers[name]).map(([name, label]) => row(label, answers[name], answers.exact));
  byId("directions").hidden = alone.length === 0;
  if (alone.length === 0) return;
  alone.push(row(`both, ${byId("symmetrize").value}`, answers.exact, answers.exact));
  byId("directions").replaceChildren(table(["direction", "#ln weight", "proof", "#links", "#other links than both"], alone));
}

const begin = turns("align-error", () => [card("matrix"), card("searches")]);

function update(files) {
  remember("align");
  const [source, target] = [byId("source").value, byId("target").value];
  const direction = byId("direction").value;
  byId("symmetrize").disabled = direction !== "both";
  const isEmpty = !source.trim() || !target.trim();
  byId("align-empty").hidden = !isEmpty;
  begin(isEmpty, async (signal) => {
    await pause(IDLE, signal);
    const asked = { source, target, direction, symmetrize: byId("symmetrize").value, seed: SEED };
    const drawn = { ...asked, method: "exact", marginals: "samples", samples: SAMPLES };
    const questions = { exact: drawn, viterbi: { ...asked, method: "viterbi" }, paper: { ...asked, method: "paper" } };
    if (direction === "both") for (const one of Object.keys(DIRECTIONS)) questions[one] = { ...asked, method: "exact", direction: one };
    const results = await Promise.all(Object.values(questions).map((one) => ask("align", one, signal)));
    const answers = Object.fromEntries(Object.keys(questions).map((name, i) => [name, results[i]]));
    showMatrix(answers);
    showUnknown(answers.exact);
    showSearches(answers);
    byId("align-draws").textContent = answers.exact.probabilities === null
      ? "The probabilities are not known: nothing could be drawn in the time."
      : `Probabilities are shares of ${SAMPLES} draws${answers.exact.sampling ? `, within about ${percent(2 * answers.exact.sampling.standard_error)}` : ""}; those below 1% are left out.`;
    const pharaoh = answers.exact.links.map(([i, j]) => `${i}-${j}`).join(" ");
    const saved = [["Download links", "links.txt", `${pharaoh}\n`], ["Download JSON", "links.json", json(answers.exact)]];
    const words = (side) => answers.exact[side].join(" ");
    showUse("align", saved, alignPrograms(files, { ...drawn, source: words("source"), target: words("target") }));
  });
}

export function startAlign(info) {
  const examples = info.examples.align ?? [];
  const example = cycle(examples.length ? examples : [["", ""]]);
  const ask = () => update(info.files);
  byId("align-example").hidden = examples.length === 0;
  const fill = () => {
    [byId("source").value, byId("target").value] = example();
    ask();
  };
  for (const id of ["source", "target"]) {
    byId(id).maxLength = info.limits.characters;
    fillFrom(`${id}-file`, id, "align-error", info.limits.characters);
  }
  for (const id of ["source", "target", "direction", "symmetrize"]) byId(id).addEventListener("input", ask);
  byId("align-example").addEventListener("click", fill);
  startReport(info);
  if (byId("source").value || byId("target").value) ask(); // whoever was quick has typed already
  else fill();
  return ask;
}
