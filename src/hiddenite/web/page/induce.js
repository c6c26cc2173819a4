// The Induce tab: classes of words, found in a small text without a tagged word.

import { ask } from "./api.js";
import { byId, card, cycle, el, number, table } from "./dom.js";
import { fillFrom } from "./files.js";
import { next, remember } from "./link.js";
import { inducePrograms } from "./programs.js";
import { pause, turns } from "./turn.js";
import { json, showUse } from "./use.js";

const IDLE = 500; // milliseconds without a key press before the text is sent
const SHOWN = 14; // words of a class
const COLOURS = 8;

const colour = (answer, tag) => `class-${answer.classes.findIndex((one) => one.tag === tag) % COLOURS}`;

function showClasses(answer) {
  const rows = answer.classes.map(({ tag, tokens, members }) => {
    const more = members.length > SHOWN ? ` and ${members.length - SHOWN} more` : "";
    const words = members.slice(0, SHOWN).flatMap(([word, count], i) => [i ? ", " : "", el("span", { dir: "auto" }, word), count > 1 ? ` ${count}` : ""]);
    return [el("span", { class: `class-name ${colour(answer, tag)}` }, tag), String(tokens), String(members.length), el("span", {}, ...words, more)];
  });
  byId("classes").replaceChildren(table(["class", "#tokens", "#words", "its words, and how often"], rows));
  const text = answer.tagged.map((sentence) => el("p", { dir: "auto" }, ...sentence.flatMap(([word, tag]) =>
    [el("span", { class: `classed ${colour(answer, tag)}` }, word, el("sub", {}, tag)), " "])));
  byId("induced-text").replaceChildren(...text);
  const { sweeps, planned_sweeps: planned } = answer;
  byId("induce-note").textContent = sweeps === planned
    ? `${sweeps} sweeps of a sampler; each word has the class of most samples of the second half. Another seed can find other classes.`
    : `The server’s time ended after ${sweeps} of ${planned} sweeps: the classes may not have settled. Use a shorter text, or the command.`;
  byId("induce-joint").textContent = `ln p(text, classes) = ${number(answer.log_joint, 1)} after the last sweep`;
}

const begin = turns("induce-error", () => [card("classes"), card("induced-text")]);

function update() {
  remember("induce");
  const text = byId("induce-text").value.toLowerCase().split("\n").map((line) => line.trim()).filter(Boolean).join("\n");
  const tags = Number(byId("induce-tags").value);
  const seed = Number(byId("induce-seed").value);
  begin(!text, async (signal) => {
    await pause(IDLE, signal);
    const answer = await ask("induce", { text, tags, seed }, signal);
    showClasses(answer);
    const lines = answer.tagged.map((sentence) => sentence.map(([word, tag]) => `${word}\t${tag}\n`).join("")).join("\n");
    showUse("induce", [["Download tagged text", "induced.tsv", lines], ["Download JSON", "induced.json", json(answer)]], inducePrograms(text, tags, answer, seed));
  });
}

export function startInduce(info) {
  const examples = info.examples.induce ?? [];
  const example = cycle(examples.length ? examples : ["the dog sleeps\nthe cat sleeps\na dog runs\na cat runs\nthe bird sings\na bird sleeps"]);
  byId("induce-text").maxLength = info.limits.long_characters;
  byId("induce-text").value ||= example();
  for (const id of ["induce-text", "induce-tags"]) byId(id).addEventListener("input", update);
  fillFrom("induce-file", "induce-text", "induce-error", info.limits.long_characters);
  byId("induce-again").addEventListener("click", () => {
    next("induce-seed");
    update();
  });
  byId("induce-example").addEventListener("click", () => {
    byId("induce-text").value = example();
    update();
  });
  update();
  return update;
}
