// The Generate tab; without an HMM language model it says how to get one.

import { ask } from "./api.js";
import { byId, card, cycle, mark, number, table } from "./dom.js";
import { fillFrom } from "./files.js";
import { next, remember } from "./link.js";
import { generatePrograms } from "./programs.js";
import { pause, turns } from "./turn.js";
import { json, showUse } from "./use.js";

const IDLE = 250; // milliseconds without a key press before the question is sent

function question(most) {
  const keywords = byId("keywords").value.split(",").map((word) => word.trim()).filter(Boolean);
  const length = byId("length").value;
  return {
    keywords,
    length: length === "" ? null : Number(length),
    max_length: most,
    n: Number(byId("count").value),
    method: byId("generate-method").value,
    seed: Number(byId("generate-seed").value),
  };
}

const begin = turns("generate-error", () => [card("generated")]);

function update(info) {
  remember("generate");
  const asked = question(info.limits.generated_words);
  begin(false, async (signal) => {
    await pause(IDLE, signal);
    const answer = await ask("generate", asked, signal);
    const rows = answer.sentences.map((one) => [number(one.log_prob, 2), one.words.join(" ")]);
    byId("generated").replaceChildren(table(["#ln probability", "sentence"], rows));
    const log = answer.constraint_log_prob;
    const share = log === null ? "0" : Math.exp(log).toPrecision(3);
    byId("constraint").textContent = `Of all that this model writes, a share of ${share} satisfies this (ln ${number(log)}), computed exactly. ${HOW[asked.method]}`;
    const text = answer.sentences.map((one) => `${one.words.join(" ")}\n`).join("");
    showUse("generate", [["Download sentences", "generated.txt", text], ["Download JSON", "generated.json", json(answer)]], generatePrograms(info.files, asked));
  });
}

const HOW = {
  sample: "The sentences are independent draws from the model, given the constraint.",
  rescore: "The sentences are the most probable of many draws; there may be better ones.",
  best: "The sentence belongs to the most probable path of words and hidden states.",
};

export function startGenerate(info) {
  const isLoaded = "hmm" in info.models;
  byId("generate-missing").hidden = isLoaded;
  mark([card("generated")], "empty");
  for (const control of byId("generate-form").elements) control.disabled = !isLoaded;
  byId("length").max = info.limits.generated_words;
  if (!isLoaded) return () => {};
  const examples = info.examples.generate ?? [];
  const example = cycle(examples.length ? examples : [""]);
  const ask = () => update(info);
  byId("keywords").value ||= example();
  byId("generate-form").addEventListener("submit", () => {
    next("generate-seed");
    ask();
  });
  for (const id of ["keywords", "length", "count", "generate-method"]) byId(id).addEventListener("input", ask);
  fillFrom("keywords-file", "keywords", "generate-error", info.limits.characters, (text) => text.split("\n").map((line) => line.trim()).filter(Boolean).join(", "));
  ask();
  return ask;
}
