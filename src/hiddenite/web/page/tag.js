// The Tag tab.

import { ask } from "./api.js";
import { bar, byId, card, certificate, cycle, el, number, percent, plural, withTip } from "./dom.js";
import { fillFrom } from "./files.js";
import { remember } from "./link.js";
import { tagPrograms } from "./programs.js";
import { turns } from "./turn.js";
import { json, showUse } from "./use.js";

const SHOWN = 5; // tags of a word
const SURE = 0.9;

function token(word, tag, slot, isUnknown) {
  const probability = slot.find(([name]) => name === tag)?.[1] ?? 0;
  const label = `${word}, ${tag}, probability ${percent(probability)}${isUnknown ? "; the model does not know this word" : ""}`;
  const node = el("span", { class: "token", dir: "auto", "aria-label": label },
    el("span", { class: isUnknown ? "word unknown" : "word" }, word), el("span", { class: probability < SURE ? "tag unsure" : "tag" }, tag));
  const rows = slot.slice(0, SHOWN).map(([name, p]) => bar(name, p));
  if (isUnknown) rows.push(el("span", { class: "note" }, "The model does not know this word; its spelling decides."));
  return withTip(node, ...rows);
}

// A small model says so where it matters: most of what it meets is new to it.
function showUnknown({ words, unknown }, name) {
  const count = words.filter((word) => unknown.includes(word)).length;
  const many = 2 * count > words.length;
  byId("tag-unknown").textContent = count === 0 ? ""
    : `The model (${name}) does not know ${count} of these ${plural(words.length, "word")}; their spelling decides.${many ? " Take such tags for guesses: hiddenite tag train makes a better model, hiddenite serve --tagger shows it here." : ""}`;
}

const begin = turns("tag-error", () => [card("tags")]);

function update({ files, models }) {
  remember("tag");
  const text = byId("sentence").value;
  begin(!text.trim(), async (signal) => {
    const answer = await ask("tag", { text }, signal);
    byId("tags").replaceChildren(...answer.words.map((word, i) => token(word, answer.tags[i], answer.slots[i], answer.unknown.includes(word))));
    certificate(byId("tag-certificate"), answer.certificate, `ln weight ${number(answer.log_weight)}, `);
    showUnknown(answer, models.tagger);
    const lines = answer.words.map((word, i) => `${word}\t${answer.tags[i]}\n`).join("");
    const saved = [["Download tags", "tagged.tsv", `${lines}\n`], ["Download JSON", "tagged.json", json(answer)]];
    showUse("tag", saved, tagPrograms(files, answer.words.join(" ")));
  });
}

export function startTag(info) {
  const examples = info.examples.tag ?? [];
  const example = cycle(examples.length ? examples : ["the dog sleeps ."]);
  const ask = () => update(info);
  byId("tag-example").hidden = examples.length === 0;
  byId("sentence").maxLength = info.limits.characters;
  byId("sentence").value ||= example(); // whoever was quick has typed already
  byId("sentence").addEventListener("input", ask);
  fillFrom("sentence-file", "sentence", "tag-error", info.limits.characters);
  byId("tag-example").addEventListener("click", () => {
    byId("sentence").value = example();
    ask();
  });
  ask();
  return ask;
}
