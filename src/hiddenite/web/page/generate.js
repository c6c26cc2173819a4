// The Generate tab; without an HMM language model it says how to get one.

import { ask } from "./api.js";
import { byId, number, showError, table } from "./dom.js";

let seed = 0;

function question() {
  const keywords = byId("keywords").value.split(",").map((word) => word.trim()).filter(Boolean);
  return {
    keywords,
    max_length: Number(byId("max-length").value),
    n: Number(byId("count").value),
    method: byId("generate-method").value,
    seed: (seed += 1),
  };
}

async function generate(event) {
  event.preventDefault();
  byId("generate-go").disabled = true;
  try {
    const answer = await ask("generate", question());
    const rows = answer.sentences.map((one) => [number(one.log_prob, 2), one.words.join(" ")]);
    byId("generated").replaceChildren(table(["#ln probability", "sentence"], rows));
    const log = answer.constraint_log_prob;
    const share = log === null ? "0" : Math.exp(log).toPrecision(3);
    byId("constraint").textContent = `Of all sentences of the model, a share of ${share} satisfies this (ln ${number(log)}), exactly.`;
    showError(byId("generate-error"), null);
  } catch (error) {
    showError(byId("generate-error"), error);
  } finally {
    byId("generate-go").disabled = false;
  }
}

export function startGenerate(info) {
  const isLoaded = "hmm" in info.models;
  byId("generate-missing").hidden = isLoaded;
  for (const control of byId("generate-form").elements) control.disabled = !isLoaded;
  byId("max-length").max = info.limits.generated_words;
  byId("generate-form").addEventListener("submit", generate);
}
