"""Tables 1 to 3, figure 2 and the claims of Dubbin & Blunsom (2014), beside ours."""

from __future__ import annotations

import math
from typing import Any

from experiments.cells import lexicon_matches
from experiments.common import (
    Claim,
    Judgement,
    Pieces,
    everywhere,
    explained,
    finish,
    line_fit,
    lower,
    panels,
    plain,
    table,
)

TITLE = "Modelling the lexicon in part-of-speech induction"
CITATION = (
    "G. Dubbin, P. Blunsom: *Modelling the Lexicon in Unsupervised Part of Speech Induction*, EACL 2014. "
    "Theory: [Pitman–Yor models of tags](theory-induction.md)."
)
DATA = "the first sentences of the Penn Treebank sample; of UD English-EWT and Brown for table 2"
BUILT_IN = "the first sentences of a tagged text drawn from a trigram model"
DIFFERS = (
    "a sixtieth of the paper's WSJ; fewer sweeps; English texts in place of other languages. Our lexicon "
    "chain starts from a short one-tag run and has more moves than the published one; the row `random start` "
    "has no such run. One-tag runs have as many sweeps as a lexicon chain and its start together. Types have "
    "10 particles instead of 100. Size matters here: on the whole sample all figures are higher, as the "
    "benchmarks show."
)
FULL = {
    "data": "the Penn Treebank sample, whole (94,000 words); UD English-EWT and Brown for table 2",
    "differs": "a twelfth of the paper's WSJ; English texts in place of other languages, which have a page "
    "of their own. Our lexicon chain starts from a short one-tag run and has more moves than the published "
    "one; the row `random start` has no such run. One-tag runs have as many sweeps as a lexicon chain and "
    "its start together. Types have 10 particles instead of 100.",
}
PAPER = {  # many-to-one, hours, WSJ
    "lex": (71.1, 7.9),
    "type": (70.1, 401.2),
    "local": (70.2, 8.6),
    "1hmm": (75.6, 20.6),
    "lex+lm": (77.5, 16.9),
    "type+lm": (73.5, 446.0),
    "1hmm+lm": (77.5, 34.9),
}
NAMES = {
    "lex": "Lex-HMM",
    "type": "type PYP-HMM",
    "local": "local PYP-HMM",
    "1hmm": "PYP-1HMM",
    "lex+lm": "Lex-HMM+LM",
    "type+lm": "type PYP-HMM+LM",
    "local+lm": "local PYP-HMM+LM",
    "1hmm+lm": "PYP-1HMM+LM",
    "lex+lm-50": "Lex-HMM+LM, 50 particles",
    "lex+lm-random": "Lex-HMM+LM, random start",
}
TEXTS = {"wsj": "WSJ", "ewt": "English-EWT", "brown": "Brown"}
EQUAL = 2.0  # points: about what two seeds differ by
HALF = 0.6  # of the time, at most
STRAIGHT = 0.9  # R² of a line through log frequency over log rank
MATCHED = 1 / 3  # of the words of the five largest classes
LEADING = 5  # largest classes that have one tag
CLASSES = {"lex": 660, "lex+lm": 182, "gold": 343}


def _piece(name: str, text: str = "wsj", seed: int = 1) -> str:
    return f"{text}-{name}-{seed}"


def _runs(pieces: Pieces, name: str, text: str = "wsj") -> list[dict[str, Any]]:
    found = (pieces.get(_piece(name, text, seed)) for seed in range(1, 10))
    return [run for run in found if run is not None]


def _mean(pieces: Pieces, name: str, what: str = "many_to_one", text: str = "wsj") -> float:
    values = [run[what] for run in _runs(pieces, name, text)]
    return float(sum(values) / len(values))


def _below(pieces: Pieces, first: str, second: str) -> Judgement:
    return lower(_mean(pieces, first), _mean(pieces, second), names=(NAMES[first], NAMES[second]))


def _needs(*names: str) -> tuple[str, ...]:
    return tuple(_piece(name) for name in names)


def _equal(pieces: Pieces) -> Judgement:
    both = [[run["many_to_one"] for run in _runs(pieces, name)] for name in ("lex+lm", "1hmm+lm")]
    means = [sum(values) / len(values) for values in both]
    seeds = " and ".join("/".join(f"{v:.1f}" for v in values) for values in both)
    return Judgement(abs(means[0] - means[1]) <= EQUAL, f"{means[0]:.1f} and {means[1]:.1f} (seeds {seeds})")


def _no_worse(pieces: Pieces) -> Judgement:
    found = _below(pieces, "1hmm+lm", "lex+lm")
    gain = _mean(pieces, "lex+lm") - _mean(pieces, "1hmm+lm")
    return Judgement(gain >= -EQUAL, found.ours)


def _sweep_seconds(pieces: Pieces, name: str) -> float:
    return _mean(pieces, name, "seconds") / _mean(pieces, name, "sweeps")


def _faster(pieces: Pieces, first: str, second: str, factor: float) -> Judgement:
    a, b = (1e3 * _sweep_seconds(pieces, name) for name in (first, second))
    return Judgement(a <= factor * b, f"{a:.0f} ms a sweep against {b:.0f}, ×{a / b:.2f}")


def _no_gain(pieces: Pieces) -> Judgement:
    many, few = _mean(pieces, "lex+lm-50"), _runs(pieces, "lex+lm")[0]["many_to_one"]
    return Judgement(many - few <= EQUAL, f"{many:.1f} with 50, {few:.1f} with 10, the same seed")


def _zipf(sizes: list[int]) -> float:
    """Return R² of the line through log size over log rank."""
    xs = [math.log(rank) for rank in range(1, len(sizes) + 1)]
    ys = [math.log(size) for size in sizes]
    slope, start = line_fit(xs, ys)
    return explained(ys, [start + slope * x for x in xs])


def _is_zipfian(pieces: Pieces) -> Judgement:
    sizes = pieces["gold"]["sizes"]
    fit = _zipf(sizes)
    return Judgement(fit >= STRAIGHT, f"R² {fit:.3f}, {len(sizes)} classes")


def _num_classes(pieces: Pieces, name: str) -> float:
    runs = _runs(pieces, name)
    return sum(len(run["classes"]["sizes"]) for run in runs) / len(runs)


def _fewer_with_spelling(pieces: Pieces) -> Judgement:
    names = (NAMES["lex+lm"], NAMES["lex"])
    return lower(_num_classes(pieces, "lex+lm"), _num_classes(pieces, "lex"), ".0f", names=names)


def _fewer_than_gold(pieces: Pieces) -> Judgement:
    names = ("predicted", "gold")
    return lower(_num_classes(pieces, "lex+lm"), len(pieces["gold"]["sizes"]), ".0f", names=names)


def _single(pieces: Pieces) -> Judgement:
    leading = pieces[_piece("lex+lm")]["classes"]["leading"]
    return Judgement(leading >= LEADING, f"the {leading} largest")


def _matched(pieces: Pieces) -> Judgement:
    share = pieces[_piece("lex+lm")]["classes"]["matched"]
    return Judgement(share >= MATCHED, f"{100 * share:.0f} %")


CLAIMS = [
    Claim(
        "equal",
        "Lex-HMM+LM has the same accuracy as 1HMM+LM",
        "77.5 and 77.5 on WSJ, table 1",
        "means over seeds within two points, above or below",
        _needs("lex+lm", "1hmm+lm"),
        _equal,
    ),
    Claim(
        "no worse",
        "the lexicon matches or improves on the accuracy of the other models",
        "77.5 and 77.5, table 1; section 6",
        "Lex-HMM+LM at most two points below 1HMM+LM",
        _needs("lex+lm", "1hmm+lm"),
        _no_worse,
    ),
    Claim(
        "half the time",
        "in half the time",
        "16.9 against 34.9 hours, table 1",
        "a sweep takes at most 0.6 times as long",
        _needs("lex+lm", "1hmm+lm"),
        lambda p: _faster(p, "lex+lm", "1hmm+lm", HALF),
    ),
    Claim(
        "faster than types",
        "and a small part of the time of the type sampler",
        "7.9 against 401.2 hours, 10 against 100 particles, table 1",
        "a sweep takes less time, with as many particles",
        _needs("lex", "type"),
        lambda p: _faster(p, "lex", "type", 1.0),
    ),
    Claim(
        "1HMM without spelling",
        "without spelling the lexicon stays below 1HMM",
        "71.1 against 75.6 on WSJ, table 1",
        "lower many-to-one",
        _needs("lex", "1hmm"),
        lambda p: _below(p, "lex", "1hmm"),
    ),
    Claim(
        "lexicon helps",
        "the lexicon model is better than the PYP-HMM whose tokens are free",
        "71.1 against 70.1 and 70.2 on WSJ, table 1",
        "higher many-to-one than type and local samplers",
        _needs("lex", "type", "local"),
        lambda p: everywhere(_below(p, name, "lex") for name in ("type", "local")),
    ),
    Claim(
        "spelling helps",
        "the character model improves all samplers but the local one",
        "71.1 → 77.5, 70.1 → 73.5, 75.6 → 77.5 on WSJ, table 1",
        "higher many-to-one for Lex, type and 1HMM",
        _needs("lex", "type", "1hmm", "lex+lm", "type+lm", "1hmm+lm"),
        lambda p: everywhere(_below(p, name, f"{name}+lm") for name in ("lex", "type", "1hmm")),
    ),
    Claim(
        "local does not mix",
        "with the character model the local sampler does not mix",
        "below 50 %, section 5.1",
        "lower many-to-one than without it",
        _needs("local", "local+lm"),
        lambda p: _below(p, "local+lm", "local"),
    ),
    Claim(
        "particles",
        "50 particles bring no significant improvement over 10",
        "section 5.1, no figure",
        "at most two points",
        _needs("lex+lm", "lex+lm-50"),
        _no_gain,
    ),
    Claim(
        "Zipf",
        "gold ambiguity classes have a Zipfian distribution",
        "343 classes, figure 2",
        "a line explains at least 90 % of log frequency over log rank",
        ("gold",),
        _is_zipfian,
    ),
    Claim(
        "fewer classes",
        "without the character model the sampler infers an excess of classes",
        "660 against 182, section 5.1",
        "more classes in the tags without it",
        _needs("lex", "lex+lm"),
        _fewer_with_spelling,
    ),
    Claim(
        "fewer than gold",
        "predicted tags have fewer classes than gold ones",
        "182 against 343, figure 2",
        "fewer",
        ("gold", *_needs("lex+lm")),
        _fewer_than_gold,
    ),
    Claim(
        "single tags",
        "the most frequent predicted classes have one tag",
        "the first 14, table 3",
        f"at least the first {LEADING}",
        _needs("lex+lm"),
        _single,
    ),
    Claim(
        "matched",
        "many words of the largest predicted classes have exactly these gold tags",
        "one third of those in the first five, table 3",
        "at least a third",
        _needs("lex+lm"),
        _matched,
    ),
    Claim(
        "languages",
        "Lex-HMM+LM matches or beats the state of the art in several of ten languages",
        "71.8 against 72.9 on average, table 2",
        "at most two points below 1HMM+LM in three or more of our [languages](experiments-languages.md), "
        "at full length",
        (),
        lambda p: lexicon_matches(p.get("languages", {})),
    ),
]

# ---------------------------------------------------------------------- tables


def _table1(pieces: Pieces) -> str:
    rows = []
    for name, label in NAMES.items():
        runs = _runs(pieces, name)
        if not runs:
            continue
        accuracy, hours = PAPER.get(name, ("–", "–"))
        seconds = _mean(pieces, name, "seconds") + _mean(pieces, name, "start_seconds")
        cells = [f"{_mean(pieces, name):.1f}", f"{_mean(pieces, name, 'v_measure'):.1f}", len(runs)]
        rows.append(
            [
                label,
                accuracy,
                hours,
                *cells,
                runs[0]["sweeps"],
                f"{seconds:.0f}",
                f"{_num_classes(pieces, name):.0f}",
            ]
        )
    first = _runs(pieces, "lex+lm")[0]
    note = (
        f"Many-to-one in percent; ours: {first['tokens']:,} tokens, {first['tags']} tags. Seconds count the "
        "run that a lexicon chain starts from. Classes: distinct sets of tags that words have."
    )
    head = ["model", "paper", "paper, hours", "ours", "V-measure", "seeds", "sweeps", "s", "classes"]
    return f"{note}\n\n{table(head, rows)}"


def _table2(pieces: Pieces) -> str:
    rows = []
    for text, label in TEXTS.items():
        if _runs(pieces, "lex+lm", text):
            run = _runs(pieces, "lex+lm", text)[0]
            cells = [f"{_mean(pieces, name, text=text):.1f}" for name in ("local", "1hmm+lm", "lex+lm")]
            rows.append([label, f"{run['tokens']:,}", run["tags"], *cells])
    paper = [
        ["paper, WSJ", "1,173,766", 45, 70.2, 77.5, 77.5],
        ["paper, average of ten", "–", "–", 66.1, 72.9, 71.8],
    ]
    head = ["text", "tokens", "tags", "local", "1HMM+LM", "Lex-HMM+LM"]
    return f"Many-to-one in percent.\n\n{table(head, [*paper, *rows])}"


def _table3(pieces: Pieces) -> str:
    shown = pieces[_piece("lex+lm")]["classes"]["shown"]
    rows = [
        [rank, words, " ".join(tags), plain(", ".join(examples))] for rank, words, tags, examples in shown
    ]
    note = (
        "The five largest classes of our Lex-HMM+LM, and the largest with several tags. An induced tag is "
        "called by the gold tag it mostly is, so two tags can have one name; words in bold have exactly "
        "these gold tags."
    )
    return f"{note}\n\n{table(['rank', 'words', 'tags', 'most frequent'], rows)}"


def _figure2_text(pieces: Pieces) -> str:
    gold = pieces["gold"]
    rows = [
        ["gold", CLASSES["gold"], len(gold["sizes"])],
        ["Lex-HMM+LM", CLASSES["lex+lm"], f"{_num_classes(pieces, 'lex+lm'):.0f}"],
        ["Lex-HMM", CLASSES["lex"], f"{_num_classes(pieces, 'lex'):.0f}"],
    ]
    note = f"A gold class has {gold['mean_tags']:.2f} tags on average; the paper's 2.94."
    return f"{note}\n\n{table(['distinct classes', 'paper, WSJ', 'ours'], rows)}"


PARTS = [
    ("Table 1: accuracy and time", _needs(*PAPER), _table1),
    ("Table 2: other texts", _needs("lex+lm", "1hmm+lm", "local"), _table2),
    ("Table 3: ambiguity classes", _needs("lex+lm"), _table3),
    ("Figure 2: ambiguity classes by rank", ("gold", *_needs("lex+lm", "lex")), _figure2_text),
]
SHOWN = {
    "Table 1: accuracy and time": ["table1"],
    "Figure 2: ambiguity classes by rank": ["fig2"],
}

# -------------------------------------------------------------------- pictures


def _draw_table1(pieces: Pieces) -> Any:
    figure, (axis,) = panels(1, 8.0, 3.4)
    names = [name for name in NAMES if _runs(pieces, name)]
    axis.bar(
        range(len(names)),
        [PAPER.get(name, (0, 0))[0] for name in names],
        0.4,
        color="0.65",
        label="paper, WSJ",
    )
    axis.bar(
        [x + 0.4 for x in range(len(names))], [_mean(pieces, name) for name in names], 0.4, label="ours, mean"
    )
    for x, name in enumerate(names):
        points = [run["many_to_one"] for run in _runs(pieces, name)]
        axis.plot([x + 0.4] * len(points), points, "k.", ms=4)
    axis.set_xticks(
        [x + 0.2 for x in range(len(names))], [n.replace("lm-", "lm,\n") for n in names], fontsize=8
    )
    axis.set(ylabel="many-to-one, %", ylim=(0, 100))
    return finish(figure, [axis], legend={"loc": "upper left", "ncols": 2})


def _draw_classes(pieces: Pieces) -> Any:
    figure, (axis,) = panels(1, 5.4, 3.8)
    curves = {"gold": pieces["gold"]["sizes"]}
    curves |= {name: pieces[_piece(name)]["classes"]["sizes"] for name in ("lex+lm", "lex")}
    for i, (name, sizes) in enumerate(curves.items()):
        label = NAMES.get(name, name)
        axis.plot(range(1, len(sizes) + 1), sizes, ".-", color=f"C{i}", ms=4, lw=1, label=label)
        axis.plot([CLASSES[name]], [1], "x", color=f"C{i}", ms=8)
    axis.plot([], [], "kx", label="paper: number of classes")
    axis.set(xscale="log", yscale="log", xlabel="rank of the class", ylabel="words")
    return finish(figure, [axis])


PICTURES = {
    "table1": (_needs(*PAPER), _draw_table1),
    "fig2": (("gold", *_needs("lex+lm", "lex")), _draw_classes),
}
