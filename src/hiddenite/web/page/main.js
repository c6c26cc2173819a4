// Tabs, theme, and what is loaded.

import { startAlign } from "./align.js";
import { startDecode } from "./decode.js";
import { byId, showError } from "./dom.js";
import { startGenerate } from "./generate.js";
import { startTag } from "./tag.js";

const TABS = ["decode", "tag", "align", "generate"];
const STARTS = { decode: startDecode, tag: startTag, align: startAlign, generate: startGenerate };
const NAMES = { lm: "Language model", tagger: "tagger", aligner: "aligner", hmm: "HMM" };

let info = null; // what the server offers
const started = new Set();

// A tab asks its first question when it is first seen.
function select(name) {
  if (info && !started.has(name)) {
    started.add(name);
    STARTS[name](info);
  }
  for (const tab of TABS) {
    const isChosen = tab === name;
    byId(`tab-${tab}`).setAttribute("aria-selected", String(isChosen));
    byId(`tab-${tab}`).tabIndex = isChosen ? 0 : -1;
    byId(tab).hidden = !isChosen;
  }
}

const follow = () => select(TABS.includes(location.hash.slice(1)) ? location.hash.slice(1) : "decode");

function startTabs() {
  TABS.forEach((name, i) => {
    const tab = byId(`tab-${name}`);
    const choose = (other) => {
      history.replaceState(null, "", `#${other}`);
      select(other);
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

async function start() {
  for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());
  startTheme();
  startTabs();
  const response = await fetch("api/models");
  if (!response.ok) throw new Error(`the server answered ${response.status}; load the page again`);
  info = await response.json();
  const loaded = Object.entries(info.models).map(([kind, name]) => `${NAMES[kind]}: ${name}`);
  byId("loaded").textContent = loaded.join(" · ");
  follow();
}

start().catch((error) => showError(byId("decode-error"), error));
