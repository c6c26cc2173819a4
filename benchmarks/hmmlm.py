"""Hidden Markov language models: clusters, perplexity per processor time, speed of queries.

    python benchmarks/hmmlm.py [ROW ...] [--quick] [--write]

Rows by name, all by default. ``--quick`` takes little text, to see that everything runs. ``--write`` puts the
rows into the section "Hidden Markov language models" of RESULTS.md. Data: lm/ptb and lm/wikitext-2
(train.txt, valid.txt, test.txt) under HIDDENITE_DATA, or beside the checkout. The row ``clusters`` needs the
package brown-clustering and ``scoring`` needs hmmlearn; where they are missing those lines are left out.

Times are processor times of the whole process; training runs on one thread. Choices (smoothing, weights,
rounds) are made on the validation text; the test text is only scored.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from report import Row, run_rows, table

from hiddenite import HMMLanguageModel, NgramModel
from hiddenite.hmmlm import Clustering, Clusters, HMMOptions, Interpolation, Training

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("HIDDENITE_DATA", ROOT.parent / "shared" / "data")) / "lm"
CLUSTERS = 128
SEED = 1
ALPHA = 1e-6  # pseudo-count of brown-clustering for each pair of words; its 1 would drown the text


@dataclass(frozen=True)
class Size:
    """How much to do."""

    lines: int | None  # of the training text; None: all
    states: int
    epochs: int
    members: int


QUICK = Size(lines=2000, states=256, epochs=3, members=2)
FULL = Size(lines=None, states=4096, epochs=16, members=4)


def text(corpus: str, part: str, lines: int | None = None) -> bytes:
    """Return a part of a corpus; ``<unk>`` becomes an ordinary word, as in benchmarks/lm.py."""
    whole = (DATA / corpus / f"{part}.txt").read_bytes().replace(b"<unk>", b"rare-word")
    return b"".join(whole.splitlines(keepends=True)[:lines])


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what the work gives and its processor time."""
    begun = time.process_time()
    result = work()
    return result, time.process_time() - begun


# -------------------------------------------------------------------- clusters


def clusters(size: Size) -> Row:
    """Compare the exchange with classic Brown clustering on its own objective."""
    train = text("ptb", "train", size.lines)
    ours, seconds = timed(lambda: Clustering([train], CLUSTERS, threads=1).run())
    rows = [("exchange", f"{ours.average_mutual_information:.4f}", f"{seconds:.2f}")]
    met: bool | None = None
    measured = f"{ours.average_mutual_information:.4f} in {seconds:.2f} s; brown-clustering is not installed"
    try:
        theirs, their_seconds = _classic(train)
    except ImportError:
        pass
    else:
        information = _information(train, theirs)
        rows.append((f"brown-clustering, alpha {ALPHA:g}", f"{information:.4f}", f"{their_seconds:.2f}"))
        ratio = their_seconds / seconds
        assert ours.average_mutual_information is not None
        met = ours.average_mutual_information > information and ratio >= 10
        measured = (
            f"{ours.average_mutual_information:.4f} against {information:.4f}, {ratio:.0f} times faster"
        )
    details = table(("method", "average mutual information, nats", "processor seconds"), rows)
    return Row(
        f"Word classes of the Penn Treebank, C = {CLUSTERS}",
        "higher, at least 10 times faster",
        measured,
        met,
        details,
    )


def _classic(train: bytes) -> tuple[Clusters, float]:
    from brown_clustering import BigramCorpus, BrownClustering  # noqa: PLC0415

    lines = [line.split() for line in train.decode().splitlines()]
    BrownClustering(BigramCorpus(lines[:20], alpha=ALPHA), 4).train()  # its compiler warms up
    result, seconds = timed(lambda: BrownClustering(BigramCorpus(lines, alpha=ALPHA), CLUSTERS).train())
    pairs = [(word, c) for c, words in enumerate(result) for word in words]
    words, classes = zip(*pairs, strict=True)
    return Clusters(words, classes, (1,) * len(words), ()), seconds


def _information(train: bytes, found: Clusters) -> float:
    """Measure given classes as the exchange measures its own: a start from which nothing moves."""
    clustering = Clustering([train], found.num_classes, start=found)
    value = clustering.result().average_mutual_information
    assert value is not None
    return value


# ------------------------------------------------------------------ perplexity


def _train(corpus: str, size: Size, **options: Any) -> tuple[HMMLanguageModel, float, float]:
    """Train with the defaults but for the options; the model, valid perplexity, processor seconds."""
    chosen = HMMOptions.of_preset(**options, clusters=CLUSTERS)
    valid = text(corpus, "valid")
    begun = time.process_time()
    training = Training(text(corpus, "train", size.lines), chosen, seed=SEED, valid=valid, threads=1)
    for epoch in training:
        print(f"   {corpus} {epoch}", file=sys.stderr, flush=True)
    model = HMMLanguageModel.from_training(training)
    seconds = time.process_time() - begun
    return model, model.perplexity(valid), seconds


def _row(what: str, bar: str, most: float, minutes: float, rows: list[tuple[str, int, float, float]]) -> Row:
    shown = [(name, states, f"{ppl:.1f}", f"{seconds:.0f}") for name, states, ppl, seconds in rows]
    best = min(rows, key=lambda row: row[2])
    met = best[2] <= most and best[3] <= 60 * minutes
    details = table(("model", "states", "valid perplexity", "processor seconds, clustering included"), shown)
    return Row(what, bar, f"{best[2]:.1f} in {best[3]:.0f} s with {best[1]:,} states", met, details)


def em(size: Size) -> Row:
    """One chain by EM."""
    model, perplexity, seconds = _train("ptb", size, states=size.states, epochs=size.epochs)
    rows = [("EM", model.num_states, perplexity, seconds)]
    return _row("EM, 4096 states, Penn Treebank", "valid at most 176 in one CPU minute", 176, 1, rows)


def mixture(size: Size) -> Row:
    """Log-bilinear transitions, and a mixture of chains."""
    rows = []
    for name, options in (
        ("log-bilinear", {"rounds": 3}),
        (f"mixture of {size.members}", {"members": size.members}),
        (f"mixture of {size.members}, log-bilinear", {"members": size.members, "rounds": 2}),
    ):
        model, perplexity, seconds = _train("ptb", size, states=size.states, epochs=size.epochs, **options)
        rows.append((name, model.num_states, perplexity, seconds))
    within = [row for row in rows if row[3] <= 300] or rows
    bar = "valid at most 165 in five CPU minutes"
    row = _row("Log-bilinear transitions or a mixture, Penn Treebank", bar, 165, 5, within)
    return Row(row.what, row.bar, row.measured, row.met, row.details)


def _preset(preset: str, size: Size, what: str, bar: tuple[float, float, str]) -> Row:
    smaller = {"states": QUICK.states, "epochs": QUICK.epochs, "members": QUICK.members}
    model, perplexity, seconds = _train("ptb", size, preset=preset, **(smaller if size is QUICK else {}))
    name = f"mixture of {len(model.members)}, log-bilinear, preset {preset}"
    most, minutes, said = bar
    return _row(what, said, most, minutes, [(name, model.num_states, perplexity, seconds)])


def minutes(size: Size) -> Row:
    """A mixture, each member on word classes of its own: the preset mixture."""
    what = "Class emissions within minutes, Penn Treebank"
    return _preset("mixture", size, what, (153, 5, "valid at most 153 in five CPU minutes"))


def best(size: Size) -> Row:
    """More and larger members: the preset best."""
    what = "Best pure HMM, Penn Treebank"
    return _preset("best", size, what, (147.99, 60, "valid below 148 in 60 CPU minutes"))


def with_ngrams(size: Size) -> Row:
    """Interpolate with the 5-gram model; weights on valid."""
    rows, met = [], True
    for corpus, bar in (("ptb", 121.0), ("wikitext-2", 176.0)):
        train, valid, test = text(corpus, "train", size.lines), text(corpus, "valid"), text(corpus, "test")
        ngrams = NgramModel.train(train.decode().splitlines(), order=5)
        model, _, seconds = _train(
            corpus, size, states=size.states, epochs=size.epochs, members=size.members, rounds=2
        )
        both = Interpolation.fit([model, ngrams], valid)
        alone = [math.exp(-float(m.token_log_probs(test).mean())) for m in (model, ngrams)]
        result = both.perplexity(test)
        met = met and result <= bar
        shown = [f"{x:.1f}" for x in (*alone, both.perplexity(valid), result)]
        rows.append((corpus, f"{model.num_states:,}", *shown, f"{both.weights[0]:.2f}", f"{seconds:.0f}"))
    head = (
        "corpus",
        "states",
        "HMM, test",
        "5-gram, test",
        "both, valid",
        "both, test",
        "weight of the HMM",
        "processor seconds",
    )
    measured = " / ".join(row[5] for row in rows)
    return Row("HMM and 5-gram interpolated, test", "at most 121 / 176", measured, met, table(head, rows))


# ----------------------------------------------------------------------- speed


def _dense_states(chain: Any) -> tuple[Any, Any, Any]:
    from hiddenite.hmmlm.arrays import dense_emission, dense_transition  # noqa: PLC0415

    return chain.initial, dense_transition(chain).astype(np.float64), dense_emission(chain)


def scoring(size: Size) -> Row:
    """Score the same sentences with the same model, here and as a dense model in hmmlearn."""
    model, _, _ = _train("ptb", size, states=size.states, epochs=2)
    valid = text("ptb", "valid")
    tokens = model.read(valid)
    seconds = min(timed(lambda: model.members[0].token_log_probs(tokens, 1))[1] for _ in range(5))
    number = len(tokens.tokens) + tokens.num_sentences
    ours = number / seconds
    rows = [("hiddenite, one thread", f"{number:,}", f"{ours:,.0f}")]
    met: bool | None = None
    measured = f"{ours:,.0f} tokens/s; hmmlearn is not installed"
    try:
        from hmmlearn.hmm import CategoricalHMM  # noqa: PLC0415
    except ImportError:
        pass
    else:
        theirs, few = _hmmlearn(model, CategoricalHMM)
        rows.append(("hmmlearn, the same model dense", str(few), f"{theirs:,.1f}"))
        met, measured = ours >= 1000 * theirs, f"{ours / theirs:,.0f} times the tokens per second"
    details = table(("program", "tokens", "tokens per processor second"), rows)
    what = f"Scoring at {model.num_states:,} states against hmmlearn"
    return Row(what, "at least 1000 times the tokens per second", measured, met, details)


def _hmmlearn(model: HMMLanguageModel, make: Any) -> tuple[float, int]:
    initial, transition, emission = _dense_states(model.members[0])
    transition /= transition.sum(axis=1, keepdims=True)  # it insists on more digits than floats have
    peer = make(n_components=len(initial), n_features=emission.shape[1], implementation="scaling")
    peer.startprob_, peer.transmat_, peer.emissionprob_ = initial, transition, emission
    line = text("ptb", "valid").splitlines()[0].decode()
    ids = [model.words.index(w) if w in model.words else 0 for w in line.split()] + [2]
    found, seconds = timed(lambda: peer.score(np.array(ids)[:, None]))
    assert math.isclose(found, model.score([line])[0].log_prob, rel_tol=1e-4)
    return len(ids) / seconds, len(ids)


def generation(size: Size) -> Row:
    """Generate sentences of 20 words under constraints."""
    model, _, _ = _train("ptb", size, states=size.states, epochs=2)
    rows, slowest = [], 0.0
    for keywords, pattern in (
        (["stock"], None),
        (["stock", "president"], None),
        ([], "the .* (bank|company) .*"),
    ):
        wall = time.perf_counter()
        result, seconds = timed(
            lambda k=keywords, p=pattern: model.generate(1, keywords=k, pattern=p, length=20, seed=1)
        )
        wall = time.perf_counter() - wall
        slowest = max(slowest, wall)
        asked = (pattern or ", ".join(keywords)).replace("|", "\\|")
        rows.append((asked, f"{result.log_prob:.3f}", f"{wall:.2f}", f"{seconds:.2f}"))
    head = ("constraint", "ln of its probability", "seconds", "processor seconds")
    what = f"A sentence of 20 words under a constraint, {model.num_states:,} states"
    return Row(what, "at most one second", f"{slowest:.2f} s at most", slowest <= 1, table(head, rows))


ROWS: dict[str, Callable[[Size], Row]] = {
    "clusters": clusters,
    "em": em,
    "mixture": mixture,
    "minutes": minutes,
    "best": best,
    "ngrams": with_ngrams,
    "scoring": scoring,
    "generation": generation,
}


def main() -> None:
    """Run the rows asked for."""
    title = "Hidden Markov language models"
    run_rows(title, __doc__, ROWS, lambda _, quick: QUICK if quick else FULL)


if __name__ == "__main__":
    main()
