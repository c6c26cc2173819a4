// The Correct tab: raw text in, raw text out, with every change marked.

import { ask } from "./api.js";
import { bar, byId, card, certificate, cycle, el, percent, plural, table, withTip } from "./dom.js";
import { fillFrom } from "./files.js";
import { next, remember } from "./link.js";
import { correctPrograms } from "./programs.js";
import { pause, turns } from "./turn.js";
import { json, showUse } from "./use.js";

const IDLE = 120; // milliseconds without a key press before the text is sent
const SHOWN = 5; // alternatives of a word
const SURE = 0.9;
const LIKELY = 0.7;

const certainty = (p) => (p >= SURE ? "sure" : p >= LIKELY ? "likely" : "unsure");

function others(change) {
  return change.alternatives.slice(0, SHOWN).filter((one) => one.text !== change.new);
}

// A changed word: how sure it is, what it was, and what else it can be.
function changed(change) {
  const rows = [bar(change.new || "nothing", change.probability), ...others(change).map((one) => bar(one.text || "nothing", one.probability))];
  const label = `${change.new || "nothing"}, was ${change.old}, probability ${percent(change.probability)}`;
  const node = el("span", { class: `change ${certainty(change.probability)}`, "aria-label": label }, change.new || "∅");
  return withTip(node, el("span", { class: "note" }, `was: ${change.old}`), ...rows);
}

// Offsets count characters, not the units of a JavaScript string.
function pieces(text, changes, show) {
  const characters = [...text];
  const nodes = [];
  let done = 0;
  for (const change of changes) {
    nodes.push(characters.slice(done, change.start).join(""), show(change));
    done = change.end;
  }
  return [...nodes, characters.slice(done).join("")];
}

// Words that the model does not know have a dotted line.
function withUnknown(text, unknown) {
  if (unknown.length === 0) return [text];
  const escaped = unknown.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(?<![\\p{L}\\p{M}\\d])(${escaped.join("|")})(?![\\p{L}\\p{M}\\d])`, "u");
  return text.split(pattern).map((part, i) => (i % 2 ? el("span", { class: "unknown" }, part) : part));
}

function showAnswer(answer, files) {
  const { changes, unknown } = answer;
  const shown = pieces(answer.input, changes, changed);
  byId("corrected").replaceChildren(...shown.flatMap((one) => (typeof one === "string" ? withUnknown(one, unknown) : [one])));
  byId("slipped").replaceChildren(...pieces(answer.input, changes, (change) => el("span", { class: "wrong" }, change.old)));
  certificate(byId("correct-certificate"), answer.certificate, "changes that are not sure enough are not made, ", "best reading ");
  const what = changes.length === 0 ? (unknown.length ? "No change is sure enough." : "Nothing needs to change.")
    : `${plural(changes.length, "change")}. Rest the pointer on a marked word, click it, or reach it with the Tab key.`;
  const names = unknown.flatMap((word) => [" ", el("span", { class: "unknown" }, word)]);
  byId("correct-note").replaceChildren(what, ...(names.length ? [" The model does not know:", ...names] : []));
  const rows = changes.map((change) => [
    change.old, change.new || "nothing", percent(change.probability),
    others(change).map((one) => `${one.text} ${percent(one.probability)}`).join(", "),
  ]);
  byId("changes").replaceChildren(rows.length ? table(["was", "is", "#probability", "or else"], rows) : "Nothing.");
  const saved = [["Download text", "corrected.txt", answer.text], ["Download JSON", "corrected.json", json(answer)]];
  showUse("correct", saved, correctPrograms(files, answer.input, byId("careful").checked));
}

const begin = turns("correct-error", () => [card("slipped"), card("corrected"), card("changes")]);

function update(files) {
  remember("correct");
  const noise = Number(byId("correct-noise").value);
  byId("correct-noise-level").textContent = String(noise);
  byId("correct-reslip").disabled = byId("slipped-card").hidden = noise === 0;
  const text = byId("raw").value;
  begin(!text.trim(), async (signal) => {
    await pause(IDLE, signal);
    const seed = Number(byId("correct-seed").value);
    const answer = await ask("correct", { text, noise, seed, careful: byId("careful").checked }, signal);
    showAnswer(answer, files);
  });
}

export function startCorrect(info) {
  const isMissing = info.models.corrector === undefined;
  byId("correct-missing").hidden = !isMissing;
  if (isMissing) {
    for (const node of byId("correct").children) node.hidden = node.id !== "correct-missing";
    return () => {};
  }
  const examples = info.examples.correct ?? [];
  const example = cycle(examples.length ? examples : ["hello world"]);
  const ask = () => update(info.files);
  byId("correct-example").hidden = examples.length === 0;
  byId("raw").maxLength = info.limits.text_characters;
  byId("raw").value ||= example(); // whoever was quick has typed already
  byId("raw").addEventListener("input", ask);
  fillFrom("raw-file", "raw", "correct-error", info.limits.text_characters);
  for (const id of ["careful", "correct-noise"]) byId(id).addEventListener("input", ask);
  byId("correct-reslip").addEventListener("click", () => {
    next("correct-seed");
    ask();
  });
  byId("correct-example").addEventListener("click", () => {
    byId("raw").value = example();
    byId("correct-noise").value = "0";
    ask();
  });
  ask();
  return ask;
}
