"""The cells of experiments/languages.py, as pages and claims read them.

A cell is a corpus, a model and a seed, run at the papers' length. Claims about languages compare means over
the seeds that all models of the comparison have. They are judged once ``LEAST_LANGUAGES`` texts in other
languages than English have the models that a rule names, and for these languages alone.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.common import RESULTS, Judgement

CELLS = RESULTS / "languages"
ENGLISH = ("wsj", "ewt")
LEAST_LANGUAGES = 3
MATCHED = 2.0  # points: about what two seeds differ by
Cell = dict[str, Any]
Cells = Mapping[tuple[str, str], Mapping[int, Cell]]
Scores = Mapping[str, Mapping[str, Mapping[str, float]]]  # many-to-one by corpus, model and seed


def read_cells() -> dict[tuple[str, str], dict[int, Cell]]:
    """Return the cells that are there, by corpus and model, then by seed."""
    found: dict[tuple[str, str], dict[int, Cell]] = {}
    for file in sorted(CELLS.glob("*.json")):
        cell = json.loads(file.read_text(encoding="utf-8"))
        found.setdefault((cell["corpus"], cell["model"]), {})[cell["seed"]] = cell
    return found


def scores() -> dict[str, dict[str, dict[str, float]]]:
    """Return the accuracies of all cells, as a piece of a paper's record holds them."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for (corpus, model), seeds in read_cells().items():
        by_seed = {str(seed): cell["many_to_one"] for seed, cell in seeds.items()}
        found.setdefault(corpus, {})[model] = by_seed
    return found


def means(models: Mapping[str, Mapping[str, float]], names: Sequence[str]) -> dict[str, float]:
    """Return the means over the seeds that all of these models have; nothing if there is none."""
    seeds = set.intersection(*(set(models.get(name, {})) for name in names))
    return {name: statistics.fmean(models[name][seed] for seed in seeds) for name in names} if seeds else {}


def one_tag_is_best(found: Scores) -> Judgement:
    """Judge whether both one-tag models are above the samplers of free tokens, in every language."""
    verdicts, told = [], []
    for corpus, models in found.items():
        names = ["1HMM", "1HMM+LM", "Local", "Type", *["Sent-100"] * ("Sent-100" in models)]
        mean = {} if corpus in ENGLISH else means(models, names)
        if mean:
            best = max(mean[name] for name in names[2:])
            verdicts.append(min(mean["1HMM"], mean["1HMM+LM"]) > best)
            told.append(f"{corpus} {mean['1HMM']:.1f} and {mean['1HMM+LM']:.1f} against {best:.1f}")
    return _judged(verdicts, told, len(verdicts))


def lexicon_matches(found: Scores) -> Judgement:
    """Judge whether the lexicon model is at most so many points below 1HMM+LM in several languages."""
    verdicts, told = [], []
    for corpus, models in found.items():
        mean = {} if corpus in ENGLISH else means(models, ["Lex-HMM+LM", "1HMM+LM"])
        if mean:
            verdicts.append(mean["Lex-HMM+LM"] >= mean["1HMM+LM"] - MATCHED)
            told.append(f"{corpus} {mean['Lex-HMM+LM']:.1f} against {mean['1HMM+LM']:.1f}")
    return _judged(verdicts, told, LEAST_LANGUAGES)


def _judged(verdicts: Sequence[bool], told: Sequence[str], needed: int) -> Judgement:
    """Hold if so many verdicts do; say nothing of few languages."""
    if len(verdicts) < LEAST_LANGUAGES:
        return Judgement(None, f"languages run at full length: {len(verdicts)}, needed: {LEAST_LANGUAGES}")
    return Judgement(sum(verdicts) >= needed, "; ".join(told))
