"""Fertility HMMs searched in three ways, and the published dual decomposition iteration by iteration.

The models are those of Quirk (2013): each direction for itself, without what this project adds to training.
``viterbi`` leaves fertilities out of the search, ``paper`` is the published algorithm after 40 iterations,
``exact`` proves every answer. On further texts the step size is chosen on the first half of the gold links
(of the Hansards: on the development sentences) and told of on the second (on the test sentences).
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from align_data import pairs, text
from align_gibbs import gibbs
from align_quality import PLAIN, error_rates, method_rates
from align_sets import SETS, AlignedText
from report import mean

from hiddenite._core import CoreAligned, FertilityHmm
from hiddenite.align import Aligner, AlignerOptions, Question
from hiddenite.align.answers import PaperSteps

FERTILITIES = ("log-linear", "categorical")  # the paper's, and ours
STEPS = (("root", 0.5), ("root", 1.0), ("constant", 0.1), ("constant", 0.5), ("harmonic", 1.0))
COUNTS = (1, 2, 5, 10, 20, 40, 80, 160, 320, 640, 1000)  # iterations
PAPER_ITERATIONS = 40
FEW_SWEEPS = 4
LENGTHS = (10, 20, 40, 80)  # words of a sentence whose search is timed
TIMED = (20, 60)  # iterations
TIMINGS = 30  # of which the least counts
ROUNDING = 1e-6  # of a sum of some tens of terms


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    pairs: int | None  # to train on, besides the test sentences; None: all
    runs: int  # trainings a mean is taken over
    sentences: int  # of the test text, for the pieces that look at single ones
    draws: int  # sweeps of a Gibbs chain
    many_sweeps: int
    training: AlignerOptions = PLAIN
    texts: tuple[str, ...] = ()  # of benchmarks/align_sets.py


QUICK = dataclasses.replace(PLAIN, model1_sweeps=2, hmm_sweeps=2, fertility_sweeps=4, chains=1)
SIZES = {
    "tiny": Size(230, 1, 5, 3, 6, QUICK),
    "small": Size(2000, 2, 100, 20, 30),
    "reduced": Size(10_000, 2, 447, 20, 40),
    "full": Size(None, 2, 447, 100, 40, texts=("hansards 20 k", "greek-nt", "en-sv")),
}


def table1(size: Size) -> dict[str, Any]:
    """Table 1: error rates of forward, reverse and both directions."""
    given = text(size.pairs)
    found = {"HMM": error_rates(Aligner.train_hmm(given, options=PLAIN), "hmm")}
    for kind in FERTILITIES:
        rates = method_rates(given, dataclasses.replace(size.training, fertilities=kind), size.runs)
        found |= {f"{kind}, {method}": row for method, row in rates.items()}
    return {"rates": found, "pairs": len(given), "runs": size.runs, "sentences": len(pairs("test"))}


@functools.cache
def _hmms(size: Size) -> list[FertilityHmm]:
    """Return the weights of test sentences in both directions."""
    options = dataclasses.replace(size.training, fertilities=FERTILITIES[0])
    model = Aligner.train(text(size.pairs), seed=1, options=options)
    chosen = pairs("test")[: size.sentences]
    return [model.hmm(e, f, reverse=reverse) for e, f in chosen for reverse in (False, True)]


def _ask(hmm: FertilityHmm, **question: Any) -> CoreAligned:
    best = hmm.align(Question(**question).task()).best
    assert best is not None
    return best


def convergence(size: Size) -> dict[str, Any]:
    """Shares of sentences that the published algorithm has proved, by iterations."""
    found = {}
    for step, scale in STEPS:
        for exactly_all in (True, False):
            steps = PaperSteps(max(COUNTS), step, scale, exactly_all)
            answers = [_ask(hmm, method="paper", paper=steps) for hmm in _hmms(size)]
            shares = {n: mean(a.exact and a.iterations <= n for a in answers) for n in COUNTS}
            found[f"{step} {scale:g}, {'J links' if exactly_all else 'any number'}"] = shares
    exact = [_ask(hmm) for hmm in _hmms(size)]
    return {"shares": found, "exact": mean(a.exact for a in exact), "problems": len(exact)}


def draws(size: Size) -> dict[str, Any]:
    """How often the best alignment that a Gibbs chain meets is the best of all: earlier work's search."""
    missed, lost = [], []
    for stream, hmm in enumerate(_hmms(size)):
        best, start = (_ask(hmm, method=method) for method in ("exact", "viterbi"))
        chain = gibbs(hmm, start.links[0].tolist(), np.random.default_rng(stream))
        found = max(hmm.log_weight(links) for links, _ in itertools.islice(chain, size.draws))
        lost.append(float(best.log_weights[0]) - found)
        missed.append(lost[-1] > ROUNDING)
    return {"draws": size.draws, "missed": mean(missed), "nats": mean(lost)}


def sweeps(size: Size) -> dict[str, Any]:
    """What more sweeps of the sampler that estimates the parameters are worth."""
    found = {}
    for number in (FEW_SWEEPS, size.many_sweeps):
        options = dataclasses.replace(size.training, fertility_sweeps=number, chains=1)
        found[number] = error_rates(Aligner.train(text(size.pairs), seed=1, options=options), "exact")
    return {"rates": found}


def cost(size: Size) -> dict[str, Any]:
    """Processor time of a Viterbi pass and of a whole iteration of the published algorithm, by words.

    Sentence pairs are random, as long on both sides. An iteration is a Viterbi pass and the maximum over
    fertilities; it is timed as the difference between many iterations and few of one unfinished search.
    """
    del size
    found = {}
    for words in LENGTHS:
        hmm = _random_hmm(words)
        viterbi = _least_seconds(functools.partial(_ask, hmm, method="viterbi"))
        row = {"viterbi": viterbi}
        for exactly_all in (False, True):
            few, many = (_paper_seconds(hmm, count, exactly_all) for count in TIMED)
            name = "J links" if exactly_all else "any number"
            row[name] = (many - few) / (TIMED[1] - TIMED[0])
        found[str(words)] = row
    return {"seconds": found}


def _random_hmm(words: int) -> FertilityHmm:
    """Return weights in which chain and fertilities want different things, so that no search agrees soon."""
    rng = np.random.default_rng(words)
    emission, jump = (rng.normal(size=(rows, words + 1)) for rows in (words, words + 1))
    fertility = 3.0 * rng.normal(size=(words + 1, words + 1))
    return FertilityHmm(emission, jump, rng.normal(size=words + 1), fertility)


def _paper_seconds(hmm: FertilityHmm, iterations: int, exactly_all: bool) -> float:
    """Return the time of so many iterations, none of which ends the search."""
    steps = PaperSteps(iterations, "constant", 0.1, exactly_all)
    assert not _ask(hmm, method="paper", paper=steps).exact
    return _least_seconds(functools.partial(_ask, hmm, method="paper", paper=steps))


def _least_seconds(call: Callable[[], object]) -> float:
    """Return the least processor time of some calls: what else runs only adds to it."""
    seconds = []
    for _ in range(TIMINGS):
        begun = time.thread_time()
        call()
        seconds.append(time.thread_time() - begun)
    return min(seconds)


def texts(size: Size) -> dict[str, Any]:
    """Table 1 and the convergence after 40 iterations on further texts, directions by themselves."""
    return {name: _one_text(SETS[name](True), SETS[name](False), size) for name in size.texts}


def _one_text(report: AlignedText, choice: AlignedText, size: Size) -> dict[str, Any]:
    options = dataclasses.replace(size.training, fertilities=FERTILITIES[0])
    hmm = Aligner.train_hmm(report.pairs, options=PLAIN)
    models = [Aligner.train(report.pairs, seed=seed, options=options) for seed in range(1, size.runs + 1)]
    rates = {"HMM": _directions(hmm, report, "hmm")}
    for method in ("viterbi", "paper", "exact"):
        columns = zip(*(_directions(model, report, method) for model in models), strict=True)
        rates[method] = [mean(column) for column in columns]
    chosen, tested = (_proved(models[0], text, size.sentences) for text in (choice, report))
    step = max(chosen, key=chosen.__getitem__)
    return {
        "pairs": len(report.pairs),
        "gold": len(report.gold),
        "runs": size.runs,
        "rates": rates,
        "step": step,
        "chosen_by": chosen[step],
        "proved": tested[step],
        "all_steps": tested,
    }


def _directions(model: Aligner, text: AlignedText, method: str) -> list[float]:
    """Return the error rates of both directions on the lines with gold links."""
    asked = [text.pairs[n] for n in text.gold]
    found = []
    for direction in ("forward", "reverse"):
        answers = model.ask(asked, Question(method, direction))
        links = dict(zip(text.gold, (answer.links or () for answer in answers), strict=True))  # type: ignore[union-attr]
        found.append(text.error_rate([links.get(n, ()) for n in range(len(text.pairs))]))
    return found


def _proved(model: Aligner, text: AlignedText, most: int) -> dict[str, float]:
    """Return the share of problems that are proved after 40 iterations, by step size."""
    asked = [text.pairs[n] for n in itertools.islice(text.gold, most)]
    hmms = [model.hmm(e, f, reverse=reverse) for e, f in asked for reverse in (False, True)]
    found = {}
    for step, scale in STEPS:
        steps = PaperSteps(PAPER_ITERATIONS, step, scale, True)
        found[f"{step} {scale:g}"] = mean(_ask(hmm, method="paper", paper=steps).exact for hmm in hmms)
    return found


PIECES: dict[str, Callable[[Size], dict[str, Any]]] = {
    "table1": table1,
    "convergence": convergence,
    "draws": draws,
    "sweeps": sweeps,
    "cost": cost,
    "texts": texts,
}
