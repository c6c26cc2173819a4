// The Score tab: how probable each word is, given those before it.

import { ask } from "./api.js";
import { byId, card, cycle, el, number, percent, plural, table, withTip } from "./dom.js";
import { fillFrom } from "./files.js";
import { remember } from "./link.js";
import { scorePrograms } from "./programs.js";
import { pause, turns } from "./turn.js";
import { json, showUse } from "./use.js";

const IDLE = 120; // milliseconds without a key press before the text is sent
const DARKEST = 14; // nats of surprise

// Lower case, and punctuation apart: how most models here have read their text.
const prepared = (text) => text.toLowerCase().replace(/([.,;:!?()"«»“”])/g, " $1 ").replace(/[^\S\n]+/g, " ").replace(/ *\n */g, "\n").trim();

function token(word, logProb, order, isUnknown) {
  const chance = logProb === null ? "probability 0" : `1 in ${Math.round(Math.exp(-logProb)).toLocaleString("en")}`;
  const node = el("span", { class: "token score", dir: "auto", "aria-label": `${word}, ln probability ${number(logProb, 2)}${isUnknown ? ", unknown word" : ""}` },
    el("span", { class: isUnknown ? "word unknown" : "word" }, word), el("span", { class: "tag" }, number(logProb, 2)));
  node.style.setProperty("--share", (Math.min(DARKEST, logProb === null ? DARKEST : -logProb) / DARKEST * 0.45).toFixed(3));
  const context = order === 0 ? "" : `; the model knows ${order === 1 ? "the word alone" : `${order} words in a row that end here`}`;
  return withTip(node, el("span", {}, isUnknown ? "Unknown to the model; scored by the share of all unknown words." : `${chance}${context}.`));
}

function showScores(answer) {
  const rows = answer.scored.map(({ words, log_probs: logs, orders }) => el("div", { class: "tags" },
    ...[...words, "end"].map((word, i) => token(word, logs[i], orders[i], i < words.length && answer.unknown.includes(word)))));
  byId("scores").replaceChildren(...rows);
  const shown = (x) => (x === null ? "not finite" : x.toLocaleString("en", { maximumFractionDigits: 1 }));
  const facts = [
    ["Perplexity", shown(answer.perplexity)],
    ["without unknown words", shown(answer.perplexity_without_oov)],
    ["ln probability", number(answer.log_prob, 2)],
    ["words and sentence ends", answer.tokens.toLocaleString("en")],
    ["unknown words", `${answer.oov.toLocaleString("en")}, ${percent(answer.oov / answer.tokens)}`],
  ];
  byId("score-summary").replaceChildren(table(["of the text", "#value"], facts));
  const names = answer.unknown.flatMap((word) => [" ", el("span", { class: "unknown" }, word)]);
  byId("score-note").replaceChildren(...(names.length ? [`The model does not know ${plural(answer.unknown.length, "word")}:`, ...names] : ["The model knows every word."]));
}

const begin = turns("score-error", () => [card("scores"), card("score-summary")]);

function update(files) {
  remember("score");
  const raw = byId("score-text").value;
  begin(!raw.trim(), async (signal) => {
    await pause(IDLE, signal);
    const text = byId("prepare").checked ? prepared(raw) : raw.replace(/\n$/, "");
    const answer = await ask("score", { text }, signal);
    showScores(answer);
    const rows = answer.scored.flatMap(({ words, log_probs: logs }) => [...words, "</s>"].map((word, i) => `${word}\t${logs[i] ?? "-inf"}\n`).concat("\n"));
    showUse("score", [["Download table", "scores.tsv", rows.join("")], ["Download JSON", "scores.json", json(answer)]], scorePrograms(files, text));
  });
}

export function startScore(info) {
  const examples = info.examples.score ?? [];
  const example = cycle(examples.length ? examples : ["the dog sleeps ."]);
  const ask = () => update(info.files);
  byId("score-example").hidden = examples.length === 0;
  byId("score-text").maxLength = info.limits.text_characters;
  byId("score-text").value ||= example();
  byId("score-text").addEventListener("input", ask);
  byId("prepare").addEventListener("input", ask);
  fillFrom("score-file", "score-text", "score-error", info.limits.text_characters);
  byId("score-example").addEventListener("click", () => {
    byId("score-text").value = example();
    ask();
  });
  ask();
  return ask;
}
