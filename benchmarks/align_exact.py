"""Rows about exactness: certificates, a mixed-integer program, the published algorithm, the sampler."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterable

import numpy as np
from align_data import Pair, Size, aligner, pairs
from align_gibbs import gibbs
from report import Row, mean, milliseconds, table

from hiddenite._core import AlignMethod, AlignTask, CoreAligned, FertilityHmm, LinkDraws

MIP_SENTENCES, MIP_WORDS = 200, 20
MIP_TOLERANCE = 1e-4  # of HiGHS, in log weight
GIBBS_SENTENCES = 5


def _task(method: AlignMethod = AlignMethod.EXACT, samples: int = 0) -> AlignTask:
    task = AlignTask()
    task.method = method
    task.num_best = int(samples == 0)
    task.num_samples = samples
    task.seed = 1
    return task


def _best(hmm: FertilityHmm, task: AlignTask) -> CoreAligned:
    best = hmm.align(task).best
    assert best is not None
    return best


def _draws(hmm: FertilityHmm, samples: int) -> LinkDraws:
    drawn = hmm.align(_task(samples=samples)).sampled
    assert drawn is not None
    return drawn


def _hmms(size: Size, chosen: Iterable[Pair]) -> list[FertilityHmm]:
    model = aligner(size.pairs)
    return [model.hmm(e, f, reverse=r) for e, f in chosen for r in (False, True)]


def _timed(run: Callable[[], CoreAligned], repeats: int = 3) -> tuple[float, CoreAligned]:
    best, answer = float("inf"), None
    for _ in range(repeats):
        begun = time.thread_time()
        answer = run()
        best = min(best, time.thread_time() - begun)
    assert answer is not None
    return best, answer


def _training_pairs(low: int, high: int, count: int) -> list[Pair]:
    lengths = ((pair, max(len(side.split()) for side in pair)) for pair in pairs("train"))
    return [pair for pair, n in lengths if low <= n <= high][:count]


def _joined_pairs(low: int, high: int, count: int) -> list[Pair]:
    """Join neighbouring training pairs until both sides are long: the text itself has few long lines."""
    result, joined = [], ([], [])
    for pair in pairs("train"):
        for words, side in zip(joined, pair, strict=True):
            words.extend(side.split())
        if max(map(len, joined)) >= low:
            if max(map(len, joined)) <= high:
                result.append((" ".join(joined[0]), " ".join(joined[1])))
            joined = ([], [])
        if len(result) == count:
            break
    return result


def certified(size: Size) -> Row:
    groups = {
        "test": pairs("test")[: size.sentences],
        "training, 20–60 words": _training_pairs(20, 60, size.sentences // 2),
        "neighbours joined, 30–60 words": _joined_pairs(30, 60, size.sentences),
        "neighbours joined, 61–80 words": _joined_pairs(61, 80, size.sentences),
    }
    rows, shares = [], []
    for name, chosen in groups.items():
        timed = [_timed(lambda hmm=hmm: _best(hmm, _task()), 1) for hmm in _hmms(size, chosen)]
        share = mean(answer.exact for _, answer in timed)
        seconds = sorted(t for t, _ in timed)
        shares.append(share)
        rows.append(
            (name, len(timed), f"{100 * share:.2f} %", milliseconds(mean(seconds)), milliseconds(seconds[-1]))
        )
    met = min(shares[:3]) == 1.0 and shares[3] >= 0.99
    return Row(
        "Best alignments with proof, both directions",
        "100 % of the test and of training sentences of 20–60 words, 99 % up to 80 words",
        ", ".join(f"{100 * s:.2f} %" for s in shares),
        met,
        table(("sentences", "problems", "certified", "mean ms", "slowest ms"), rows),
    )


def _mip(hmm: FertilityHmm) -> tuple[float, float]:
    """Solve one sentence as a program; return its optimum and CPU seconds of this process."""
    import highspy  # noqa: PLC0415  (only this row needs it)

    emission, jump, end, fertility = hmm.weights()
    width, targets = hmm.num_sources + 1, hmm.num_targets
    emission, jump = emission.reshape(targets, width), jump.reshape(width, width)
    fertility = fertility.reshape(width, -1)
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.setOptionValue("mip_rel_gap", 1e-9)
    begun = time.process_time()
    out, into, linked, terms = {}, {}, {i: [] for i in range(width)}, []
    for j in range(targets):
        for last in range(width if j else 1):
            for i in range(width):
                value = emission[j, i] + (jump[last, i] if i else 0.0)
                if value == -np.inf:
                    continue
                x = model.addBinary()
                terms.append(float(value) * x)
                out.setdefault((j, last), []).append(x)
                into.setdefault((j + 1, i or last), []).append(x)
                linked[i].append(x)
    total = highspy.Highs.qsum
    model.addConstr(total(out[0, 0]) == 1)
    for j in range(1, targets):
        for last in range(width):
            model.addConstr(total(out.get((j, last), [])) == total(into.get((j, last), [])))
    terms += [float(end[last]) * x for last in range(width) for x in into.get((targets, last), [])]
    for i in range(1, width):
        counts = {c: model.addBinary() for c in range(fertility.shape[1]) if fertility[i, c] > -np.inf}
        model.addConstr(total(counts.values()) == 1)
        model.addConstr(total(c * y for c, y in counts.items()) == total(linked[i]))
        terms += [float(fertility[i, c]) * y for c, y in counts.items()]
    model.maximize(total(terms))
    return model.getInfo().objective_function_value, time.process_time() - begun


def mixed_integer(size: Size) -> Row:
    short = [p for p in pairs("test") if all(2 <= len(s.split()) <= MIP_WORDS for s in p)]
    hmms = _hmms(size, short)[::2][: min(MIP_SENTENCES, size.sentences // 4 if size.pairs else MIP_SENTENCES)]
    equal, ratios = 0, []
    for hmm in hmms:
        seconds, answer = _timed(lambda hmm=hmm: _best(hmm, _task()))
        optimum, mip_seconds = _mip(hmm)
        equal += abs(optimum - answer.log_weights[0]) <= MIP_TOLERANCE
        ratios.append(mip_seconds / seconds)
    return Row(
        f"Against a mixed-integer program (HiGHS), test sentences up to {MIP_WORDS} words",
        "equal on all, at least 1000 times as fast",
        f"{equal} of {len(hmms)} equal, {statistics.median(ratios):,.0f} times as fast (median)",
        equal == len(hmms) and statistics.median(ratios) >= 1000,
    )


def exact_and_paper(size: Size) -> Row:
    hmms = _hmms(size, pairs("test")[: size.sentences])
    seconds, proved = {}, {}
    for name, method in (
        ("exact", AlignMethod.EXACT),
        ("paper", AlignMethod.PAPER),
        ("viterbi", AlignMethod.VITERBI),
    ):
        timed = [_timed(lambda hmm=hmm, method=method: _best(hmm, _task(method))) for hmm in hmms]
        seconds[name] = sum(t for t, _ in timed)
        proved[name] = mean(answer.exact for _, answer in timed)
    ratio = seconds["exact"] / seconds["paper"]
    rows = [(n, milliseconds(s / len(hmms)), f"{100 * proved[n]:.1f} %") for n, s in seconds.items()]
    return Row(
        "Time of exact against the published algorithm, K = 40, exactly J links",
        "at most 1.0×",
        f"{ratio:.2f}×",
        ratio <= 1.0,
        table(("method", "ms a sentence and direction", "certified"), rows),
    )


def _gibbs(hmm: FertilityHmm, sweeps: int, rng: np.random.Generator) -> np.ndarray:
    """Link probabilities [target, source or NULL] of a long chain."""
    counts = np.zeros((hmm.num_targets, hmm.num_sources + 1))
    chain = gibbs(hmm, _best(hmm, _task()).links[0].tolist(), rng)
    for sweep, (_, given) in enumerate(itertools.islice(chain, sweeps)):
        if sweep >= sweeps // 10:
            counts += given  # Rao-Blackwell: less noise than the draws
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def sampler(size: Size) -> Row:
    chosen = [p for p in pairs("test") if all(11 <= len(s.split()) <= 30 for s in p)][: size.sentences]
    rates = [len(a) / a.trials for a in (_draws(h, 100) for h in _hmms(size, chosen))]
    distances = []
    short = [p for p in pairs("test") if all(6 <= len(s.split()) <= 10 for s in p)][:GIBBS_SENTENCES]
    for hmm in _hmms(size, short)[::2]:
        found = np.zeros((hmm.num_targets, hmm.num_sources + 1))
        draws = _draws(hmm, 50 * size.sweeps).links
        for j in range(hmm.num_targets):
            found[j] = np.bincount(draws[:, j], minlength=hmm.num_sources + 1) / len(draws)
        expected = _gibbs(hmm, size.sweeps // 4, np.random.default_rng(1))
        distances.append(0.5 * np.abs(found - expected).sum(axis=1).mean())
    rate, distance = statistics.median(rates), mean(distances)
    return Row(
        "Exact sampler: acceptance up to 30 words, and distance from a long Gibbs chain",
        "median acceptance at least 0.9, total variation per word at most 0.005",
        f"acceptance {rate:.3f}, total variation {distance:.4f}",
        rate >= 0.9 and distance <= 0.005,
    )
