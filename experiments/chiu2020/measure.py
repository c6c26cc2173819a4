"""Hidden Markov language models by gradient, their ablations, and networks beside them.

The models are those of ``benchmarks/hmmlm_neural.py``, smaller; all of them are optimised alike. The rows of
EM are more states on more text than gradients can afford here, for the tables that are about states and
clusters. At full size the models of tables 1, 2 and 5 are those of ``large``, EM has the states of
``FULL_EM``, and table 7 also has models with log-bilinear transitions (``BILINEAR``) and lexicalised ones
(``LEXICAL``).
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

from experiments.chiu2020.large import LARGE, LargeSize, Plan
from experiments.chiu2020.large import Text as LargeText
from hiddenite.hmmlm import HMMLanguageModel

CHECKPOINTS = Path(os.environ["HIDDENITE_BENCH"]) / "chiu2020"
WIKITEXT = ("network-lstm", "network-feed-forward", "constraint-brown")
PER_WORD = 32  # states, of models by EM
LONGER_LINES = 5  # a line of WikiText-2 is a paragraph
LEFT_OUT = ("form-em-scalar", "form-em-neural", "form-scalar", "form-scalar-full")  # no table of the paper's


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    model: ModelSize
    em_lines: int
    em_states: int  # and half, twice, four times as many
    em_epochs: int
    large: LargeSize


_SHORT = Plan(1, 128, 5e-3)
_FEW = LargeText(60, 20, _SHORT, {"feed-forward": _SHORT, "lstm": _SHORT})
TINY_LARGE = LargeSize(16, 4, 4, {"feed-forward": 8, "lstm": 8}, {"ptb": _FEW, "wikitext-2": _FEW})
# Fixed by the cost of a step, and by 250 steps of the hidden Markov model at two rates, before any of them
# was run to its end, but for the 16 epochs, which were 6 at first: see docs/experiments-full.md.
FULL_LARGE = LargeSize(
    states=4096,
    clusters=128,
    width=128,
    widths={"feed-forward": 256, "lstm": 128},
    texts={
        "ptb": LargeText(
            1_000_000,
            1_000_000,
            Plan(16, 2048, 5e-3),
            {"feed-forward": Plan(6, 2048, 3e-3), "lstm": Plan(7, 1024, 2e-3)},
        ),
        "wikitext-2": LargeText(
            1500,
            300,
            Plan(6, 1024, 5e-3),
            {"feed-forward": Plan(10, 512, 3e-3), "lstm": Plan(10, 512, 2e-3)},
        ),
    },
)
SIZES = {
    "tiny": Size(
        ModelSize(lines=60, valid_lines=20, states=16, per_word=4, epochs=1, width=4), 200, 32, 2, TINY_LARGE
    ),
    "small": Size(
        ModelSize(lines=1000, valid_lines=300, states=128, per_word=16, epochs=3, width=32),
        2000,
        256,
        4,
        TINY_LARGE,
    ),
    "reduced": Size(
        ModelSize(lines=2500, valid_lines=600, states=256, per_word=16, epochs=4, width=32),
        1_000_000,
        1024,
        8,
        TINY_LARGE,
    ),
    "full": Size(ModelSize(), 1_000_000, 16384, 10, FULL_LARGE),
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
    classes = max(2, round(size.em_states * clusters) // PER_WORD)
    return em_model(number, classes, sets, size, choose_smoothing=True)


def em_model(
    number: int, classes: int, sets: str, size: Size, *, choose_smoothing: bool = False
) -> dict[str, Any]:
    """Train one model by EM; smoothing is chosen on valid text, or the usual one.

    Choosing it fills a table of all pairs of states again and again: with 16,384 states that is most of the
    time that a training takes.
    """
    train, valid = text("train", size.em_lines), text("valid")
    begun = time.process_time()
    model = HMMLanguageModel.train(
        train,
        number,
        classes,
        seed=SEED,
        valid=valid if choose_smoothing else None,
        epochs=size.em_epochs,
        sets=sets,
        states_per_word=PER_WORD if sets == "uniform" else None,
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


# ------------------------------------------------------------------- full size

FULL_EM: dict[str, tuple[int, int, str]] = {
    "em-4k": (4096, 128, "brown"),
    "em-8k": (8192, 256, "brown"),
    "em-16k": (16384, 512, "brown"),
    "em-32k": (32768, 1024, "brown"),
    "em-uniform-4k": (4096, 128, "uniform"),
    "em-16k-256": (16384, 256, "brown"),
    "em-16k-1024": (16384, 1024, "brown"),
    "em-1k-16": (1024, 16, "brown"),
    "em-1k-32": (1024, 32, "brown"),
    "em-1k-64": (1024, 64, "brown"),
}


# All with 128 clusters, 12 epochs and two rounds, as in the presets `mixture` and `best`.
BILINEAR: dict[str, tuple[int, int]] = {  # states of a member, members
    "bilinear-4k": (4096, 1),
    "bilinear-8k": (8192, 1),
    "bilinear-16k": (16384, 1),
    "bilinear-65k": (8192, 8),
}
LEXICAL: dict[str, int] = {"lexical-65k": 65_536, "lexical-131k": 131_072}  # states that are kept


def _bilinear(states: int, members: int, size: Size) -> dict[str, Any]:
    train, valid = text("train", size.em_lines), text("valid")
    begun = time.process_time()
    model = HMMLanguageModel.train(
        train, states, preset="mixture", seed=SEED, valid=valid, members=members, threads=1
    )
    return _measured(model, valid, size) | {"members": members, "seconds": time.process_time() - begun}


def _lexical(states: int, size: Size) -> dict[str, Any]:
    train, valid = text("train", size.em_lines), text("valid")
    begun = time.process_time()
    model = HMMLanguageModel.train_lexical(train, seed=SEED, states=states, valid=valid, threads=1)
    return _measured(model, valid, size) | {"seconds": time.process_time() - begun}


def _measured(model: HMMLanguageModel, valid: bytes, size: Size) -> dict[str, Any]:
    return {
        "states": model.num_states,
        "perplexity": model.perplexity(valid),
        "seed": SEED,
        "lines": size.em_lines,
    }


def _large(work: Callable[[LargeSize], dict[str, Any]], size: Size) -> dict[str, Any]:
    return work(size.large)


FULL_PIECES: dict[str, Callable[[Size], dict[str, Any]]] = {
    **{name: functools.partial(_large, work) for name, work in LARGE.items()},
    **{name: functools.partial(em_model, *options) for name, options in FULL_EM.items()},
    **{name: functools.partial(_bilinear, *options) for name, options in BILINEAR.items()},
    **{name: functools.partial(_lexical, states) for name, states in LEXICAL.items()},
    **{name: PIECES[name] for name in _NAMES if not name.startswith("network-")},
}
