"""The models of tables 1, 2 and 5 as large as a processor of two cores trains within minutes.

The hidden Markov model has 4,096 states and reads the whole Penn Treebank; two kinds of dropout see the same
batches for the same number of epochs. The networks beside it are the paper's, with a factored output: a
softmax over ten thousand words is most of what they cost. All of them are optimised by AdamW whose rate falls
to zero along a cosine, and end earlier if three epochs gain nothing.

A training keeps its state at the end of each epoch, and beside it the valid perplexities and the processor
time so far: one that was stopped goes on with the next epoch.
"""

from __future__ import annotations

import functools
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax
from hmmlm_neural import SEED, text

from hiddenite.hmmlm.neural import ModelOptions, NetworkOptions, NeuralTraining, TrainerOptions, train_network
from hiddenite.hmmlm.neural.trainer import Report

CHECKPOINTS = Path(os.environ["HIDDENITE_BENCH"]) / "chiu2020"
ONLY_AT_ENDS = 1 << 30  # steps between two checkpoints: none within an epoch


@dataclass(frozen=True)
class Plan:
    """How long a model is trained, and on how many words at a time."""

    epochs: int
    batch_tokens: int
    rate: float

    def trainer(self) -> TrainerOptions:
        """The text in order, as in table 1 of the paper."""
        return TrainerOptions(
            epochs=self.epochs,
            batching="document",
            batch_tokens=self.batch_tokens,
            segment=32,
            rate=self.rate,
            warmup=50,
            checkpoint_steps=ONLY_AT_ENDS,
        )


@dataclass(frozen=True)
class Text:
    """How much of a text is read, and how the models on it are trained."""

    lines: int
    valid_lines: int
    hmm: Plan
    networks: dict[str, Plan]


@dataclass(frozen=True)
class LargeSize:
    """How large the models are."""

    states: int
    clusters: int
    width: int
    widths: dict[str, int]  # of networks
    texts: dict[str, Text]


class Record:
    """Valid perplexities by epoch and processor time, kept beside a checkpoint."""

    def __init__(self, path: Path) -> None:
        self._path, self._begun = path, time.process_time()
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.curve: list[float] = kept.get("curve", [])
        self._earlier: float = kept.get("seconds", 0.0)

    @property
    def seconds(self) -> float:
        """Processor time, that of earlier runs included."""
        return self._earlier + time.process_time() - self._begun

    def add(self, report: Report) -> None:
        """Keep an epoch."""
        assert report.valid_perplexity is not None
        self.curve.append(report.valid_perplexity)
        kept = {"curve": self.curve, "seconds": self.seconds}
        self._path.write_text(json.dumps(kept), encoding="utf-8")
        print(f"   epoch {report.number}: {report.valid_perplexity:.1f}, {self.seconds:.0f} s", flush=True)

    def figures(self) -> dict[str, Any]:
        """Return what every model has."""
        return {"curve": self.curve, "epochs": len(self.curve), "seconds": self.seconds, "seed": SEED}


def _begin(name: str, corpus: str, part: Text) -> tuple[bytes, bytes, Path, Record]:
    CHECKPOINTS.mkdir(parents=True, exist_ok=True)
    kept = CHECKPOINTS / f"{corpus}-large-{name}-{part.lines}.checkpoint"
    train, valid = text("train", part.lines, corpus), text("valid", part.valid_lines, corpus)
    return train, valid, kept, Record(kept.with_suffix(".json"))


def hmm(dropout: str, corpus: str, size: LargeSize) -> dict[str, Any]:
    """Train one hidden Markov model, half of whose states or pairs of states are dropped at each step."""
    part = size.texts[corpus]
    train, valid, kept, record = _begin(dropout, corpus, part)
    options = ModelOptions(
        states=size.states, clusters=size.clusters, width=size.width, dropout=dropout, dropout_rate=0.5
    )
    run = NeuralTraining(train, options, part.hmm.trainer(), seed=SEED, valid=valid, checkpoint=kept)
    for report in run:
        record.add(report)
    model = run.model()
    usage = model.usage(valid)
    found = {
        "options": asdict(options),
        "parameters": sum(int(x.size) for x in jax.tree.leaves(run.trainer.params)),
        "perplexity": model.perplexity(valid),
        "occupancy": usage.occupancy,
        "emission_entropy": usage.emission_entropy,
        "transition_entropy": usage.transition_entropy,
    }
    return found | _about(train, part.hmm) | record.figures()


def network(kind: str, corpus: str, size: LargeSize) -> dict[str, Any]:
    """Train one network."""
    part = size.texts[corpus]
    plan = part.networks[kind]
    train, valid, kept, record = _begin(kind, corpus, part)
    options = NetworkOptions(kind, size.widths[kind], output="factored")
    model = train_network(
        train, options, plan.trainer(), seed=SEED, valid=valid, on_epoch=record.add, checkpoint=kept
    )
    found = {
        "options": asdict(options),
        "parameters": model.num_parameters,
        "perplexity": model.perplexity(valid),
    }
    return found | _about(train, plan) | record.figures()


def _about(train: bytes, plan: Plan) -> dict[str, Any]:
    lines = train.count(b"\n")
    return {"lines": lines, "tokens": len(train.split()) + lines, "plan": asdict(plan)}


def _pieces(corpus: str) -> dict[str, Callable[[LargeSize], dict[str, Any]]]:
    before = "" if corpus == "ptb" else "wikitext-"
    kinds = {
        "feed-forward": functools.partial(network, "feed-forward", corpus),
        "state": functools.partial(hmm, "state", corpus),
        "lstm": functools.partial(network, "lstm", corpus),
    }
    return {f"{before}large-{name}": work for name, work in kinds.items()}


LARGE: dict[str, Callable[[LargeSize], dict[str, Any]]] = {
    **_pieces("ptb"),
    "large-unstructured": functools.partial(hmm, "unstructured", "ptb"),
    **_pieces("wikitext-2"),
}
