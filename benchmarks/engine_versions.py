"""This version beside another one, in turns, by processor time.

The other is the interpreter that HIDDENITE_OTHER names, with any version of hiddenite installed. A task has
the least time of all turns: what another process takes away is not ours.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from engine_walk import Sizes
from report import Row, milliseconds, table
from sms import CORPORA, messages, model_file, type_keys

BAR = 1.05
TURNS = 4
TASKS = Path(__file__).with_name("engine_tasks.py")


def _ask(python: str, request: str) -> dict[str, float]:
    done = subprocess.run([python, str(TASKS)], input=request, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def versions(sizes: Sizes) -> Row:
    """Messages of ten words, order 5: every task of the engine under both versions."""
    other = os.environ.get("HIDDENITE_OTHER")
    what, bar = "This version beside an earlier one, processor time", f"no task above {BAR}×"
    if other is None:
        return Row(what, bar, "nothing: HIDDENITE_OTHER names no interpreter", None)
    keys = list(type_keys(messages(CORPORA["hansard"], 10, sizes.messages)))
    request = json.dumps([str(model_file(CORPORA["hansard"], 5)), keys, sizes.repeats])
    least: list[dict[str, float]] = [{}, {}]
    for _ in range(TURNS):
        for mine, python in zip(least, (sys.executable, other), strict=True):
            for name, seconds in _ask(python, request).items():
                mine[name] = min(seconds, mine.get(name, seconds))
    ratios = {name: least[0][name] / least[1][name] for name in least[0]}
    rows = [
        [name, milliseconds(least[1][name]), milliseconds(least[0][name]), f"{ratio:.2f}"]
        for name, ratio in ratios.items()
    ]
    worst = max(ratios.values())
    return Row(
        what, bar, f"worst {worst:.2f}×", worst <= BAR, table(["task", "earlier ms", "now ms", "ratio"], rows)
    )
