"""Where refinement and sampling stand: tags, 1000 exact samples, and the size of the language model."""

from __future__ import annotations

from driver import Driver
from engine_walk import Sizes, ratio, ratios, seconds
from report import Row, mean, milliseconds, table
from sms import CORPORA, ROOT, Corpus, messages, model_file, num_ngrams, type_keys
from tags import TagSet, tag_model, tag_records

PLOT = ROOT / "docs" / "img" / "lm-size.png"


def tags(sizes: Sizes) -> Row:
    """`refine` on 45 tags by order; `full` where it can be afforded."""
    full, dominance, refine = (f"direct:decode:{m}" for m in ("full", "dominance", "refine"))
    rows, times, gain = [], {}, 0.0
    for order in (3, 4, 5, 7, 9):
        with Driver(tag_model(order)) as driver:
            driver.read_slots(tag_records(sizes.messages, TagSet.ALL))
            timed = driver.time([refine, dominance, *([full] if order <= 5 else [])], sizes.repeats)
            times[order] = mean(seconds(timed[refine]))
            if order == 5:
                gain = ratio(timed[full], timed[refine])
            faster = f"{ratio(timed[full], timed[refine]):.0f}" if full in timed else "–"
            rows.append(
                [
                    order,
                    milliseconds(mean(seconds(timed[full]))) if full in timed else "–",
                    milliseconds(mean(seconds(timed[dominance]))),
                    milliseconds(times[order]),
                    milliseconds(max(seconds(timed[refine]))),
                    f"**{faster}**",
                    f"{times[order] / times[3]:.1f}",
                    f"{mean(t.refinements for t in timed[refine]):.0f}",
                    f"{mean(t.states for t in timed[refine]):.0f}",
                ]
            )
    head = [
        "order",
        "full ms",
        "dominance ms",
        "refine ms",
        "slowest",
        "full / refine",
        "refine / order 3",
        "refinements",
        "states",
    ]
    return Row(
        "`refine` against `full` on 45 tags, about 23 words",
        "at least 300× faster at order 5; order 9 at most 8× order 3",
        f"{gain:.0f}×; order 9 takes {times[9] / times[3]:.1f}× order 3",
        gain >= 300 and times[9] <= 8 * times[3],
        table(head, rows),
    )


def sampling(sizes: Sizes) -> Row:
    """1000 exact samples at the paper's setting."""
    corpus = CORPORA["hansard"]
    auto, refine, paper = (f"engine:sample:{m}" for m in ("auto:1000", "refine:1000", "paper:1000:100"))
    with Driver(model_file(corpus, 5)) as driver:
        texts = messages(corpus, 10, max(5, sizes.messages // 5))
        driver.read_keypad(type_keys(texts), keep=100)
        timed = driver.time([auto, refine], sizes.repeats)
        timed |= driver.time([paper], 1)
    rows = [
        [
            ask.split(":")[2],
            milliseconds(mean(seconds(timed[ask]))),
            milliseconds(max(seconds(timed[ask]))),
            f"{mean(t.trials for t in timed[ask]):.0f}",
            f"{mean(t.states for t in timed[ask]):.0f}",
            f"{ratio(timed[ask], timed[auto]):.1f}",
        ]
        for ask in (auto, refine, paper)
    ]
    each = ratios(timed[paper], timed[auto])
    gain = ratio(timed[paper], timed[auto])
    return Row(
        "1000 exact samples at the paper's setting: order 5, 100 candidates, 10 words",
        "at least 500× faster than `paper` with B = 100",
        f"{gain:.0f}× ({min(each):.0f}× to {max(each):.0f}×)",
        gain >= 500,
        table(["method", "ms", "slowest", "trials", "states", "/ auto"], rows),
    )


# ----------------------------------------------------------- size of the model


def _size_models() -> list[tuple[Corpus, int]]:
    """Models from 0.4 M to as many n-grams as the texts hold, one vocabulary."""
    names = [("all-64", 5), ("all-16", 5), ("all-4", 5), ("all", 5), ("all", 6), ("all", 8)]
    return [(CORPORA[name], order) for name, order in names]


def lm_size(sizes: Sizes) -> Row:
    """Time of decoding by the number of n-grams, per method; with a plot."""
    asks = [f"direct:{a}" for a in ("decode:full", "decode:dominance", "decode:refine", "beam:sparse:10")]
    lengths = (5, 10, 20)
    rows, points = [], {}
    for corpus, order in _size_models():
        path = model_file(corpus, order)
        size = num_ngrams(path)
        with Driver(path) as driver:
            for length in lengths:
                source = CORPORA["all-long" if length > 10 else "all"]
                driver.read_keypad(type_keys(messages(source, length, sizes.messages)))
                timed = driver.time(asks, sizes.repeats, sizes.cap)
                times = [mean(seconds(timed[ask])) for ask in asks]
                points[length, size] = times
                capped = sum(not t.exact for t in timed[asks[2]])
                rows.append(
                    [f"{size / 1e6:.1f} M", order, length, *map(milliseconds, times), f"{capped} capped"]
                )
    _plot(points, lengths)
    overtaken = {
        length: [size for (n, size), t in sorted(points.items()) if n == length and t[2] < t[0]]
        for length in lengths
    }
    largest = max(size for _, size in points)
    told = "; ".join(
        f"{n} words: {'at all sizes' if len(s) * len(lengths) == len(points) else f'{len(s)} sizes'}"
        for n, s in overtaken.items()
    )
    return Row(
        "Time of `decode` by the size of the language model, 10 k words",
        "a plot: where `refine` overtakes `full`",
        f"up to {largest / 1e6:.1f} M n-grams; refine is faster than full on average at {told}",
        None,
        "![time by size of the model](../docs/img/lm-size.png)\n\n"
        + table(["n-grams", "order", "words", "full ms", "dominance", "refine", "beam 10", "refine"], rows),
    )


def _plot(points: dict[tuple[int, int], list[float]], lengths: tuple[int, ...]) -> None:
    import matplotlib as mpl  # noqa: PLC0415  (only this row needs it)

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(1, len(lengths), figsize=(4 * len(lengths), 3.6), sharey=True)
    for axis, length in zip(axes, lengths, strict=True):
        chosen = sorted((size, times) for (n, size), times in points.items() if n == length)
        for i, (label, style) in enumerate(
            [("full", "o-"), ("dominance", "s-"), ("refine", "^-"), ("beam 10 (not exact)", "x:")]
        ):
            axis.plot([s / 1e6 for s, _ in chosen], [1e3 * t[i] for _, t in chosen], style, label=label)
        axis.set(xscale="log", yscale="log", xlabel="million n-grams", title=f"{length} words")
        axis.grid(True, which="major", alpha=0.3)
    axes[0].set_ylabel("ms per sentence")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    PLOT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PLOT, dpi=120)
    plt.close(figure)
