// What can be done with an answer: download it, copy a link to it, ask the same elsewhere.

import { byId, el } from "./dom.js";
import { linkTo } from "./link.js";

export function download(name, text) {
  const kind = name.endsWith(".json") ? "application/json" : name.endsWith(".html") ? "text/html" : "text/plain";
  const address = URL.createObjectURL(new Blob([text], { type: `${kind};charset=utf-8` }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// Says on the button itself what came of it.
async function copy(button, text, otherwise) {
  const label = (button.dataset.label ??= button.textContent);
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch { // no clipboard without https, except on this machine
    button.textContent = otherwise();
  }
  setTimeout(() => { button.textContent = label; }, 2000);
}

function selectAll(node) {
  getSelection().selectAllChildren(node);
  return "Selected: press Ctrl C";
}

function button(label, action) {
  const node = el("button", { type: "button" }, label);
  node.addEventListener("click", () => action(node));
  return node;
}

function program(kind, title) {
  const code = el("code");
  const block = el("pre", { tabindex: "0", class: kind, role: "group", "aria-label": title }, code);
  const head = el("p", { class: "code-head" }, title, button("Copy", (node) => copy(node, code.textContent, () => selectAll(code))));
  return el("div", {}, head, block);
}

function make(parent, tab) {
  const place = button("Copy link", (node) => copy(node, location.href.split("#")[0] + linkTo(tab), () => "It is in the address bar"));
  const same = el("details", {}, el("summary", {}, "The same as a command, and as Python"),
    program("command", "In a shell"), program("python", "In Python"));
  parent.replaceChildren(el("div", { class: "controls" }, el("span", { class: "controls files" }), place), same);
}

// `files` are [label, name, text]; `programs` are { command, python }, or null where no model file is known.
export function showUse(tab, files, programs, id = `${tab}-use`) {
  const parent = byId(id);
  if (!parent.firstChild) make(parent, tab);
  parent.querySelector(".files").replaceChildren(...files.map(([label, name, text]) => button(label, () => download(name, text))));
  parent.querySelector("details").hidden = !programs;
  if (!programs) return;
  parent.querySelector("pre.command code").textContent = programs.command;
  parent.querySelector("pre.python code").textContent = programs.python;
}

export const json = (value) => `${JSON.stringify(value, null, 1)}\n`;
