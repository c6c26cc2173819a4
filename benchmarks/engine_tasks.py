"""Tasks of the engine and their processor time, by whatever version of hiddenite runs this file.

JSON in: the model, messages in key presses, repeats. JSON out: seconds by task. It uses only what all
versions have.
"""

from __future__ import annotations

import inspect
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import hiddenite

DRAWS = 1000


def time_tasks(model: str, keys: list[str], repeats: int) -> dict[str, float]:
    """Return the processor time of each task."""
    lm = hiddenite.NgramModel.load(model)
    keypad = hiddenite.Keypad(lm.vocabulary)
    every = [keypad(message) for message in keys]
    few = every[: max(1, len(every) // 4)]
    has_epsilon = "epsilon" in inspect.signature(hiddenite.sample).parameters
    whole: dict[str, Any] = {"epsilon": 0.0} if has_epsilon else {}
    tasks: dict[str, Callable[[], object]] = {
        "decode, auto": lambda: [hiddenite.decode(lm, c) for c in every],
        "decode, dominance": lambda: [hiddenite.decode(lm, c, method="dominance") for c in every],
        "decode, full": lambda: [hiddenite.decode(lm, c, method="full") for c in few],
        "decode, refine": lambda: [hiddenite.decode(lm, c, method="refine") for c in every],
        "decode, batch": lambda: list(hiddenite.decode_many(lm, every * 10, threads=1)),
        "100 best": lambda: [hiddenite.kbest(lm, c, 100) for c in few],
        f"{DRAWS} draws": lambda: [hiddenite.sample(lm, c, DRAWS, seed=1, **whole) for c in few],
        "marginals": lambda: [hiddenite.marginals(lm, c, **whole) for c in few],
        "least expected errors": lambda: [hiddenite.decode(lm, c, objective="mbr") for c in few],
    }
    found = {}
    for name, task in tasks.items():
        times = []
        for _ in range(repeats + 1):
            begun = time.process_time()
            task()
            times.append(time.process_time() - begun)
        found[name] = min(times)
    return found


if __name__ == "__main__":
    print(json.dumps(time_tasks(*json.load(sys.stdin))))
