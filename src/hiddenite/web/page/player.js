// The search as it ran, played again: slowly, step by step, or as often as you like.

import { drawAutomaton, drawBounds } from "./charts.js";
import { byId } from "./dom.js";

const SECONDS = 4; // in which a search is played, about
const SLOWEST = 0.45; // seconds a step
const FRAME = 1 / 30;

export class Player {
  constructor() {
    this.timer = 0;
    this.clear();
    byId("search-play").addEventListener("click", () => (this.timer ? this.pause() : this.play()));
    byId("search-step").addEventListener("click", () => {
      this.pause();
      this.show(this.at >= this.steps.length ? 1 : this.at + 1);
    });
    byId("search-end").addEventListener("click", () => {
      this.pause();
      this.show(this.steps.length);
    });
  }

  clear() {
    this.pause();
    this.steps = [];
    this.pictures = []; // [number of steps before it, what the server drew]
    this.at = 0; // steps that are shown
    this.enable();
  }

  add(event, data) {
    if (event === "step") this.steps.push(data);
    if (event === "automaton") this.pictures.push([this.steps.length, data]);
  }

  // All events have come: play them, or show the end to those who want no motion.
  begin() {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.show(this.steps.length);
    else this.play();
  }

  play() {
    const total = this.steps.length;
    if (this.at >= total) this.at = 0;
    const seconds = Math.min(SLOWEST, Math.max(FRAME, SECONDS / Math.max(1, total)));
    const count = Math.max(1, Math.round((total * seconds) / SECONDS));
    clearInterval(this.timer);
    this.timer = setInterval(() => {
      this.show(Math.min(total, this.at + count));
      if (this.at >= total) this.pause();
    }, 1000 * seconds);
    this.enable();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
    this.enable();
  }

  show(at) {
    this.at = at;
    const steps = this.steps.slice(0, at);
    if (steps.length === 0) return;
    drawBounds(byId("bounds"), steps);
    const picture = this.pictures.filter(([before]) => before <= at).pop();
    if (picture) drawAutomaton(byId("automaton"), picture[1], this.steps[picture[0] - 1].words);
    this.enable();
  }

  enable() {
    const isEmpty = !this.steps?.length;
    for (const id of ["search-play", "search-step", "search-end"]) byId(id).disabled = isEmpty;
    byId("search-play").textContent = this.timer ? "Pause" : isEmpty || this.at >= this.steps.length ? "Replay" : "Play";
    byId("search-place").textContent = isEmpty ? "" : `step ${this.at} of ${this.steps.length}`;
  }
}
