// The Decode tab: the answer at once, then everything else about the message while the page is left alone.

import { ask, isAbort, watch } from "./api.js";
import { bar, byId, card, certificate, cycle, el, isPending, later, mark, METHODS, number, percent, plural, showError, table } from "./dom.js";
import { fillFrom } from "./files.js";
import { drawLattice } from "./lattice.js";
import { next, remember } from "./link.js";
import { EXAMPLES, readOwn } from "./own.js";
import { Player } from "./player.js";
import { decodePrograms } from "./programs.js";
import { json, showUse } from "./use.js";

const IDLE = 250; // milliseconds without a key press before the details are asked for
const BATCHES = 8; // of draws
const DRAWS = 25; // in each
const SHOWN = 4; // words of a position

let running = new AbortController();
const player = new Player();

const isOwn = () => byId("channel").value === "own";

function question() {
  const text = byId("message").value;
  const channel = byId("channel").value;
  if (isOwn()) return readOwn(text);
  const isTyped = channel === "keypad" && /^[\d*#\s]+$/.test(text);
  return { [isTyped ? "input" : "message"]: text, channel, noise: Number(byId("noise").value), seed: Number(byId("decode-seed").value) };
}

const split = (text) => text.split(/\s+/).filter(Boolean);

// Words that are not as they should be are marked, and say what they should be; so are words the model lacks.
function marked(words, expected, label, unknown = []) {
  return words.flatMap((word, i) => {
    const isWrong = expected && expected[i] !== undefined && expected[i] !== word;
    const isUnknown = unknown.includes(word);
    const title = isWrong ? `${label}: ${expected[i]}` : isUnknown ? "the model does not know this word" : "";
    return [el("span", { class: `${isWrong ? "wrong" : ""} ${isUnknown ? "unknown" : ""}`.trim(), title, dir: "auto" }, word), " "];
  });
}

// What only a pointer finds in marked words, for those who listen.
const spoken = (node) => [...node.querySelectorAll(".wrong")].map((one) => `${one.textContent}, ${one.title}`).join("; ");

// A wrong key is marked in its word; `meant` are the keys of the message without slips.
function markedKeys(typed, meant) {
  return split(typed).flatMap((keys, i) => [...[...keys].map((key, k) => {
    const intended = meant[i]?.[k];
    const isWrong = intended !== undefined && intended !== key;
    return isWrong ? el("span", { class: "wrong", title: `meant: ${intended}` }, key) : key;
  }), " "]);
}

function showTyped(asked, answer) {
  const meant = answer.meant === null ? null : split(answer.meant);
  const isKeypad = asked.channel === "keypad";
  byId("typed").classList.toggle("keys", isKeypad);
  const nodes = meant && isKeypad ? markedKeys(answer.input, meant) : marked(split(answer.input), meant, "meant", answer.unknown);
  byId("typed").replaceChildren(...nodes);
  const slips = byId("typed").querySelectorAll(".wrong").length;
  const unit = isKeypad ? "key" : "word";
  byId("typed-spoken").textContent = spoken(byId("typed"));
  const note = meant ? (slips === 0 ? "no slips" : `${slips} wrong ${unit}${slips === 1 ? "" : "s"}`) : isKeypad ? "read as key presses" : "read as typed";
  const lacking = answer.unknown.filter((word) => split(asked.message ?? asked.input).includes(word));
  const names = lacking.flatMap((word) => [" ", el("span", { class: "unknown" }, word)]);
  byId("typed-note").replaceChildren(note, ...(names.length ? ["; the model does not know", ...names] : []));
  mark([card("typed")], "");
}

function showBest(asked, answer, milliseconds, info) {
  const meant = asked.message === undefined ? null : split(asked.message);
  byId("best").replaceChildren(...marked(answer.words, meant, "meant", answer.unknown));
  certificate(byId("certificate"), answer.certificate, `ln weight ${number(answer.log_weight)}, ${milliseconds.toFixed(0)} ms, `);
  byId("best-spoken").textContent = spoken(byId("best"));
  const lacking = answer.unknown.filter((word) => answer.words.includes(word));
  byId("best-note").textContent = `${spokenCount(byId("best"))}${lacking.length ? ` Unknown to the model: ${lacking.join(", ")}.` : ""}`;
  const saved = [["Download text", "reading.txt", `${answer.words.join(" ")}\n`], ["Download JSON", "reading.json", json(answer)]];
  showUse("decode", saved, decodePrograms(info.files, withoutNoise(asked, answer), info.limits.candidates));
  mark([card("best")], "");
}

function spokenCount(node) {
  const count = node.querySelectorAll(".wrong").length;
  return count ? `${plural(count, "word")} not as meant: the model’s choice, not an error of the search.` : "";
}

function showBeam(found, best) {
  byId("beam-reading").replaceChildren(...marked(found.words, best.words, "exact"));
  const lost = best.log_weight - found.log_weight;
  const errors = byId("beam-reading").querySelectorAll(".wrong").length;
  byId("beam-note").textContent = lost > 1e-9
    ? `a search error: ${errors} other word${errors === 1 ? "" : "s"}, ${number(lost, 2)} below the best weight; beam search cannot tell`
    : `width ${found.width}: the best reading, this time, without a proof`;
}

function showMarginals(answer) {
  const slots = answer.slots.map((slot, i) =>
    el("div", { class: "slot" }, el("p", { class: "number" }, answer.spans ? `node ${answer.spans[i].join(" to ")}` : `word ${i + 1}`), ...slot.slice(0, SHOWN).map(([word, p]) => bar(word, p))));
  byId("marginals").replaceChildren(el("div", { class: "slots" }, ...slots));
}

function showBestList(answer) {
  const rows = answer.kbest.map((one) => [number(one.log_weight, 2), one.words.join(" ")]);
  byId("kbest").replaceChildren(table(["#ln weight", "reading"], rows));
}

// Draws are independent, so batches with different seeds simply add up.
async function fillSamples(asked, signal) {
  const counts = new Map();
  for (let batch = 0; batch < BATCHES; batch++) {
    const drawn = await ask("sample", { ...asked, n: DRAWS, seed: 1000 + batch }, signal);
    for (const one of drawn.samples) {
      const name = one.words.join(" ");
      const row = counts.get(name) ?? { count: 0, share: drawn.log_partition === null ? null : Math.exp(one.log_weight - drawn.log_partition) };
      row.count += one.count;
      counts.set(name, row);
    }
    const total = (batch + 1) * DRAWS;
    const rows = [...counts].sort((a, b) => b[1].count - a[1].count).slice(0, 6);
    byId("samples-note").textContent = `${total} independent draws, ${counts.size} different reading${counts.size === 1 ? "" : "s"}`;
    mark([card("samples")], "");
    byId("samples").replaceChildren(table(["#drawn", "#probability", "reading"], rows.map(([name, row]) => [String(row.count), percent(row.share), name])));
    await new Promise((resume) => setTimeout(resume, 60));
  }
}

// What the animation shows, and what it does not: the certificate has a search of its own.
function ending(data, best) {
  const took = `${plural(data.steps, "step")} in ${(1000 * data.seconds).toFixed(0)} ms`;
  const same = best.certificate.method === "refine" ? "The proof above comes from the same method." : `The proof above comes from another method: ${METHODS[best.certificate.method] ?? best.certificate.method}.`;
  const end = data.exact ? `The bounds met after ${took}.` : `The server’s limit ended it after ${took}: the bounds have not met.`;
  return `A search by refinement, recorded as it ran here and played slowly. ${end} ${same}`;
}

// One answer and its cards; a failure of one leaves the others as they are.
async function part(ids, answer, show) {
  const cards = ids.map(card);
  try {
    const data = await answer;
    mark(cards, ""); // first: what is drawn asks how wide its card is
    show?.(data);
  } catch (error) {
    if (isAbort(error)) return;
    mark(cards, "failed");
    showError(byId("decode-error"), error);
  }
}

function details(asked, best, signal) {
  const again = withoutNoise(asked, best);
  if (again.lattice) {
    mark([card("bounds")], "");
    byId("bounds").replaceChildren();
    card("automaton").hidden = true;
    byId("bounds-note").textContent = "Of a lattice no search is recorded: the search by refinement needs positions in a row.";
  } else {
    byId("bounds-note").textContent = "Searching …";
    part(["bounds", "automaton"], watchSearch(again, best, signal), () => player.begin());
  }
  part(["marginals", "lattice"], ask("marginals", again, signal), (answer) => {
    showMarginals(answer);
    drawLattice(byId("lattice"), answer, best);
  });
  part(["kbest"], ask("kbest", again, signal), showBestList);
  part(["samples"], fillSamples(again, signal));
  if (byId("beam").checked) {
    part(["beam-reading"], ask("beam", { ...again, width: Number(byId("width").value) }, signal), (found) => showBeam(found, best));
  }
}

async function watchSearch(again, best, signal) {
  await watch("search", again, signal, (event, data) => {
    if (signal.aborted) return;
    player.add(event, data);
    if (event === "done") byId("bounds-note").textContent = ending(data, best);
  });
}

// What was typed stands; only its reading is asked for again.
function withoutNoise(asked, best) {
  if (asked.slots || asked.lattice) return asked;
  return { input: best.input, channel: asked.channel, noise: asked.noise };
}

const startDetails = later(IDLE, (asked, best, signal) => {
  if (!signal.aborted) details(asked, best, signal);
});

// Which controls mean something for what is typed.
function adapt() {
  const own = isOwn();
  byId("message-label").textContent = own ? "Your candidates as JSON: words by position, or the edges of a lattice" : "Message, or key presses such as 843 364";
  for (const id of ["noise", "reslip"]) byId(id).disabled = own;
  byId("noise-level").textContent = byId("noise").value;
  byId("typed-card").hidden = own;
  byId("beam-card").hidden = byId("width-label").hidden = !byId("beam").checked;
}

// Whatever is changed, all cards are out of date at once; each is shown again when its answer has come.
async function update(info) {
  remember("decode");
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const cards = [...byId("decode").querySelectorAll(".card:not(.tip)")];
  adapt();
  player.clear();
  card("automaton").hidden = false;
  byId("bounds-note").textContent = "";
  byId("samples-note").textContent = "";
  showError(byId("decode-error"), null);
  if (!byId("message").value.trim()) {
    mark(cards, "empty");
    return;
  }
  mark(cards, "pending");
  try {
    const asked = question();
    const begun = performance.now();
    const best = await ask("decode", asked, signal);
    if (!isOwn()) showTyped(asked, best);
    showBest(asked, best, performance.now() - begun, info);
    startDetails(asked, best, signal);
  } catch (error) {
    if (isAbort(error)) return;
    mark(cards.filter(isPending), "failed");
    showError(byId("decode-error"), error);
  }
}

export function startDecode(info) {
  const examples = info.examples.decode ?? [];
  const example = cycle(examples.length ? examples : ["the"]);
  const own = cycle(Object.values(EXAMPLES));
  const ask = () => update(info);
  byId("decode-example").hidden = examples.length === 0;
  const area = byId("message");
  area.maxLength = info.limits.characters;
  area.value ||= isOwn() ? own() : example(); // whoever was quick has typed already
  for (const id of ["message", "noise", "beam", "width"]) byId(id).addEventListener("input", ask);
  byId("channel").addEventListener("input", () => {
    const isJson = /^\s*[[{]/.test(area.value);
    if (isOwn() !== isJson) area.value = isOwn() ? own() : example();
    ask();
  });
  fillFrom("message-file", "message", "decode-error", info.limits.characters);
  byId("reslip").addEventListener("click", () => {
    next("decode-seed");
    ask();
  });
  byId("decode-example").addEventListener("click", () => {
    area.value = isOwn() ? own() : example();
    ask();
  });
  ask();
  return ask;
}
