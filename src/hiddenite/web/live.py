"""The search as it runs, as small events for the page.

``step``       one turn: the bound's best path, both bounds, the number of states
``automaton``  how q looks: per position, how many states know 0, 1, 2, ... words, some of the longest
               contexts, and how many words the state on the current path knows
``done``       how it ended: proved, or a limit of the server
``error``      instead of ``done``: what went wrong, in one line

A picture of q is taken whenever q has grown by a tenth, so pictures cost a constant factor of the search.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from hiddenite._core import Deadline
from hiddenite.inference import search
from hiddenite.results import Step
from hiddenite.searching import Search
from hiddenite.web import schema
from hiddenite.web.models import Models
from hiddenite.web.reading import language_model, observe

GROWTH = 1.1  # of q between two pictures
SHOWN = 6  # contexts a position

Event = tuple[str, dict[str, Any]]


def watch(models: Models, request: schema.Search, deadline: Deadline) -> Iterator[Event]:
    """Search, and yield the events of each turn."""
    limits = models.limits
    _, candidates = observe(models, request)
    turns = search(language_model(models), candidates, method=request.method)
    seconds, drawn, steps = 0.0, 0.0, 0
    step: Step | None = None
    is_last = False
    while not is_last and not deadline.is_over:
        begun = time.perf_counter()
        try:
            step = next(turns)
        except TimeoutError:
            break
        seconds += time.perf_counter() - begun
        yield "step", step.to_dict() | {"number": steps}
        steps += 1
        is_last = turns.done or steps >= limits.steps or step.states > limits.states
        if is_last or step.states >= GROWTH * drawn:
            drawn = step.states
            yield "automaton", picture(turns, step)
    states = 0 if step is None else step.states
    yield "done", {"exact": turns.done, "steps": steps, "states": states, "seconds": seconds}


def picture(turns: Search, step: Step) -> dict[str, Any]:
    """Describe q."""
    history = ("<s>", *step.words)
    return {
        "states": step.states,
        "positions": [_column(turns.contexts(i), history[: i + 1]) for i in range(len(step.words) + 1)],
    }


def _column(contexts: list[tuple[str, ...]], history: tuple[str, ...]) -> dict[str, Any]:
    lengths = Counter(map(len, contexts))
    known = set(contexts)
    on_path = max((n for n in range(len(history) + 1) if history[len(history) - n :] in known), default=0)
    longest = sorted(known, key=len, reverse=True)[:SHOWN]
    return {
        "lengths": [lengths[n] for n in range(max(lengths, default=0) + 1)],
        "path": on_path,
        "contexts": [list(context) for context in longest if context],
    }
