"""Hidden Markov language models by gradient, their ablations, and networks beside them.

The models are those of ``benchmarks/hmmlm_neural.py``, smaller; all of them are optimised alike. The rows of
EM are more states on more text than gradients can afford here, for the tables that are about states and
clusters.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hmmlm_neural import SEED, Ablation, ablations, run_ablation, text
from hmmlm_neural import Size as ModelSize

from hiddenite.hmmlm import HMMLanguageModel

CHECKPOINTS = Path(os.environ["HIDDENITE_BENCH"]) / "chiu2020"
WIKITEXT = ("network-lstm", "network-feed-forward", "constraint-brown")
LONGER_LINES = 5  # a line of WikiText-2 is a paragraph
LEFT_OUT = ("form-em-scalar", "form-em-neural", "form-scalar", "form-scalar-full")  # no table of the paper's


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    model: ModelSize
    em_lines: int
    em_states: int  # and half, twice, four times as many
    em_epochs: int


SIZES = {
    "tiny": Size(ModelSize(lines=60, valid_lines=20, states=16, per_word=4, epochs=1, width=4), 200, 32, 2),
    "small": Size(
        ModelSize(lines=1000, valid_lines=300, states=128, per_word=16, epochs=3, width=32), 2000, 256, 4
    ),
    "reduced": Size(
        ModelSize(lines=2500, valid_lines=600, states=256, per_word=16, epochs=4, width=32),
        1_000_000,
        1024,
        8,
    ),
    "full": Size(ModelSize(network_epochs=40), 1_000_000, 16384, 16),
}


def gradient(name: str, corpus: str, size: Size) -> dict[str, Any]:
    """Train one model by gradient."""
    CHECKPOINTS.mkdir(parents=True, exist_ok=True)
    ablation = dataclasses.replace(rows(size)[name], corpus=corpus)
    model = size.model
    if corpus == "wikitext-2":
        lines, valid_lines = (max(10, n // LONGER_LINES) for n in (model.lines, model.valid_lines))
        model = dataclasses.replace(model, lines=lines, valid_lines=valid_lines)
    kept = f"{corpus}-{name}-{model.states}-{model.lines}"
    found = run_ablation(kept, ablation, model, directory=CHECKPOINTS)
    return found | {"lines": model.lines, "width": model.width}


def rows(size: Size) -> dict[str, Ablation]:
    """Return the models by names that do not depend on the size."""
    z, k = size.model.states, size.model.per_word
    named = {}
    for name, ablation in ablations(size.model).items():
        kind, _, value = name.rpartition("-")
        unit = {"states": z, "clusters": z // k}.get(kind)
        named[f"{kind}-x{int(value) / unit:g}" if unit else name] = ablation
    return named


def em(states: float, clusters: float, sets: str, size: Size) -> dict[str, Any]:
    """Train one model by EM: so many times the usual states and clusters."""
    number = round(size.em_states * states)
    classes = max(2, round(size.em_states * clusters) // 32)
    train, valid = text("train", size.em_lines), text("valid")
    begun = time.process_time()
    model = HMMLanguageModel.train(
        train,
        number,
        classes,
        seed=SEED,
        valid=valid,
        epochs=size.em_epochs,
        sets=sets,
        states_per_word=32 if sets == "uniform" else None,
    )
    usage = model.usage(valid)
    return {
        "states": number,
        "clusters": classes,
        "perplexity": model.perplexity(valid),
        "occupancy": usage.occupancy,
        "emission_entropy": usage.emission_entropy,
        "transition_entropy": usage.transition_entropy,
        "seconds": time.process_time() - begun,
        "lines": size.em_lines,
    }


EM: dict[str, tuple[float, float, str]] = {
    "em-x0.5": (0.5, 0.5, "brown"),
    "em-x1": (1, 1, "brown"),
    "em-x2": (2, 2, "brown"),
    "em-x4": (4, 4, "brown"),
    "em-clusters-x0.5": (1, 0.5, "brown"),
    "em-clusters-x2": (1, 2, "brown"),
    "em-x4-clusters-x0.5": (4, 2, "brown"),
    "em-x4-clusters-x2": (4, 8, "brown"),
    "em-uniform": (1, 1, "uniform"),
}
_NAMES = [name for name in rows(SIZES["full"]) if name not in LEFT_OUT]
PIECES: dict[str, Callable[[Size], dict[str, Any]]] = {
    **{name: functools.partial(gradient, name, "ptb") for name in _NAMES},
    **{f"wikitext-{name}": functools.partial(gradient, name, "wikitext-2") for name in WIKITEXT},
    **{name: functools.partial(em, *options) for name, options in EM.items()},
}
