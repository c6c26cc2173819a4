// A tab's question from its beginning to its end: cards out of date together, the last question wins.

import { isAbort } from "./api.js";
import { byId, mark, showError } from "./dom.js";

// Returns what begins a question; `answer(signal)` asks and shows. Whatever ran before is dropped.
export function turns(errorId, cards) {
  let running = new AbortController();
  return async (isEmpty, answer) => {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    showError(byId(errorId), null);
    mark(cards(), isEmpty ? "empty" : "pending");
    if (isEmpty) return;
    try {
      await answer(signal);
      if (!signal.aborted) mark(cards(), "");
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      mark(cards(), "failed");
      showError(byId(errorId), error);
    }
  };
}

// Waits while somebody still types; a newer question ends it.
export const pause = (milliseconds, signal) => new Promise((resume, fail) => {
  setTimeout(() => (signal.aborted ? fail(signal.reason) : resume()), milliseconds);
});
