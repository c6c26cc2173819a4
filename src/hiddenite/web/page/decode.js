// The Decode tab: the answer at once, then everything else about the message while the page is left alone.

import { ask, isAbort, watch } from "./api.js";
import { drawAutomaton, drawBounds } from "./charts.js";
import { bar, byId, certificate, cycle, el, later, number, percent, showError, table } from "./dom.js";

const KEYS = { 2: "abc", 3: "def", 4: "ghi", 5: "jkl", 6: "mno", 7: "pqrs", 8: "tuv", 9: "wxyz" };
const KEY_OF = Object.fromEntries(Object.entries(KEYS).flatMap(([key, letters]) => [...letters].map((c) => [c, key])));
const IDLE = 250; // milliseconds without a key press before the details are asked for
const BATCHES = 8; // of draws
const DRAWS = 25; // in each
const SHOWN = 4; // words of a position
const FRAMES = 90; // in which a search is played, about

let seed = 1;
let running = new AbortController();

function question() {
  const text = byId("message").value;
  const channel = byId("channel").value;
  const isTyped = channel === "keypad" && /^[\d*#\s]+$/.test(text);
  const noise = Number(byId("noise").value);
  return { [isTyped ? "input" : "message"]: text, channel, noise, seed };
}

const split = (text) => text.split(/\s+/).filter(Boolean);

// Words that are not as they should be are marked, and say what they should be.
function marked(words, expected, label) {
  return words.flatMap((word, i) => {
    const isWrong = expected && expected[i] !== undefined && expected[i] !== word;
    const node = isWrong ? el("span", { class: "wrong", title: `${label}: ${expected[i]}` }, word) : el("span", {}, word);
    return [node, " "];
  });
}

function showTyped(asked, typed) {
  const meant = asked.message === undefined ? null : split(asked.message);
  byId("typed").classList.toggle("keys", asked.channel === "keypad");
  if (!meant || asked.channel !== "keypad") {
    byId("typed").replaceChildren(...marked(split(typed), meant, "meant"));
  } else {
    const nodes = split(typed).flatMap((keys, i) => [...[...keys].map((key, k) => {
      const intended = KEY_OF[[...(meant[i] ?? "")][k]?.toLowerCase()];
      const isWrong = intended !== undefined && intended !== key;
      return isWrong ? el("span", { class: "wrong", title: `meant: ${intended}` }, key) : key;
    }), " "]);
    byId("typed").replaceChildren(...nodes);
  }
  const slips = byId("typed").querySelectorAll(".wrong").length;
  const unit = asked.channel === "keypad" ? "key" : "word";
  byId("typed-note").textContent = meant ? (slips === 0 ? "no slips" : `${slips} wrong ${unit}${slips === 1 ? "" : "s"}`) : "read as key presses";
}

function showBest(asked, answer, milliseconds) {
  const meant = asked.message === undefined ? null : split(asked.message);
  byId("best").replaceChildren(...marked(answer.words, meant, "meant"));
  byId("best").classList.remove("stale");
  certificate(byId("certificate"), answer.certificate, `ln weight ${number(answer.log_weight)}, ${milliseconds.toFixed(0)} ms, `);
}

function showBeam(found, best) {
  byId("beam-reading").replaceChildren(...marked(found.words, best.words, "exact"));
  const lost = best.log_weight - found.log_weight;
  const errors = byId("beam-reading").querySelectorAll(".wrong").length;
  byId("beam-note").textContent = lost > 1e-9
    ? `a search error: ${errors} word${errors === 1 ? "" : "s"}, ${number(lost, 2)} below the best weight, and no way to know`
    : `width ${found.width}: the best reading, this time, without a proof`;
}

function showMarginals(answer) {
  const slots = answer.slots.map((slot, i) =>
    el("div", { class: "slot" }, el("p", { class: "number" }, `word ${i + 1}`), ...slot.slice(0, SHOWN).map(([word, p]) => bar(word, p))));
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
    byId("samples-note").textContent = `${total} independent draws, ${counts.size} different readings`;
    byId("samples").replaceChildren(table(["#drawn", "#probability", "reading"], rows.map(([name, row]) => [String(row.count), percent(row.share), name])));
    await new Promise((resume) => setTimeout(resume, 60));
  }
}

// Steps arrive faster than eyes follow; they are played over a few seconds, or shown at once.
class Player {
  constructor(signal) {
    this.signal = signal;
    this.queue = [];
    this.steps = [];
    this.isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.isWaiting = false;
  }

  add(event, data) {
    this.queue.push([event, data]);
    if (!this.isWaiting) this.wait();
  }

  wait() {
    this.isWaiting = true;
    requestAnimationFrame(() => this.play());
  }

  play() {
    this.isWaiting = false;
    if (this.signal.aborted) return;
    const count = this.isStill ? this.queue.length : Math.max(1, Math.ceil(this.queue.length / FRAMES));
    let picture = null;
    for (const [event, data] of this.queue.splice(0, count)) {
      if (event === "step") this.steps.push(data);
      if (event === "automaton") picture = { data, words: this.steps[this.steps.length - 1].words };
      if (event === "done") byId("bounds-note").textContent = ending(data) + (this.isStill ? "" : " Played slowly.");
    }
    drawBounds(byId("bounds"), this.steps);
    if (picture) drawAutomaton(byId("automaton"), picture.data, picture.words);
    if (this.queue.length > 0) this.wait();
  }
}

function ending(data) {
  const took = `${data.steps.toLocaleString("en")} steps in ${(1000 * data.seconds).toFixed(0)} ms of search`;
  return data.exact ? `The bounds met: ${took}.` : `Stopped by the server’s limit after ${took}.`;
}

async function details(asked, best, signal) {
  const player = new Player(signal);
  byId("bounds-note").textContent = "Searching …";
  const withBeam = byId("beam").checked;
  const parts = [
    watch("search", withoutNoise(asked, best), signal, (event, data) => player.add(event, data)),
    ask("marginals", withoutNoise(asked, best), signal).then(showMarginals),
    ask("kbest", withoutNoise(asked, best), signal).then(showBestList),
    fillSamples(withoutNoise(asked, best), signal),
  ];
  if (withBeam) {
    parts.push(ask("beam", { ...withoutNoise(asked, best), width: Number(byId("width").value) }, signal).then((found) => showBeam(found, best)));
  }
  await Promise.all(parts);
}

// What was typed stands; only its reading is asked for again.
function withoutNoise(asked, best) {
  return { input: best.input, channel: asked.channel, noise: asked.noise };
}

async function guarded(action) {
  try {
    await action();
    showError(byId("decode-error"), null);
  } catch (error) {
    if (!isAbort(error)) {
      showError(byId("decode-error"), error);
      byId("best").classList.add("stale");
    }
  }
}

const startDetails = later(IDLE, (asked, best, signal) => {
  if (!signal.aborted) guarded(() => details(asked, best, signal));
});

function update() {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  byId("noise-level").textContent = byId("noise").value;
  byId("beam-card").hidden = byId("width-label").hidden = !byId("beam").checked;
  const asked = question();
  guarded(async () => {
    const begun = performance.now();
    const best = await ask("decode", asked, signal);
    showTyped(asked, best.input);
    showBest(asked, best, performance.now() - begun);
    startDetails(asked, best, signal);
  });
}

export function startDecode(info) {
  const examples = info.examples.decode ?? [];
  const example = cycle(examples.length ? examples : ["the"]);
  byId("decode-example").hidden = examples.length === 0;
  const area = byId("message");
  area.maxLength = info.limits.characters;
  area.value = example();
  for (const id of ["message", "noise", "channel", "beam", "width"]) byId(id).addEventListener("input", update);
  byId("reslip").addEventListener("click", () => {
    seed += 1;
    update();
  });
  byId("decode-example").addEventListener("click", () => {
    area.value = example();
    update();
  });
  update();
}
