// Permalinks: what a tab's controls hold is in the address, behind the tab's name: #tag?sentence=the+dog

import { byId, later } from "./dom.js";

const IDLE = 300; // milliseconds; browsers refuse an address that changes with every key

const controls = (tab) => [...byId(tab).querySelectorAll("textarea, select, input:not([type=file])")];
const hidden = new Map([...document.querySelectorAll("input[type=hidden]")].map((one) => [one, one.value]));

const isSwitch = (control) => control.type === "checkbox";
const valueOf = (control) => (isSwitch(control) ? String(control.checked) : control.value);

function defaultOf(control) {
  if (hidden.has(control)) return hidden.get(control);
  if (isSwitch(control)) return String(control.defaultChecked);
  if (control.options) return ([...control.options].find((one) => one.defaultSelected) ?? control.options[0]).value;
  return control.defaultValue;
}

function put(control, value) {
  if (isSwitch(control)) control.checked = value === "true";
  else control.value = value;
}

export function linkTo(tab) {
  const held = controls(tab).filter((one) => valueOf(one) !== defaultOf(one)).map((one) => [one.id, valueOf(one)]);
  return held.length ? `#${tab}?${new URLSearchParams(held)}` : `#${tab}`;
}

// The tab that an address names, and whether it says what the tab holds.
export function readLink() {
  const [tab, query] = location.hash.slice(1).split(/\?(.*)/s);
  return { tab, query };
}

export function restore(tab, query) {
  const held = new URLSearchParams(query);
  for (const control of controls(tab)) put(control, held.get(control.id) ?? defaultOf(control));
}

export const remember = later(IDLE, (tab) => {
  if (!byId(tab).hidden) history.replaceState(null, "", linkTo(tab));
});

// A number that is kept in a hidden field, such as a seed.
export function next(id) {
  byId(id).value = String(Number(byId(id).value) + 1);
}
