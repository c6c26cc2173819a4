// Words of the trade, explained where they stand: under the pointer, on focus, and to screen readers.

import { el } from "./dom.js";

const MEANINGS = {
  "proof": "A search keeps an upper bound on the weight of every possible answer. Where the answer found reaches it, no other can be better.",
  "under this model": "The model gives every answer a weight. The best answer is the one of the highest weight; the model itself can be wrong.",
  "ln weight": "Natural logarithm of the answer’s weight: language model times channel. Only differences count: 1 more is 2.7 times as probable.",
  "upper bound": "A number that no answer’s weight exceeds. It sinks as the search refines it.",
  "automaton": "A simplified model that never gives an answer less weight than the real one. The search makes it finer only where it matters.",
  "posterior": "The probability of a reading, given what was typed, compared with all other readings.",
  "beam search": "Goes from left to right and keeps only a few beginnings. Quick and common; it can lose the best answer and does not notice.",
  "unknown word": "A word that the model has not met in training. It is scored by a share set aside for all such words.",
  "channel": "What turns meant words into typed ones: it gives each candidate a weight for what was typed.",
  "lattice": "A network of candidates: each way from left to right through it is a reading.",
  "perplexity": "How many equally likely words the model hesitates between, on average. Lower is better.",
  "fertility": "How many target words a source word stands for.",
  "direction": "Forward, every target word chooses a source word; in reverse, every source word chooses a target word.",
  "symmetrised": "One set of links made of those of both directions.",
  "dual decomposition": "The published search (Quirk 2013): it splits the problem in two parts and makes them agree, if it can.",
  "sweep": "One pass over the text in which the class of every word is drawn again, given all others.",
  "hidden Markov model": "A model that writes word after word while it moves between hidden states.",
  "calibrated": "Fitted so that of all changes given 80%, about 80% are right.",
};

let number = 0;

function explain(node) {
  const meaning = MEANINGS[node.dataset.term ?? node.textContent];
  const tip = el("span", { class: "card tip", role: "tooltip", id: `term-${(number += 1)}` }, meaning);
  const button = el("button", { type: "button", class: "term", "aria-describedby": tip.id }, node.textContent);
  node.replaceChildren(button, tip);
  node.addEventListener("keydown", (event) => node.classList.toggle("closed", event.key === "Escape"));
  node.addEventListener("mouseleave", () => node.classList.remove("closed"));
  const place = () => node.classList.toggle("right", node.getBoundingClientRect().left > window.innerWidth / 2);
  node.addEventListener("mouseenter", place);
  button.addEventListener("focus", place);
}

export function startGlossary(root = document) {
  for (const node of root.querySelectorAll("dfn")) explain(node);
}
