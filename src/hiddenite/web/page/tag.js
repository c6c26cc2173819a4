// The Tag tab.

import { ask, isAbort } from "./api.js";
import { bar, byId, certificate, cycle, el, number, percent, showError } from "./dom.js";

const SHOWN = 5; // tags of a word
const SURE = 0.9;

let running = new AbortController();

function token(word, tag, slot) {
  const probability = slot.find(([name]) => name === tag)?.[1] ?? 0;
  const tip = el("span", { class: "card tip", role: "tooltip" }, ...slot.slice(0, SHOWN).map(([name, p]) => bar(name, p)));
  const label = `${word}, ${tag}, probability ${percent(probability)}`;
  const node = el("span", { class: "token", tabindex: "0", role: "group", "aria-label": label },
    word, el("span", { class: probability < SURE ? "tag unsure" : "tag" }, tag), tip);
  // A tip near the right edge opens to the left.
  const place = () => node.classList.toggle("right", node.getBoundingClientRect().left > window.innerWidth / 2);
  node.addEventListener("mouseenter", place);
  node.addEventListener("focus", place);
  return node;
}

async function update() {
  running.abort();
  running = new AbortController();
  try {
    const answer = await ask("tag", { text: byId("sentence").value }, running.signal);
    byId("tags").replaceChildren(...answer.words.map((word, i) => token(word, answer.tags[i], answer.slots[i])));
    certificate(byId("tag-certificate"), answer.certificate, `ln weight ${number(answer.log_weight)}, `);
    showError(byId("tag-error"), null);
  } catch (error) {
    if (!isAbort(error)) showError(byId("tag-error"), error);
  }
}

export function startTag(info) {
  const examples = info.examples.tag ?? [];
  const example = cycle(examples.length ? examples : ["the dog sleeps ."]);
  byId("tag-example").hidden = examples.length === 0;
  byId("sentence").maxLength = info.limits.characters;
  byId("sentence").value = example();
  byId("sentence").addEventListener("input", update);
  byId("tag-example").addEventListener("click", () => {
    byId("sentence").value = example();
    update();
  });
  update();
}
