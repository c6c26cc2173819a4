"""The lexicon HMM beside the Pitman–Yor HMM and its one-tag approximation, with and without spelling.

The lexicon model is the published one; its chain starts from a short one-tag run unless ``random`` says
otherwise, and has moves besides the published ones.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from induce_runs import FILES
from sms import DATA

from experiments.induction import Corpus, gold_classes, induced
from hiddenite.induction.options import DEFAULT_START_ITERATIONS

MODELS: dict[str, dict[str, Any]] = {
    "lex": {"model": "lex"},
    "type": {"model": "pyp", "sampler": "type"},
    "local": {"model": "pyp", "sampler": "local"},
    "1hmm": {"model": "one-tag"},
    "lex+lm": {"model": "lex+lm"},
    "type+lm": {"model": "pyp+lm", "sampler": "type"},
    "local+lm": {"model": "pyp+lm", "sampler": "local"},
    "1hmm+lm": {"model": "one-tag+lm"},
    "lex+lm-50": {"model": "lex+lm", "particles": 50},
    "lex+lm-random": {"model": "lex+lm", "start": "random"},
}
SEEDS = {"lex+lm": (1, 2, 3), "1hmm+lm": (1, 2, 3)}  # what is said to be equal; others have one
OTHER_TEXTS = ("ewt", "brown")
FEWER_TAGS = {"brown": 45}  # its tags are a hundred and more
OTHER_MODELS = ("local", "1hmm+lm", "lex+lm")


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    sentences: int
    other_sentences: int  # of the other texts
    sweeps: int
    local_sweeps: int


SIZES = {
    "tiny": Size(40, 40, 4, 6),
    "small": Size(400, 400, 40, 100),
    "reduced": Size(800, 500, 80, 200),
    "full": Size(100_000, 100_000, 200, 500),
}


def model_run(name: str, seed: int, corpus: str, size: Size) -> dict[str, Any]:
    """Run one model with one seed."""
    sweeps = size.local_sweeps if name.startswith("local") else size.sweeps
    if name.startswith("1hmm"):
        sweeps += DEFAULT_START_ITERATIONS  # as many as a lexicon chain has, its start included
    limit = size.sentences if corpus == "wsj" else size.other_sentences
    return induced(
        Corpus(corpus, limit), FEWER_TAGS.get(corpus), iterations=sweeps, seed=seed, **MODELS[name]
    )


def gold(size: Size) -> dict[str, Any]:
    """Figure 2: the ambiguity classes of the gold tags."""
    return gold_classes(Corpus("wsj", size.sentences))


PIECES: dict[str, Callable[[Size], dict[str, Any]]] = {"gold": gold}
for _name in MODELS:
    for _seed in SEEDS.get(_name, (1,)):
        PIECES[f"wsj-{_name}-{_seed}"] = functools.partial(model_run, _name, _seed, "wsj")
for _corpus in OTHER_TEXTS:
    if all((DATA / "tagged" / name).exists() for name in FILES[_corpus]):
        for _name in OTHER_MODELS:
            PIECES[f"{_corpus}-{_name}-1"] = functools.partial(model_run, _name, 1, _corpus)
