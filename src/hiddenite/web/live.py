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

from hiddenite.inference import Search, search
from hiddenite.results import Step
from hiddenite.web.models import Models
from hiddenite.web.questions import Request, language_model, observe

GROWTH = 1.1  # of q between two pictures
SHOWN = 6  # contexts a position

Event = tuple[str, dict[str, Any]]


def watch(models: Models, request: Request) -> Iterator[Event]:
    """Search, and tell each turn. Time is counted where it is spent: not while nobody asks for the next."""
    limits = models.limits
    _, candidates = observe(models, request)
    turns = search(language_model(models), candidates, method=request["method"])
    seconds, drawn, step = 0.0, 0.0, None
    for number in range(limits.steps):
        begun = time.perf_counter()
        step = next(turns)
        seconds += time.perf_counter() - begun
        yield "step", step.to_dict() | {"number": number}
        if turns.done or step.states >= GROWTH * drawn:
            drawn = step.states
            yield "automaton", picture(turns, step)
        if turns.done or seconds > limits.seconds or step.states > limits.states:
            break
    assert step is not None
    if not turns.done:
        yield "automaton", picture(turns, step)
    yield "done", {"exact": turns.done, "steps": number + 1, "states": step.states, "seconds": seconds}


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
