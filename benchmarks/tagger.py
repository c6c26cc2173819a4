"""The tagger's promises, measured: accuracy, speed, the cost of high orders, calibration.

    python benchmarks/tagger.py [ROW ...] [--quick] [--write]

Rows by number, all by default. Needs ``nltk`` (its TnT is trained and tested on the same tokens in the same
run), ``matplotlib`` and the tagged texts of ``sms.DATA``. Corpora: the WSJ sample, its first 3,500 sentences
to train and the other 414 to test, and UD English-EWT, XPOS, train and test. Nothing is chosen on test text.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from report import Row, mean, milliseconds, run_rows, table
from sms import DATA, ROOT

from hiddenite._core import Answer, Status, TaskKind
from hiddenite.candidates import Candidates
from hiddenite.ngram import NgramModel
from hiddenite.query import Budget, Query, Rejection
from hiddenite.tag import Tagger, TaggerOptions, TagScore, read_tagged, score
from hiddenite.tag.annotation import TrainingText
from hiddenite.tag.evaluation import plot_reliability
from hiddenite.tag.model import TaggerModel
from hiddenite.tag.training import split_held_out, train_model, with_order

Tagged = list[tuple[str, str]]
GENERATIVE = TaggerOptions(emissions="generative")  # context emissions: tagger_context.py
IMAGES = ROOT / "docs" / "img"
ORDERS = tuple(range(2, 10))
LEXICALIZED = (0, 50, 100, 200)  # what is tried on held-out training text, with the orders 2 to 5


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    orders: Sequence[int]
    sentences: int  # of the rows that time single sentences
    repeats: int
    cap: float  # seconds for a method that may take for ever


QUICK = Sizes((2, 3), 3, 1, 0.5)
FULL = Sizes(ORDERS, 20, 5, 10.0)


def sentences(file: str) -> list[Tagged]:
    """Return the sentences of a tagged text."""
    return [r.pairs() for r in read_tagged(str(DATA / "tagged" / file), column="xpos") if r.words]


@functools.cache
def corpora() -> dict[str, tuple[list[Tagged], list[Tagged]]]:
    """Return training and test sentences by name."""
    wsj = sentences("wsj-sample.tsv")
    ewt = [sentences(f"en_ewt-ud-{part}.conllu") for part in ("train", "test")]
    return {"WSJ sample": (wsj[:3500], wsj[3500:]), "EWT": (ewt[0], ewt[1])}


@functools.cache
def nltk_tagger(corpus: str) -> object:
    """Return NLTK's TnT, trained."""
    from nltk.tag.tnt import TnT  # noqa: PLC0415  (only the rows that compare need it)

    tagger = TnT()
    tagger.train(corpora()[corpus][0])
    return tagger


@functools.cache
def nltk_accuracy(corpus: str) -> float:
    """Return the share of right tags of NLTK's TnT."""
    test = corpora()[corpus][1]
    found = nltk_tagger(corpus).tagdata([[w for w, _ in s] for s in test])  # type: ignore[attr-defined]
    pairs = [(a, b) for s, f in zip(test, found, strict=True) for (_, a), (_, b) in zip(s, f, strict=True)]
    return sum(bool(a == b) for a, b in pairs) / len(pairs)


# -------------------------------------------------------------------- accuracy


@dataclass(frozen=True)
class Choice:
    """A setting and what it is worth on held-out training text."""

    options: TaggerOptions
    objective: str
    accuracy: float


@functools.cache
def chosen_setting(corpus: str, orders: tuple[int, ...]) -> Choice:
    """Return the best of a few settings on a held-out tenth of the training text."""
    kept, held_out = split_held_out(TrainingText(corpora()[corpus][0]))
    choices = []
    for lexicalize in LEXICALIZED:
        words = train_model(kept, TaggerOptions(order=1, lexicalize=lexicalize, emissions="generative"))
        for order in [n for n in orders if n <= 5]:
            tagger = Tagger(with_order(words, kept, order))
            for objective in ("map", "mbr"):
                found = score(tagger, held_out.gold(), objective=objective, calibration=False)
                choices.append(Choice(tagger.model.options, objective, found.accuracy or 0.0))
    return max(choices, key=lambda c: (c.accuracy, -c.options.order, -c.options.lexicalize))


def percent(share: float | None) -> str:
    """Return a share with two decimals."""
    return "–" if share is None else f"{100 * share:.2f}"


def accuracy(sizes: Sizes) -> Row:
    """Accuracy by order (the paper's figure 4a), and of the setting chosen on held-out text."""
    rows, told, met, certified = [], [], True, [0, 0]
    for corpus, (train, test) in corpora().items():
        baseline = nltk_accuracy(corpus)
        rows.append([corpus, "NLTK 3.10 TnT", 3, percent(baseline), "", "", "", ""])
        at_three = 0.0
        for name, options in (("TnT's recipe", TaggerOptions.tnt()), ("default", GENERATIVE)):
            words = train_model(TrainingText(train), dataclasses.replace(options, order=1))
            for order in sizes.orders:
                tagger = Tagger(with_order(words, TrainingText(train), order))
                both = [score(tagger, test, objective=o, calibration=False) for o in ("map", "mbr")]
                rows.append([corpus, name, order, *_cells(both)])
                certified[0] += sum(s.certified for s in both)
                certified[1] += sum(s.sentences for s in both)
                if (name, order) == ("default", 3):
                    at_three = both[0].accuracy or 0.0
        choice = chosen_setting(corpus, tuple(sizes.orders))
        tagger = Tagger.train_with(train, choice.options)
        final = score(tagger, test, objective=choice.objective, calibration=False)  # type: ignore[arg-type]
        label = f"**chosen**: {choice.options.lexicalize} words, {choice.objective}"
        cells = [
            percent(final.accuracy),
            "",
            percent(final.known),
            percent(final.unknown),
            percent(final.sentence),
        ]
        rows.append([corpus, label, choice.options.order, *cells])
        gain = 100 * ((final.accuracy or 0.0) - baseline)
        met = met and gain >= 0.3 and at_three >= baseline
        told.append(
            f"{corpus}: TnT {percent(baseline)}, order 3 {percent(at_three)}, chosen "
            f"{percent(final.accuracy)} ({gain:+.2f})"
        )
    head = ["corpus", "setting", "order", "MAP %", "MBR %", "known", "unknown", "sentence"]
    return Row(
        "Tagging accuracy by order",
        "order 3 at least NLTK's TnT; what held-out training text chooses 0.3 points above it (goal: 1)",
        f"{'; '.join(told)}; {certified[0]} of {certified[1]} answers certified",
        met and certified[0] == certified[1],
        table(head, rows),
    )


def _cells(both: Sequence[TagScore]) -> list[str]:
    first = both[0]
    return [*(percent(s.accuracy) for s in both), *map(percent, (first.known, first.unknown, first.sentence))]


# ----------------------------------------------------------------------- speed


def thread_seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the processor time of this thread, the best of the repeats."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.thread_time()
        work()
        best = min(best, time.thread_time() - begin)
    return best


def speed(sizes: Sizes) -> Row:
    """Tokens a second, one thread, order 3, from lists of words to tags."""
    rows, gains = [], []
    for corpus, (train, test) in corpora().items():
        words = [[w for w, _ in s] for s in test]
        tokens = sum(map(len, words))
        theirs = _nltk_speeds(corpus, words, tokens, sizes.repeats)
        for name, rate in theirs.items():
            rows.append([corpus, f"NLTK TnT, {name}", f"{rate / 1e3:.0f}", "", ""])
        first, again = theirs.values()
        settings = [("default", GENERATIVE, "map"), ("default", GENERATIVE, "mbr")]
        settings += [("TnT's recipe", TaggerOptions.tnt(), "map")]
        for name, options, objective in settings:
            tagger = Tagger.train_with(train, options)
            ask = functools.partial(tagger.tag_many, words, objective=objective, threads=1)  # type: ignore[arg-type]
            ours = tokens / thread_seconds(lambda: list(ask()), sizes.repeats)  # noqa: B023
            rates = [f"{rate / 1e3:.0f}" for rate in (ours,)] + [f"{ours / first:.1f}", f"{ours / again:.1f}"]
            rows.append([corpus, f"{name}, {objective}", *rates])
            if (name, objective) == ("default", "map"):
                gains.append(ours / first)
    return Row(
        "Tagging speed, order 3, one thread",
        "at least 5× NLTK's TnT (goal: 20×)",
        " and ".join(f"{g:.1f}×" for g in gains),
        min(gains) >= 5,
        "NLTK's TnT remembers the candidates of each word; ours remembers nothing.\n\n"
        + table(["corpus", "tagger", "k tokens/s", "/ NLTK on new text", "/ NLTK again"], rows),
    )


def _nltk_speeds(corpus: str, words: list[list[str]], tokens: int, repeats: int) -> dict[str, float]:
    """Return tokens a second on text that it has not met yet, and on the same text again."""
    tagger = nltk_tagger(corpus)

    def first_time() -> None:
        tagger._candidate_tags_cache.clear()  # type: ignore[attr-defined]
        tagger.tagdata(words)  # type: ignore[attr-defined]

    first = tokens / thread_seconds(first_time, repeats)
    again = tokens / thread_seconds(lambda: tagger.tagdata(words), repeats)  # type: ignore[attr-defined]
    return {"new text": first, "the same text again": again}


# ----------------------------------------------------------------- high orders


@dataclass(frozen=True)
class OrderFigures:
    """What decoding and sampling cost at one order; means over sentences."""

    refine_seconds: float
    refine_slowest: float
    full_seconds: float
    full_capped: int  # sentences on which `full` came to no end
    iterations: float  # of refine
    states: float
    certified: int
    sampling_iterations: float  # to AR-100 = 60 %
    sampling_states: float
    sampling_seconds: float


def dense_model(train: list[Tagged]) -> TaggerModel:
    """Return a model with all tags as candidates of all words: the case that the order makes hard."""
    return train_model(
        TrainingText(train), TaggerOptions(order=1, lexicalize=0, floor=0.0, emissions="generative")
    )


def is_exact(answer: Answer) -> bool:
    """Tell whether an answer is proved to be the best."""
    return answer.certificate is not None and answer.certificate.exact


def order_figures(
    dense: TaggerModel, train: list[Tagged], texts: Sequence[str], order: int, sizes: Sizes
) -> OrderFigures:
    """Decode and sample sentences at one order; `full` on a quarter of them."""
    tagger = Tagger(with_order(dense, TrainingText(train), order))
    lm, read = tagger.model.transitions, [tagger.candidates(text) for text in texts]
    refine = [ask(lm, candidates, Query(TaskKind.DECODE, "refine"), sizes.repeats) for candidates in read]
    full_query = Query(TaskKind.DECODE, "full", budget=Budget(seconds=sizes.cap))
    full = [ask(lm, candidates, full_query, 1) for candidates in read[: max(2, len(texts) // 4)]]
    paper = Rejection(batch=1, target_rate=0.6, rate_window=100)
    sampling = Query(TaskKind.SAMPLE, "refine", count=100, seed=1, rejection=paper)
    drawn = [ask(lm, candidates, sampling, 1) for candidates in read]
    return OrderFigures(
        mean(t for t, _ in refine),
        max(t for t, _ in refine),
        mean(t for t, _ in full),
        sum(not is_exact(a) for _, a in full),
        mean(a.refinements for _, a in refine),
        mean(a.states for _, a in refine),
        sum(is_exact(a) for _, a in refine),
        mean(a.refinements for _, a in drawn),
        mean(a.states for _, a in drawn),
        mean(t for t, _ in drawn),
    )


def high_orders(sizes: Sizes) -> Row:
    """`refine` against `full` by order (figure 4b), and sampling to AR-100 = 60 % (figures 4c, 4d)."""
    train, test = corpora()["WSJ sample"]
    dense = dense_model(train)
    texts = [" ".join(w for w, _ in s) for s in test if 20 <= len(s) <= 30][: sizes.sentences]
    orders = [n for n in sizes.orders if n >= 3]
    found = {order: order_figures(dense, train, texts, order, sizes) for order in orders}
    rows = [
        [
            order,
            milliseconds(f.refine_seconds),
            milliseconds(f.refine_slowest),
            f"{'> ' if f.full_capped else ''}{milliseconds(f.full_seconds)}",
            f"{f.full_seconds / f.refine_seconds:.0f}",
            f"{f.iterations:.1f}",
            f"{f.states:.0f}",
            f"{f.sampling_iterations:.0f}",
            f"{f.sampling_states:.0f}",
            milliseconds(f.sampling_seconds),
            f"{f.certified} of {len(texts)}",
        ]
        for order, f in found.items()
    ]
    _plot_orders(found)
    head = ["order", "refine ms", "slowest", "full ms", "full / refine", "iterations", "states"]
    head += ["sampling: iterations", "states", "100 draws, ms", "certified"]
    growth = found[orders[-1]].refine_seconds / found[orders[0]].refine_seconds
    return Row(
        f"`refine` against `full` by order: {len(texts)} sentences of 20 to 30 words, all 45 tags everywhere",
        "a table and a plot; near-linear in the order",
        f"order {orders[-1]} takes {growth:.1f}× the time of order {orders[0]}",
        growth <= 2 * (orders[-1] - orders[0] + 1),
        f"![time by order](../docs/img/tag-orders.png)\n\n{table(head, rows)}",
    )


def ask(lm: NgramModel, candidates: Candidates, query: Query, repeats: int) -> tuple[float, Answer]:
    """Return the best time of the repeats and the core's answer."""
    task, readings = query.task(), [candidates.reading]
    answer = lm.engine.answer_readings(readings, task, 0, 1)[0]  # builds what is built once
    assert answer.status == Status.DONE
    return thread_seconds(lambda: lm.engine.answer_readings(readings, task, 0, 1), repeats), answer


def _plot_orders(found: dict[int, OrderFigures]) -> None:
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(10, 3.2))
    left, middle, right = figure.subplots(1, 3)
    orders = sorted(found)
    left.plot(orders, [1e3 * found[n].refine_seconds for n in orders], "o-", label="refine")
    left.plot(orders, [1e3 * found[n].full_seconds for n in orders], "s-", label="full")
    left.set(yscale="log", xlabel="order", ylabel="ms per sentence")
    left.legend(frameon=False)
    for axis, label in ((middle, "iterations"), (right, "states")):
        for name, before in (("decoding", ""), ("sampling to AR-100 = 60 %", "sampling_")):
            axis.plot(orders, [getattr(found[n], before + label) for n in orders], "o-", label=name)
        axis.set(xlabel="order", ylabel=label)
        axis.set_ylim(0, 1.35 * axis.get_ylim()[1])
        axis.legend(frameon=False, fontsize=8, loc="upper left")
    figure.tight_layout()
    IMAGES.mkdir(parents=True, exist_ok=True)
    figure.savefig(IMAGES / "tag-orders.png", dpi=120)


# ----------------------------------------------------------------- calibration


def calibration(sizes: Sizes) -> Row:
    """Whether the posterior probabilities can be trusted; with a plot."""
    rows = []
    for corpus, (train, test) in corpora().items():
        for order in [n for n in (2, 3, 4, 5) if n in sizes.orders]:
            found = score(Tagger.train(train, order=order, emissions="generative"), test)
            rows.append([corpus, order, percent(found.accuracy), percent(found.calibration_error)])
            if (corpus, order) == ("EWT", 3):
                IMAGES.mkdir(parents=True, exist_ok=True)
                plot_reliability(found, str(IMAGES / "tag-reliability.png"))
    return Row(
        "Calibration of the token marginals",
        "a plot: share of right tags by posterior probability",
        f"expected calibration error at order 3: {', '.join(f'{r[0]} {r[3]} %' for r in rows if r[1] == 3)}",
        None,
        "![reliability](../docs/img/tag-reliability.png)\n\n"
        + table(["corpus", "order", "accuracy %", "expected calibration error %"], rows),
    )


ROWS: dict[str, Callable[[Sizes], Row]] = {"1": accuracy, "2": speed, "3": high_orders, "4": calibration}


def main() -> None:
    """Run the rows asked for."""
    run_rows("Tagger", __doc__, ROWS, lambda _, quick: QUICK if quick else FULL)


if __name__ == "__main__":
    main()
