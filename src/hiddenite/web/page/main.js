// Tabs, theme, and what is loaded.

import { startAlign } from "./align.js";
import { startCorrect } from "./correct.js";
import { startDecode } from "./decode.js";
import { byId, mark, showError } from "./dom.js";
import { startGenerate } from "./generate.js";
import { startGlossary } from "./glossary.js";
import { startInduce } from "./induce.js";
import { linkTo, readLink, restore } from "./link.js";
import { startScore } from "./score.js";
import { startTag } from "./tag.js";

const STARTS = { correct: startCorrect, decode: startDecode, tag: startTag, align: startAlign, induce: startInduce, generate: startGenerate, score: startScore };
const TABS = Object.keys(STARTS);
const NAMES = { corrector: "Corrector", lm: "Language model", tagger: "tagger", aligner: "aligner", hmm: "HMM" };

let info = null; // what the server offers
const updates = new Map(); // of the tabs that have started: what asks anew

// A tab asks its first question when it is first seen. `query` is what a link says of its controls.
function select(name, query) {
  for (const tab of TABS) {
    const isChosen = tab === name;
    byId(`tab-${tab}`).setAttribute("aria-selected", String(isChosen));
    byId(`tab-${tab}`).tabIndex = isChosen ? 0 : -1;
    byId(tab).hidden = !isChosen;
  }
  if (query !== undefined) restore(name, query);
  if (!info) return;
  if (!updates.has(name)) updates.set(name, STARTS[name](info));
  else if (query !== undefined) updates.get(name)();
}

function follow() {
  const { tab, query } = readLink();
  if (TABS.includes(tab)) select(tab, query);
  else select(TABS[0]);
}

function startTabs() {
  TABS.forEach((name, i) => {
    const tab = byId(`tab-${name}`);
    const choose = (other) => {
      select(other);
      history.replaceState(null, "", linkTo(other));
      byId(`tab-${other}`).focus();
    };
    tab.addEventListener("click", () => choose(name));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) choose(TABS[(i + step + TABS.length) % TABS.length]);
      if (event.key === "Home") choose(TABS[0]);
      if (event.key === "End") choose(TABS[TABS.length - 1]);
    });
  });
  window.addEventListener("hashchange", follow);
  follow();
}

function startTheme() {
  const root = document.documentElement;
  const stored = localStorage.getItem("theme");
  if (stored === "light" || stored === "dark") root.dataset.theme = stored;
  byId("theme").addEventListener("click", () => {
    const isDark = (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    root.dataset.theme = isDark ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
  });
}

const answers = () => [...document.querySelectorAll(".card:has(h2)")];

async function start() {
  for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());
  mark(answers(), "pending"); // until the server has said what it offers
  startTheme();
  startGlossary();
  startTabs();
  const response = await fetch("api/models");
  if (!response.ok) throw new Error(`the server answered ${response.status}; load the page again`);
  info = await response.json();
  const loaded = Object.entries(info.models).map(([kind, name]) => `${NAMES[kind]}: ${name}`);
  byId("loaded").textContent = loaded.join(" · ");
  const chosen = TABS.find((tab) => !byId(tab).hidden);
  select(chosen); // not from the link again: somebody may have typed since
}

start().catch((error) => {
  mark(answers(), "failed");
  showError(byId("page-error"), error);
});
