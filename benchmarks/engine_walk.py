"""The walking methods against each other, a beam and a DP over KenLM's states; k-best; threads."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import kenlm
from driver import Driver, Timing
from report import Row, mean, milliseconds, table
from sms import CORPORA, Corpus, messages, model_file, type_keys
from tags import TagSet, tag_model, tag_records

from hiddenite.candidates import Candidates
from hiddenite.channel import Keypad
from hiddenite.inference import decode
from hiddenite.ngram import NgramModel

LENGTHS = {"hansard": (5, 10), "ptb": (5, 10, 20, 40)}  # the Hansard's sentences are short


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    messages: int  # a class
    repeats: int
    cap: float  # seconds for a method that may take for ever


def seconds(timings: Sequence[Timing]) -> list[float]:
    """Return the times alone."""
    return [t.seconds for t in timings]


def ratio(slow: Sequence[Timing], fast: Sequence[Timing]) -> float:
    """Return the ratio of the mean times."""
    return mean(seconds(slow)) / mean(seconds(fast))


def ratios(slow: Sequence[Timing], fast: Sequence[Timing]) -> list[float]:
    """Return the ratio of each record's times."""
    return [a.seconds / b.seconds for a, b in zip(slow, fast, strict=True)]


# ------------------------------------------------------- dominance, full, beam


def dominance_and_full(sizes: Sizes) -> Row:
    """How much of `full` the proof by dominance needs; order 5."""
    full, dominance = "direct:decode:full", "direct:decode:dominance"
    rows, means, worst = [], [], []
    for corpus, lengths in LENGTHS.items():
        with Driver(model_file(CORPORA[corpus], 5)) as driver:
            for length in lengths:
                size = driver.read_keypad(type_keys(messages(CORPORA[corpus], length, sizes.messages)))
                timed = driver.time([full, dominance], sizes.repeats)
                each = ratios(timed[full], timed[dominance])
                means.append(ratio(timed[full], timed[dominance]))
                worst.append(min(each))
                slowest = max(seconds(timed[dominance])) / mean(seconds(timed[dominance]))
                rows.append(
                    [
                        corpus,
                        length,
                        f"{size:.0f}",
                        milliseconds(mean(seconds(timed[full]))),
                        milliseconds(mean(seconds(timed[dominance]))),
                        f"**{means[-1]:.1f}**",
                        f"{worst[-1]:.1f}",
                        f"{slowest:.1f}",
                    ]
                )
    head = [
        "corpus",
        "words",
        "candidates",
        "full ms",
        "dominance ms",
        "ratio",
        "worst sentence",
        "slowest / mean",
    ]
    return Row(
        "`dominance` against `full`, order 5",
        "at least 30× faster, no tail",
        f"{min(means):.1f}× to {max(means):.1f}× on average, the worst sentence {min(worst):.1f}×",
        min(means) >= 30,
        table(head, rows),
    )


def dominance_and_beam(sizes: Sizes) -> Row:
    """What the proof costs beside a search without one."""
    asks = [
        "direct:decode:dominance",
        "direct:beam:sparse:10",
        "direct:beam:dense:10",
        "direct:beam:sparse:100",
    ]
    rows, found = [], []
    for corpus, lengths in LENGTHS.items():
        with Driver(model_file(CORPORA[corpus], 5)) as driver:
            for length in lengths:
                driver.read_keypad(type_keys(messages(CORPORA[corpus], length, sizes.messages)))
                timed = driver.time(asks, sizes.repeats)
                found.append([ratio(timed[asks[0]], timed[ask]) for ask in asks[1:]])
                wrong = [wrong_answers(timed[ask], timed[asks[0]]) for ask in (asks[1], asks[3])]
                rows.append(
                    [
                        corpus,
                        length,
                        *(milliseconds(mean(seconds(timed[ask]))) for ask in asks),
                        f"**{found[-1][0]:.2f}**",
                        f"{found[-1][1]:.2f}",
                        f"{found[-1][2]:.2f}",
                        *(f"{w} of {sizes.messages}" for w in wrong),
                    ]
                )
    head = [
        "corpus",
        "words",
        "dominance ms",
        "beam 10 ms",
        "textbook beam 10 ms",
        "beam 100 ms",
        "dominance / beam 10",
        "/ textbook 10",
        "/ beam 100",
        "beam 10 wrong",
        "beam 100 wrong",
    ]
    sparse, dense = [f[0] for f in found], [f[1] for f in found]
    return Row(
        "`dominance` against a beam search of width 10 on the same tables",
        "at most 2× at every length",
        f"{min(sparse):.2f}× to {max(sparse):.2f}× (a textbook beam: {min(dense):.2f}× to {max(dense):.2f}×)",
        max(sparse) <= 2,
        table(head, rows),
    )


def wrong_answers(timings: Sequence[Timing], exact: Sequence[Timing]) -> int:
    """Count the answers that weigh less than the optimum."""
    return sum(t.log_weight < e.log_weight - 1e-9 for t, e in zip(timings, exact, strict=True))


# ------------------------------------------------------------------------ auto


def auto_classes(sizes: Sizes) -> Iterator[tuple[str, Driver, int, float]]:
    """Yield classes of records, read by a driver."""
    for name, keep in (("ptb", 100), ("ptb", 0), ("wikitext", 0)):
        corpus = CORPORA[name]
        for order in (3, 4, 5):
            with Driver(model_file(corpus, order)) as driver:
                for length in (1, 2, 5, 10, 20, 40):
                    keys = type_keys(messages(corpus, length, sizes.messages))
                    size = driver.read_keypad(keys, keep=keep)
                    yield f"{name}, order {order}, {size:.0f} candidates", driver, length, sizes.cap
    for order in (3, 5):
        with Driver(tag_model(order)) as driver:
            for candidates in TagSet:
                driver.read_slots(tag_records(sizes.messages, candidates))
                yield f"tags, order {order}, {candidates.value}", driver, 23, sizes.cap


def auto_and_best(sizes: Sizes) -> Row:
    """How far `auto` is from the best method of each class."""
    asks = [f"engine:decode:{m}" for m in ("auto", "full", "dominance", "refine")]
    rows, means, worst = [], [], []
    for name, driver, length, cap in auto_classes(sizes):
        timed = driver.time(asks, sizes.repeats, cap)
        best = min(asks[1:], key=lambda ask: mean(seconds(timed[ask])))
        means.append(ratio(timed[asks[0]], timed[best]))
        worst.append(max(ratios(timed[asks[0]], timed[asks[1]])))
        capped = sum(not t.exact for t in timed[asks[3]])
        rows.append(
            [
                name,
                length,
                *(milliseconds(mean(seconds(timed[ask]))) for ask in asks[:3]),
                ("≥ " if capped else "") + milliseconds(mean(seconds(timed[asks[3]]))),
                best.rpartition(":")[2],
                f"{means[-1]:.2f}",
                f"{worst[-1]:.2f}",
            ]
        )
    head = [
        "class",
        "words",
        "auto ms",
        "full",
        "dominance",
        "refine",
        "best",
        "auto / best",
        "slowest: auto / full",
    ]
    return Row(
        "`auto` against the fastest exact method of each class",
        "mean at most 1.3×; the slowest sentence at most 1.5× `full`",
        f"mean of the classes {mean(means):.2f}×, worst class {max(means):.2f}×; "
        f"slowest sentence {max(worst):.2f}× `full`",
        mean(means) <= 1.3 and max(worst) <= 1.5,
        table(head, rows),
    )


# --------------------------------------------------------------------- k-best


def kbest(sizes: Sizes) -> Row:
    """The 100 best against the best, order 5."""
    corpus = CORPORA["ptb"]
    asks = [
        "direct:decode:dominance",
        "direct:kbest:dominance:10",
        "direct:kbest:dominance:100",
        "direct:decode:full",
    ]
    rows, found = [], []
    with Driver(model_file(corpus, 5)) as driver:
        for length in (10, 40):
            driver.read_keypad(type_keys(messages(corpus, length, sizes.messages)))
            timed = driver.time(asks, sizes.repeats)
            times = [mean(seconds(timed[ask])) for ask in asks]
            found.append((times[2] / times[0], times[2] / times[3]))
            rows.append([length, *map(milliseconds, times), f"**{found[-1][0]:.1f}**", f"{found[-1][1]:.2f}"])
    head = [
        "words",
        "1-best ms",
        "10-best",
        "100-best",
        "`full` 1-best",
        "100-best / 1-best",
        "100-best / `full`",
    ]
    return Row(
        "Exact k-best, k = 100, order 5",
        "at most 20× the 1-best at 10 words and 5× at 40; below `full`'s 1-best on average",
        f"{found[0][0]:.1f}× and {found[1][0]:.1f}×; {found[0][1]:.2f}× and {found[1][1]:.2f}× `full`",
        found[0][0] <= 20 and found[1][0] <= 5 and max(f[1] for f in found) < 1,
        table(head, rows),
    )


# -------------------------------------------------------------------- threads


def threads(sizes: Sizes) -> Row:
    """Batches on two threads; wall time, so it needs an idle machine."""
    corpus = CORPORA["ptb"]
    rows, found = [], []
    with Driver(model_file(corpus, 5)) as driver:
        for length in (10, 20, 40):
            driver.read_keypad(type_keys(messages(corpus, length, sizes.messages)))
            one, two = (driver.batch_seconds("engine:decode:auto", 3 * sizes.repeats, n) for n in (1, 2))
            found.append(one / two)
            rows.append([length, milliseconds(one), milliseconds(two), f"**{found[-1]:.2f}**"])
    return Row(
        "Two threads against one, batch decode",
        "at least 1.7×",
        f"{min(found):.2f}× to {max(found):.2f}×",
        min(found) >= 1.7,
        table(["words", "one thread ms", "two threads ms", "speed-up"], rows),
    )


# --------------------------------------------------------------------- KenLM


def kenlm_decode(model: kenlm.Model, candidates: Candidates) -> float:
    """A straightforward DP: per position, every state times every candidate, recombined on KenLM's state.

    Returns the weight of the best sequence in natural logarithms.
    """
    begin = kenlm.State()
    model.BeginSentenceWrite(begin)
    layer = {begin: 0.0}
    ln10 = 2.302585092994046
    for position in range(len(candidates)):
        following: dict[kenlm.State, float] = {}
        slot = candidates.slot(position)
        for state, value in layer.items():
            for word, log_weight in slot:
                after = kenlm.State()
                total = value + ln10 * model.BaseScore(state, word, after) + log_weight
                if total > following.get(after, -float("inf")):
                    following[after] = total
        layer = following
    last = kenlm.State()
    return max(value + ln10 * model.BaseScore(state, "</s>", last) for state, value in layer.items())


def full_and_kenlm(sizes: Sizes) -> Row:
    """`full` from Python against a DP over KenLM's states from Python."""
    corpus: Corpus = CORPORA["hansard"]
    path = model_file(corpus, 5)
    lm, other = NgramModel.load(path), kenlm.Model(str(path))
    channel = Keypad(lm.vocabulary, keep=100)
    ours, theirs, difference = [], [], 0.0
    for keys in type_keys(messages(corpus, 10, min(5, sizes.messages))):
        candidates = channel(keys)
        decode(lm, candidates, method="full")
        times = []
        for _ in range(sizes.repeats):
            begin = time.process_time()
            mine = decode(lm, candidates, method="full")
            times.append(time.process_time() - begin)
        ours.append(min(times))
        begin = time.process_time()
        weight = kenlm_decode(other, candidates)
        theirs.append(time.process_time() - begin)
        difference = max(difference, abs(weight - mine.log_weight))
    each = [a / b for a, b in zip(theirs, ours, strict=True)]
    return Row(
        "`full` against a DP over KenLM states from Python, order 5, 100 candidates, 10 words",
        "at least 100× faster",
        f"{mean(theirs) / mean(ours):.0f}× ({milliseconds(mean(ours))} ms against {mean(theirs):.1f} s; "
        f"each sentence {min(each):.0f}× to {max(each):.0f}×)",
        mean(theirs) / mean(ours) >= 100,
        f"The weights of the best sequences differ by at most {difference:.1g} (KenLM adds floats).\n",
    )
