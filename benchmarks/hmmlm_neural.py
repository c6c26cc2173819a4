"""Gradient training of hidden Markov language models: the speed of a step, and the paper's ablations.

    python benchmarks/hmmlm_neural.py [ROW ...] [--quick] [--write] [--seconds N] [--list]

``step`` and ``step-large`` time one training step at 16 k states. Every other row trains one model: its
figures are kept in ``build/hmmlm-neural/ROW.json`` and its checkpoint beside it, so that rows can be run one
by one, in any order, and an interrupted one goes on. ``ablations`` are all those that have no figures yet;
``--seconds`` ends the run between two steps once so much time is gone. ``--write`` puts what is finished into
RESULTS.md.
Data: lm/ptb under HIDDENITE_DATA, or beside the checkout. Needs the extra ``neural``.

The models of the ablations are small (SIZE below says how small) and see a part of the Penn Treebank: their
figures are to be compared with each other, not with those of the whole corpus.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from report import Row, machine, table, write_section

from hiddenite import HMMLanguageModel, NgramModel
from hiddenite._core import WordTable, read_tokens
from hiddenite.hmmlm import Clustering, Interpolation
from hiddenite.hmmlm.neural import (
    ModelOptions,
    NetworkOptions,
    NeuralTraining,
    TrainerOptions,
    train_network,
)
from hiddenite.hmmlm.neural.layout import make_layout
from hiddenite.hmmlm.neural.task import HmmTask
from hiddenite.hmmlm.neural.trainer import Report, Trainer
from hiddenite.hmmlm.shape import brown_shape, word_classes

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("HIDDENITE_DATA", ROOT.parent / "shared" / "data")) / "lm"
KEPT = ROOT / "build" / "hmmlm-neural"
TITLE = "Gradient training of hidden Markov language models"
SEED = 1
REPEATS = 3
NOTE = (
    "Entropies in nats. One seed. Processor time, compilation included. All models had the same few hundred "
    "steps; the LSTM and the scalars from a random start were still far from their best. A start that no "
    "epoch improves on is kept."
)
STEPS = {"step": 512, "step-large": 4096}  # tokens of a batch


@dataclasses.dataclass(frozen=True)
class Size:
    """How large the models of the ablations are."""

    lines: int = 4000  # of the training text
    valid_lines: int = 1000
    states: int = 512
    per_word: int = 32
    epochs: int = 5
    width: int = 64
    network_epochs: int | None = None  # None: as many; more end where valid text no longer gains


SIZE = Size()
QUICK = Size(lines=300, valid_lines=100, states=32, per_word=8, epochs=1, width=8)


def text(part: str, lines: int | None = None, corpus: str = "ptb") -> bytes:
    """Return the beginning of a part of a corpus."""
    return b"".join((DATA / corpus / f"{part}.txt").read_bytes().splitlines(keepends=True)[:lines])


# One training step


class LogSpaceTask(HmmTask):
    """The straightforward way: ln p(z'|z) for all pairs of states, then log-sum-exp over gathered blocks."""

    def loss(self, params: Any, constants: Any, prepared: Any, key: Any, carry: Any) -> Any:
        """Return minus ln p by automatic differentiation through the recursion."""
        del constants, key, carry
        hmm, batch, layout = self._hmm, prepared.batch, self.layout
        kept = hmm.keep(None)
        vectors = hmm.vectors(params, kept)
        assert vectors is not None
        h, e, bias = (v.reshape(layout.num_states, -1) for v in vectors[:3])
        logits = jnp.where(jnp.asarray(layout.live), h @ e.T + bias[:, 0], -1e30)
        s, k = layout.sets.shape
        log_transition = jax.nn.log_softmax(logits, axis=-1).reshape(s, k, s, k)
        emission = hmm.emissions(params, kept, batch.words)
        sets = prepared.pairs[prepared.pair]
        blocks = log_transition[sets[..., 0], :, sets[..., 1], :]
        first = jnp.full((len(batch.words), k), -1e30).at[:, 0].set(0.0)

        def step(alpha: Any, inputs: Any) -> Any:
            block, emit, mask = inputs
            after = jax.nn.logsumexp(alpha[:, :, None] + block, axis=1) + emit
            return jnp.where(mask[:, None], after, alpha), None

        inputs = (jnp.moveaxis(blocks, 1, 0), jnp.moveaxis(emission, 1, 0), batch.mask.T)
        last, _ = jax.lax.scan(step, first, inputs)
        return -jnp.where(batch.mask.any(axis=1), jax.nn.logsumexp(last, axis=1), 0.0).sum(), ()


def step_row(size: Size, tokens: int) -> Row:
    """Time training steps of the forms on the same batches.

    The full forms pay for all pairs of states whatever the batch, the factored one for the pairs of classes
    in it: the ratio falls with the size of the batch, hence two rows.
    """
    states, clusters, width = (16384, 128, 128) if size is SIZE else (512, 16, 16)
    lines = [line for line in text("train", 8000).splitlines(keepends=True) if 17 <= len(line.split()) < 32]
    corpus = b"".join(lines[: (REPEATS + 1) * tokens // 32])
    words = WordTable()
    read = read_tokens(corpus, "<ptb>", 1, words, grow=True)
    found = Clustering([corpus], clusters).run()
    counts = read.counts(len(words)).tolist()
    layout = make_layout(brown_shape(word_classes(words.words(), found.words, found.classes, counts), states))
    trainer = TrainerOptions(batch_tokens=tokens)
    seconds, losses = {}, {}
    kinds: list[tuple[str, type[HmmTask], str]] = [
        ("class-factored", HmmTask, "factored"),
        ("full, ours", HmmTask, "full"),
        ("full, log space", LogSpaceTask, "full"),
    ]
    if tokens > STEPS["step"]:
        del kinds[1]  # says no more than in the small batch
    for name, kind, form in kinds:
        options = ModelOptions(states=states, clusters=clusters, width=width, transitions=form)
        steps = Trainer(kind(layout, options, trainer, tokens=read), trainer, seed=SEED).steps()
        losses[name] = next(steps)  # compiles
        times = []
        for _ in range(REPEATS):
            begun = time.process_time(), time.perf_counter()
            next(steps)
            times.append((time.process_time() - begun[0], time.perf_counter() - begun[1]))
        seconds[name] = tuple(map(min, zip(*times, strict=True)))
        print(f"   {name}: {seconds[name][0]:.2f} s of processor, {seconds[name][1]:.2f} s", flush=True)
    best = seconds["full, log space"][0] / seconds["class-factored"][0]
    rows = [
        (
            name,
            f"{cpu:.2f}",
            f"{wall:.2f}",
            f"{seconds['full, log space'][0] / cpu:.2f}",
            f"{-losses[name]:.4f}",
        )
        for name, (cpu, wall) in seconds.items()
    ]
    agree = ""
    if "full, ours" in losses:
        gap = abs(losses["full, ours"] - losses["full, log space"])
        agree = f"; the full forms' losses differ by {gap:.1e}"
    head = ["transitions", "processor s", "s", "times as fast", "first loss (nats per token)"]
    return Row(
        f"A training step: {states:,} states, {clusters} classes, width {width}, {tokens} tokens",
        "class-factored at least 1.7 times as fast as the full softmax in log space",
        f"{best:.2f} times (processor time, best of {REPEATS}{agree})",
        best >= 1.7,
        table(head, rows),
    )


# Ablations: one model a row


@dataclasses.dataclass(frozen=True)
class Ablation:
    """One model and the tables it belongs to."""

    group: str
    label: str
    model: dict[str, Any]
    start: bool = False  # at an EM solution of the same size
    network: str = ""  # instead of a hidden Markov model
    corpus: str = "ptb"


def ablations(size: Size) -> dict[str, Ablation]:
    k, z = size.per_word, size.states
    paper = {"transitions": "full"}
    state = {"dropout": "state", "dropout_rate": 0.5}
    pairs = {"dropout": "unstructured"}
    scalar = {"parameterisation": "scalar"}
    rows = {
        "form-factored": Ablation("parameters", "neural, factored", {}),
        "constraint-brown": Ablation("3, 4", "Brown (neural, full)", paper),
        "dropout-state-0.5": Ablation("5", "state, 0.5", state),
        "dropout-unstructured-0.5": Ablation("5", "unstructured, 0.5", pairs | {"dropout_rate": 0.5}),
        "form-scalar": Ablation("parameters", "scalar, factored", scalar),
        "form-em-scalar": Ablation("parameters", "scalar, from EM", scalar, start=True),
        "form-em-neural": Ablation("parameters", "neural, from EM", {}, start=True),
        "constraint-uniform": Ablation("3, 4", "uniform (neural, full)", paper | {"sets": "uniform"}),
        "network-lstm": Ablation("1", "LSTM", {}, network="lstm"),
        "network-feed-forward": Ablation("1", "feed-forward", {}, network="feed-forward"),
    }
    for clusters in (z // k // 2, z // k * 2):
        rows[f"clusters-{clusters}"] = Ablation("6", f"{clusters} clusters", state | {"clusters": clusters})
    for states in (z // 2, z * 2, z * 4):
        changed = {"states": states, "clusters": states // k}
        rows[f"states-{states}"] = Ablation("7", f"{states} states", state | changed)
    for rate in (0.25, 0.75):
        rows[f"dropout-state-{rate}"] = Ablation("5", f"state, {rate}", state | {"dropout_rate": rate})
        rows[f"dropout-unstructured-{rate}"] = Ablation(
            "5", f"unstructured, {rate}", pairs | {"dropout_rate": rate}
        )
    for tying in ("emission", "all"):
        rows[f"tying-{tying}"] = Ablation("tying", f"tied: {tying}", {"tying": tying})
    rows["form-scalar-full"] = Ablation("parameters", "scalar, full", paper | scalar)
    rows["constraint-none"] = Ablation("3, 4", "none (neural, full)", paper | {"clusters": 1})
    return rows


def trainer_options(size: Size) -> TrainerOptions:
    """All models are optimised alike; the text in order has one shape to compile."""
    return TrainerOptions(
        epochs=size.epochs,
        batching="document",
        batch_tokens=1024,
        segment=32,
        rate=5e-3,
        warmup=30,
        checkpoint_steps=100,
    )


def model_options(ablation: Ablation, size: Size) -> ModelOptions:
    """Fill in the size."""
    usual: dict[str, Any] = {
        "states": size.states,
        "clusters": size.states // size.per_word,
        "width": size.width,
    }
    if ablation.model.get("sets") == "uniform":
        usual["states_per_word"] = size.per_word
    return ModelOptions(**(usual | ablation.model))


class OutOfTimeError(Exception):
    """The budget is gone; what is done is in the checkpoint."""


def run_ablation(
    name: str, ablation: Ablation, size: Size, deadline: float = math.inf, directory: Path = KEPT
) -> dict[str, Any]:
    """Train and measure one model; its checkpoint is kept in the directory."""
    corpus = text("train", size.lines, ablation.corpus)
    valid = text("valid", size.valid_lines, ablation.corpus)
    begun, options = time.process_time(), trainer_options(size)
    if ablation.network:
        kept = NetworkOptions(ablation.network, 2 * size.width)
        options = dataclasses.replace(options, rate=2e-3, epochs=size.network_epochs or size.epochs)
        reports: list[Report] = []
        network = train_network(corpus, kept, options, seed=SEED, valid=valid, on_epoch=reports.append)
        lm = NgramModel.train(corpus.decode().splitlines(), order=5)
        both = Interpolation.fit([network, lm], valid)
        return {
            "parameters": network.num_parameters,
            "perplexity": network.perplexity(valid),
            "with_ngrams": both.perplexity(valid),
            "epochs": len(reports),
            "seconds": time.process_time() - begun,
        }
    chosen = model_options(ablation, size)
    start = None
    if ablation.start:
        start = HMMLanguageModel.train(corpus, chosen.states, chosen.clusters, seed=SEED, valid=valid)
    run = NeuralTraining(
        corpus,
        chosen,
        options,
        seed=SEED,
        valid=valid,
        start=start,
        checkpoint=directory / f"{name}.checkpoint",
    )
    while not run.trainer.is_done:
        for _ in run.trainer.steps():
            if time.monotonic() > deadline:
                raise OutOfTimeError(f"{name}: step {run.trainer.num_steps_done}")
        run.trainer.end_epoch()
    model = run.model()
    usage = model.usage(valid)
    lm = NgramModel.train(corpus.decode().splitlines(), order=5)
    return {
        "options": dataclasses.asdict(chosen),
        "parameters": sum(int(x.size) for x in jax.tree.leaves(run.trainer.params)),
        "perplexity": model.perplexity(valid),
        "train_perplexity": model.perplexity(corpus),
        "start_perplexity": None if start is None else start.perplexity(valid),
        "with_ngrams": Interpolation.fit([model, lm], valid).perplexity(valid),
        "occupancy": usage.occupancy,
        "emission_entropy": usage.emission_entropy,
        "transition_entropy": usage.transition_entropy,
        "epochs": run.num_epochs_done,
        "seconds": time.process_time() - begun,
    }


def ablation_row(size: Size, rows: dict[str, Ablation], directory: Path) -> Row | None:
    """Return the table of all models that are finished."""
    lines = []
    for name, ablation in rows.items():
        path = directory / f"{name}.json"
        if not path.exists():
            continue
        f = json.loads(path.read_text(encoding="utf-8"))
        o = f.get("options", {})
        shape = f"{o['states']} / {o['clusters']}" if o else "–"
        begun = f.get("start_perplexity")
        started = "" if begun is None else f" (starts at {begun:.1f})"
        more = [
            f"{f[key]:.3g}" if key in f else "–"
            for key in ("train_perplexity", "occupancy", "emission_entropy", "transition_entropy")
        ]
        lines.append(
            (
                ablation.group,
                ablation.label,
                shape,
                f"{f['parameters'] / 1e6:.2f}",
                f"{f['perplexity']:.1f}{started}",
                f"{f['with_ngrams']:.1f}",
                *more,
                f"{f['seconds']:.0f}",
            )
        )
    if not lines:
        return None
    corpus, valid = text("train", size.lines), text("valid", size.valid_lines)
    lm = NgramModel.train(corpus.decode().splitlines(), order=5)
    ngram = math.exp(-float(np.mean(lm.token_log_probs(valid))))
    head = ["table", "model", "states / clusters", "M parameters", "valid", "with 5-gram", "train"]
    head += ["occupancy", "H(emit)", "H(transition)", "processor s"]
    return Row(
        f"The paper's ablations, small: {size.states} states, {size.per_word} a word, {size.lines} lines of "
        f"the Penn Treebank, width {size.width}, {size.epochs} epochs",
        "none: the paper's tables 3 to 7 at a size that trains in a minute or so",
        f"{len(lines)} of {len(rows)} models; the 5-gram on the same text has {ngram:.1f}",
        None,
        table(head, sorted(lines)) + f"\n{NOTE}\n",
    )


def main() -> None:
    """Run rows and write what is finished."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--seconds", type=float, default=math.inf)
    arguments = parser.parse_args()
    deadline = time.monotonic() + arguments.seconds
    size = QUICK if arguments.quick else SIZE
    rows = ablations(size)
    directory = KEPT / "quick" if arguments.quick else KEPT
    directory.mkdir(parents=True, exist_ok=True)
    if arguments.list:
        print(*STEPS, *rows, sep="\n")
        return
    names = [n for n in arguments.rows or [*STEPS, "ablations"] if n != "ablations"]
    if "ablations" in (arguments.rows or ["ablations"]):
        names += [n for n in rows if n not in names and not (directory / f"{n}.json").exists()]
    for name in names:
        if name not in STEPS and name not in rows:
            parser.error(f"no row {name}, expected ablations, {', '.join([*STEPS, *rows])}")
    print(machine())
    work: Callable[[str], dict[str, Any]] = lambda n: run_ablation(n, rows[n], size, deadline)  # noqa: E731
    for name in names:
        if name in STEPS:
            row = step_row(size, STEPS[name])
            print(f"\n{row.what}\n{row.measured}: {row.verdict}\n{row.details}", flush=True)
            if arguments.write:
                write_section(TITLE, {name: row})
            continue
        earlier, begun = directory / f"{name}.seconds", time.process_time()
        spent = float(earlier.read_text(encoding="utf-8")) if earlier.exists() else 0.0
        try:
            figures = work(name)
            figures["seconds"] += spent
        except OutOfTimeError as stopped:
            earlier.write_text(str(spent + time.process_time() - begun), encoding="utf-8")
            print(f"stopped at {stopped}; run it again to go on", flush=True)
            break
        (directory / f"{name}.json").write_text(json.dumps(figures, indent=1), encoding="utf-8")
        print(f"{name}: valid {figures['perplexity']:.1f}, {figures['seconds']:.0f} s", flush=True)
        if time.monotonic() > deadline:
            break
    finished = ablation_row(size, rows, directory)
    if finished is not None:
        print(f"\n{finished.what}\n{finished.measured}\n\n{finished.details}")
        if arguments.write:
            write_section(TITLE, {"ablations": finished})


if __name__ == "__main__":
    main()
