"""Tables 1 to 7 and the claims of the draft of Chiu & Rush (2020), beside ours.

The draft leaves some cells of its tables empty; they stay empty here.
"""

from __future__ import annotations

import itertools
from typing import Any

from experiments.common import Claim, Judgement, Pieces, everywhere, finish, lower, panels, table, untestable

TITLE = "Scaling hidden Markov language models"
CITATION = (
    "Draft of J. Chiu, A. Rush: *Scaling Hidden Markov Language Models*, EMNLP 2020. "
    "Theory: [hidden Markov language models](theory-hmmlm.md)."
)
DATA = "the beginnings of the Penn Treebank and of WikiText-2"
BUILT_IN = "the World English Bible"
DIFFERS = (
    "models a hundredth as large on a few percent of the text, trained for a few hundred steps on a "
    "processor instead of graphics cards: perplexities are much higher, and only comparisons within a table "
    "mean anything. One seed. Clusters are by exchange instead of Brown's merging. Rows of EM have more "
    "states and more text."
)
PAPER = {  # valid perplexities
    "ptb": {"feed-forward": 164, "LSTM": 97, "HMM": 125},
    "wikitext": {"feed-forward": 209, "LSTM": 125, "HMM": 167},
}
PAPER_CONSTRAINTS = [
    ("uniform", "8k", 150),
    ("Brown", "8k", 142),
    ("uniform", "16k", 146),
    ("Brown", "16k", 134),
]
PAPER_CLUSTERS = [(32, 136), (64, 137), (128, 133), (256, 137)]
PAPER_STATES = [("16k", 133), ("32k", 126), ("65k", 124)]
RATES = ("0.25", "0.5", "0.75")
CHEAPER = 0.9  # of the processor time
SPREAD = 0.031  # of the perplexity: what the paper calls insensitive, 133 to 137
MODELS = {"feed-forward": "network-feed-forward", "LSTM": "network-lstm", "HMM": "constraint-brown"}
DROPOUTS = tuple(f"dropout-{kind}-{rate}" for kind in ("unstructured", "state") for rate in RATES)
STATES = ("states-x0.5", "dropout-state-0.5", "states-x2", "states-x4")  # the second has the usual number
CLUSTERS = ("clusters-x0.5", "dropout-state-0.5", "clusters-x2")
EM_STATES = ("em-x0.5", "em-x1", "em-x2", "em-x4")
EM_CLUSTERS = ("em-clusters-x0.5", "em-x1", "em-clusters-x2")
EM_MANY_STATES = ("em-x4-clusters-x0.5", "em-x4", "em-x4-clusters-x2")
TYINGS = ("form-factored", "tying-emission", "tying-all")


def _perplexity(pieces: Pieces, name: str) -> float:
    return float(pieces[name]["perplexity"])


def _lower(pieces: Pieces, better: str, worse: str, names: tuple[str, str]) -> Judgement:
    return lower(_perplexity(pieces, better), _perplexity(pieces, worse), names=names)


def _needs(corpus: str, *names: str) -> tuple[str, ...]:
    return tuple(("" if corpus == "ptb" else f"{corpus}-") + MODELS[name] for name in names)


def _ranks(better: str, worse: str) -> dict[str, Any]:
    """Return needs and rule of a claim about two kinds of model on both texts."""
    pairs = [_needs(corpus, better, worse) for corpus in PAPER]
    return {
        "needs": tuple(name for pair in pairs for name in pair),
        "judge": lambda p: everywhere(_lower(p, a, b, (better, worse)) for a, b in pairs),
    }


def _entropy(pieces: Pieces, what: str, higher: str) -> Judgement:
    values = {name: pieces[f"constraint-{name}"][what] for name in ("uniform", "brown")}
    other = {"uniform": "brown", "brown": "uniform"}[higher]
    told = f"uniform {values['uniform']:.2f}, Brown {values['brown']:.2f} nats"
    return Judgement(values[higher] > values[other], told)


def _dropout_means(pieces: Pieces) -> Judgement:
    state, unstructured = (
        sum(_perplexity(pieces, f"dropout-{kind}-{rate}") for rate in RATES) / len(RATES)
        for kind in ("state", "unstructured")
    )
    return lower(state, unstructured, names=("state", "unstructured"))


def _occupancy(pieces: Pieces) -> Judgement:
    state, none = (pieces[name]["occupancy"] for name in ("dropout-state-0.5", "form-factored"))
    told = f"{100 * state:.1f} % of the states, {100 * none:.1f} % without dropout"
    return Judgement(None if state == none == 1.0 else state > none, told)


def _cheaper(pieces: Pieces) -> Judgement:
    state, other = (pieces[f"dropout-{kind}-0.5"]["seconds"] for kind in ("state", "unstructured"))
    return lower(state, CHEAPER * other, names=("state", f"{CHEAPER} × unstructured"))


def insensitive(pieces: Pieces, names: tuple[str, ...]) -> Judgement:
    """Judge whether perplexities are as close together as those that the paper calls insensitive."""
    values = [_perplexity(pieces, name) for name in names]
    spread = max(values) / min(values) - 1
    return Judgement(
        spread <= SPREAD, f"{' / '.join(f'{v:.1f}' for v in values)}: {100 * spread:.1f} % apart"
    )


def sensitive(pieces: Pieces, names: tuple[str, ...]) -> Judgement:
    """Judge whether they are further apart."""
    found = insensitive(pieces, names)
    return Judgement(not found.holds, found.ours)


def falls(pieces: Pieces, names: tuple[str, ...]) -> Judgement:
    """Judge whether perplexities fall from each to the next."""
    values = [_perplexity(pieces, name) for name in names]
    falling = all(a > b for a, b in itertools.pairwise(values))
    return Judgement(falling, " → ".join(f"{v:.1f}" for v in values))


CLAIMS = [
    Claim(
        name="HMM and feed-forward",
        says="HMMs outperform feed-forward models",
        paper="125 against 164, 167 against 209, tables 1 and 2",
        rule="lower valid perplexity on both texts",
        **_ranks("HMM", "feed-forward"),
    ),
    Claim(
        name="HMM and LSTM",
        says="and underperform LSTMs",
        paper="125 against 97, 167 against 125, tables 1 and 2",
        rule="higher valid perplexity on both texts",
        **_ranks("LSTM", "HMM"),
    ),
    Claim(
        "Brown",
        "Brown emission constraints outperform uniform ones",
        "142 against 150, 134 against 146, table 3",
        "lower valid perplexity",
        ("constraint-brown", "constraint-uniform"),
        lambda p: _lower(p, "constraint-brown", "constraint-uniform", ("Brown", "uniform")),
    ),
    Claim(
        "Brown by EM",
        "the same, of models trained by EM",
        "–",
        "lower valid perplexity",
        ("em-x1", "em-uniform"),
        lambda p: _lower(p, "em-x1", "em-uniform", ("Brown", "uniform")),
    ),
    Claim(
        "emission entropy",
        "emissions of uniform models have lower entropy",
        "section 5.2; table 4 is empty",
        "lower than Brown's",
        ("constraint-brown", "constraint-uniform"),
        lambda p: _entropy(p, "emission_entropy", "brown"),
    ),
    Claim(
        "transition entropy",
        "and their transitions higher entropy",
        "section 5.2; table 4 is empty",
        "higher than Brown's",
        ("constraint-brown", "constraint-uniform"),
        lambda p: _entropy(p, "transition_entropy", "uniform"),
    ),
    Claim(
        "state dropout",
        "state dropout outperforms unstructured dropout overall",
        "section 5.2; table 5 is empty",
        "lower valid perplexity, mean over the three rates",
        DROPOUTS,
        _dropout_means,
    ),
    Claim(
        "occupancy",
        "state dropout encourages use of the full state space",
        "section 4.2; table 5 is empty",
        "a larger share of the states is in use than without dropout; undecided if both use all",
        ("dropout-state-0.5", "form-factored"),
        _occupancy,
    ),
    Claim(
        "cost of dropout",
        "state dropout costs less than unstructured dropout",
        "section 4.2, no figure",
        "at least a tenth less processor time to train, compilation included, rate 0.5",
        ("dropout-state-0.5", "dropout-unstructured-0.5"),
        _cheaper,
    ),
    Claim(
        "clusters",
        "models with many states are not sensitive to the number of clusters",
        "133 to 137, 3 % apart, table 6",
        "perplexities at most 3.1 % apart",
        CLUSTERS,
        lambda p: insensitive(p, CLUSTERS),
    ),
    Claim(
        "clusters by EM",
        "the same, of models trained by EM",
        "–",
        "perplexities at most 3.1 % apart, with the most states",
        EM_MANY_STATES,
        lambda p: insensitive(p, EM_MANY_STATES),
    ),
    Claim(
        "clusters at 1k states",
        "with 1k states the number of clusters influences performance",
        "section 5.2, no figure",
        "perplexities more than 3.1 % apart, by EM, with a quarter of those states",
        EM_CLUSTERS,
        lambda p: sensitive(p, EM_CLUSTERS),
    ),
    Claim(
        "states",
        "more states are better",
        "133 → 126 → 124, table 7",
        "valid perplexity falls each time that states double",
        STATES,
        lambda p: falls(p, STATES),
    ),
    Claim(
        "states by EM",
        "the same, of models trained by EM",
        "–",
        "valid perplexity falls each time that states double",
        EM_STATES,
        lambda p: falls(p, EM_STATES),
    ),
    Claim(
        "tying",
        "tying weights does not affect performance",
        "section 5.2, no figure",
        "perplexities at most 3.1 % apart",
        TYINGS,
        lambda p: insensitive(p, TYINGS),
    ),
    untestable(
        "batching",
        "one kind of dropout is sensitive to the batching strategy, the other is not",
        "section 5.2",
        "the draft names unstructured dropout both times",
    ),
]

# ---------------------------------------------------------------------- tables


def cells(pieces: Pieces, name: str) -> list[str]:
    """Return perplexity, occupancy and entropies of a model."""
    f = pieces[name]
    keys = ("occupancy", "emission_entropy", "transition_entropy")
    return [f"{f['perplexity']:.1f}", *(f"{f[k]:.3g}" if k in f else "–" for k in keys)]


def _networks(pieces: Pieces) -> str:
    rows = []
    for corpus, label in (("ptb", "Penn Treebank"), ("wikitext", "WikiText-2")):
        for name in PAPER[corpus]:
            piece = _needs(corpus, name)[0]
            if piece in pieces:
                f = pieces[piece]
                cells = [f"{f['parameters'] / 1e6:.2f}", f"{f['perplexity']:.1f}", f"{f['seconds']:.0f}"]
                rows.append([label, name, PAPER[corpus][name], *cells])
    head = ["text", "model", "paper, valid", "ours: M parameters", "valid", "processor s"]
    return table(head, rows)


def _constraints(pieces: Pieces) -> str:
    rows: list[list[Any]] = [["paper", name, z, ppl, "–", "–", "–"] for name, z, ppl in PAPER_CONSTRAINTS]
    for name, label in (("uniform", "uniform"), ("brown", "Brown"), ("none", "none")):
        piece = f"constraint-{name}"
        if piece in pieces:
            rows.append(["ours", label, pieces[piece]["options"]["states"], *cells(pieces, piece)])
    for piece, label in (("em-uniform", "uniform"), ("em-x1", "Brown")):
        if piece in pieces:
            rows.append(["ours, EM", label, pieces[piece]["states"], *cells(pieces, piece)])
    head = ["", "constraint", "states", "valid perplexity", "occupancy", "H(emit), nats", "H(transition)"]
    return table(head, rows)


def _dropouts(pieces: Pieces) -> str:
    rows = []
    for name in DROPOUTS:
        _, kind, rate = name.split("-")
        rows.append([kind, rate, *cells(pieces, name), f"{pieces[name]['seconds']:.0f}"])
    rows.append(["none", "–", *cells(pieces, "form-factored"), f"{pieces['form-factored']['seconds']:.0f}"])
    head = ["dropout", "rate", "valid perplexity", "occupancy", "H(emit)", "H(transition)", "processor s"]
    return f"The draft's table is empty.\n\n{table(head, rows)}"


def _clusters(pieces: Pieces) -> str:
    rows: list[list[Any]] = [["paper", "16k", number, ppl] for number, ppl in PAPER_CLUSTERS]
    for name in CLUSTERS:
        o = pieces[name]["options"]
        rows.append(["ours", o["states"], o["clusters"], f"{_perplexity(pieces, name):.1f}"])
    for name in (*EM_CLUSTERS, *EM_MANY_STATES):
        f = pieces[name]
        rows.append(["ours, EM", f["states"], f["clusters"], f"{f['perplexity']:.1f}"])
    return table(["", "states", "clusters", "valid perplexity"], rows)


def _states(pieces: Pieces) -> str:
    rows: list[list[Any]] = [["paper", states, "–", ppl, "–"] for states, ppl in PAPER_STATES]
    for name in STATES:
        f = pieces[name]
        cells = [f"{f['parameters'] / 1e6:.2f}", f"{f['perplexity']:.1f}", f"{f['seconds']:.0f}"]
        rows.append(["ours", f["options"]["states"], *cells])
    for name in EM_STATES:
        f = pieces[name]
        rows.append(["ours, EM", f["states"], "–", f"{f['perplexity']:.1f}", f"{f['seconds']:.0f}"])
    return table(["", "states", "M parameters", "valid perplexity", "processor s"], rows)


PARTS = [
    ("Tables 1 and 2: beside networks", _needs("ptb", "HMM"), _networks),
    ("Tables 3 and 4: emission constraints", ("constraint-brown", "constraint-uniform"), _constraints),
    ("Table 5: dropout", (*DROPOUTS, "form-factored"), _dropouts),
    ("Table 6: number of clusters", (*CLUSTERS, *EM_CLUSTERS, *EM_MANY_STATES), _clusters),
    ("Table 7: number of states", (*STATES, *EM_STATES), _states),
]
SHOWN = {"Table 7: number of states": ["tables"]}

# -------------------------------------------------------------------- pictures


def _draw(pieces: Pieces) -> Any:
    figure, axes = panels(4, 3.6, 3.4)
    for i, (kind, label) in enumerate((("state", "state"), ("unstructured", "unstructured"))):
        values = [_perplexity(pieces, f"dropout-{kind}-{rate}") for rate in RATES]
        axes[0].plot([float(r) for r in RATES], values, "os"[i] + "-", label=label)
    axes[0].axhline(_perplexity(pieces, "form-factored"), color="0.5", lw=1, label="none")
    axes[0].set(xlabel="dropout rate", ylabel="valid perplexity", title="table 5, ours")
    axes[1].plot(range(len(PAPER_CLUSTERS)), [p for _, p in PAPER_CLUSTERS], "kx-", label="paper, 16k states")
    axes[1].set_xticks(range(len(PAPER_CLUSTERS)), [str(n) for n, _ in PAPER_CLUSTERS])
    axes[1].set(xlabel="clusters", ylim=(0, 200), title="table 6, paper", ylabel="valid perplexity")
    runs = ((CLUSTERS, "gradient"), (EM_CLUSTERS, "EM, few states"), (EM_MANY_STATES, "EM, many states"))
    for names, label in runs:
        axes[2].plot([0.5, 1, 2], [_perplexity(pieces, name) for name in names], "o-", label=label)
    axes[2].set(xscale="log", xlabel="times the usual clusters", title="table 6, ours", ylim=(0, None))
    axes[2].set_xticks([0.5, 1, 2], ["½", "1", "2"])
    axes[2].minorticks_off()
    axes[3].plot([16384, 32768, 65536], [p for _, p in PAPER_STATES], "kx-", label="paper")
    gradient = [pieces[name]["options"]["states"] for name in STATES]
    axes[3].plot(gradient, [_perplexity(pieces, name) for name in STATES], "o-", label="gradient")
    by_em = [pieces[name]["states"] for name in EM_STATES]
    axes[3].plot(by_em, [_perplexity(pieces, name) for name in EM_STATES], "s-", label="EM")
    axes[3].set(xscale="log", xlabel="states", title="table 7", ylim=(0, None))
    return finish(figure, axes)


PICTURES = {
    "tables": (
        (*DROPOUTS, *STATES, *CLUSTERS, *EM_STATES, *EM_CLUSTERS, *EM_MANY_STATES, "form-factored"),
        _draw,
    ),
}
