"""Tables 1 to 7 of Chiu & Rush (2020) at full size: large models, and the claims that they decide.

The rules are those of ``compare`` on other pieces. What is about networks, dropout, numbers of states and of
clusters is decided by large models; what is about constraints by gradient, tying and three rates of dropout
by the small ones of the reduced page, on more text. These rules were written before the runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from experiments.chiu2020 import compare
from experiments.chiu2020.compare import BUILT_IN, CHEAPER, CITATION, PAPER, TITLE
from experiments.common import Claim, Judgement, Pieces, everywhere, finish, lower, panels, table

__all__ = [
    "BUILT_IN",
    "CITATION",
    "CLAIMS",
    "DATA",
    "DIFFERS",
    "PARTS",
    "PICTURES",
    "SHOWN",
    "TITLE",
]

DATA = (
    "the whole Penn Treebank for networks, hidden Markov models by gradient of 4,096 states and those by EM; "
    "its first 4,000 lines for 512 states by gradient and their variants: constraints, tying, rates of "
    "dropout, more or fewer states and clusters; "
    "rows of WikiText-2 have its first 1,500 lines, a line being a paragraph"
)
DIFFERS = (
    "4,096 states by gradient instead of 65,536, and 1,024 to 32,768 by EM; 65,536 only in a mixture of "
    "eight chains and with word contexts, since a table of 65,536² transitions needs 17 GB. The networks "
    "are the paper's, with a factored softmax, the feed-forward model 256 wide and the LSTM 128 instead of "
    "256. The rate falls to zero along a cosine over a number of epochs that their cost decided; on the "
    "Penn Treebank the hidden Markov models have 16, after a run of six had left them at 170.0 (state "
    "dropout) and 158.8 (unstructured), still gaining 4 %. EM has its usual smoothing, not one chosen on "
    "valid text, and 32 states a word instead of 128; clusters grow with the states, so that rows with more "
    "states also have sparser transitions; models with log-bilinear transitions and lexicalised ones have "
    "128 clusters and fit smoothing and weights on valid text. Clusters are by exchange instead of Brown's "
    "merging. Seed 1. The machine had other work: processor times are up to twice what they would be alone. "
    "What was fixed when: the rules of this page are its own, in part other than those of the reduced runs, "
    "and were in the code before any run that is recorded here. Before that, 250 steps at two rates chose "
    "that of the hidden Markov model, and short runs of EM its ten epochs, 4k states alone for uniform "
    "sets, and 32k states at most. The feed-forward model was begun with ten epochs, 1,024 words a step and "
    "the rate 0.002, stopped after two (valid 177.7) for their cost, and begun anew with six, 2,048 and "
    "0.003. The rules about 65,536 states in a mixture and about log-bilinear transitions were added later, "
    "before those models were run here; smaller ones of their kind are in the benchmarks."
)
MODELS = {"feed-forward": "large-feed-forward", "LSTM": "large-lstm", "HMM": "large-state"}
TEXTS = {"ptb": "Penn Treebank", "wikitext": "WikiText-2"}
DROPOUTS = ("large-state", "large-unstructured")
STATES = ("em-4k", "em-8k", "em-16k", "em-32k")
BILINEAR = ("bilinear-4k", "bilinear-8k", "bilinear-16k")
MIXTURE = "bilinear-65k"
LEXICAL = ("lexical-65k", "lexical-131k")
CLUSTERS = ("em-16k-256", "em-16k", "em-16k-1024")
FEW_CLUSTERS = ("em-1k-16", "em-1k-32", "em-1k-64")
UNIFORM = ("em-4k", "em-uniform-4k")
PAPER_STATES = {16384: 133, 32768: 126, 65536: 124}

# ---------------------------------------------------------------------- claims


def _piece(corpus: str, model: str) -> str:
    return ("" if corpus == "ptb" else f"{corpus}-") + MODELS[model]


def _ranks(better: str, worse: str, corpora: Iterable[str] = PAPER) -> dict[str, Any]:
    """Return needs and rule of a claim about two kinds of model."""
    pairs = [(_piece(corpus, better), _piece(corpus, worse)) for corpus in corpora]
    return {
        "needs": tuple(name for pair in pairs for name in pair),
        "judge": lambda p: everywhere(_lower(p, a, b, (better, worse)) for a, b in pairs),
    }


def _of_mixture(model: str, mixture_wins: bool) -> dict[str, Any]:
    """Return needs and rule of a claim about the mixture beside a network, Penn Treebank."""
    network = _piece("ptb", model)
    better, worse = (MIXTURE, network) if mixture_wins else (network, MIXTURE)
    names = ("HMM", model) if mixture_wins else (model, "HMM")
    return {"needs": (MIXTURE, network), "judge": lambda p: _lower(p, better, worse, names)}


def _lower(pieces: Pieces, better: str, worse: str, names: tuple[str, str]) -> Judgement:
    return lower(pieces[better]["perplexity"], pieces[worse]["perplexity"], names=names)


def _cheaper(pieces: Pieces) -> Judgement:
    state, other = (pieces[name]["seconds"] for name in DROPOUTS)
    return lower(state, CHEAPER * other, ".0f", names=("state", f"{CHEAPER} × unstructured"))


_SMALL = {claim.name: claim for claim in compare.CLAIMS}

CLAIMS = [
    Claim(
        name="HMM and feed-forward",
        says="HMMs outperform feed-forward models",
        paper="125 against 164, 167 against 209, tables 1 and 2",
        rule="lower valid perplexity on both texts",
        **_ranks("HMM", "feed-forward"),
    ),
    Claim(
        name="HMM and feed-forward, Penn Treebank",
        says="the same, on the Penn Treebank",
        paper="125 against 164, table 1",
        rule="lower valid perplexity on the whole text",
        **_ranks("HMM", "feed-forward", ["ptb"]),
    ),
    Claim(
        name="HMM and feed-forward, 65k states",
        says="the same, of 65,536 states in a mixture by EM",
        paper="125 against 164, table 1",
        rule="lower valid perplexity on the whole text",
        **_of_mixture("feed-forward", mixture_wins=True),
    ),
    Claim(
        name="HMM and LSTM",
        says="and underperform LSTMs",
        paper="125 against 97, 167 against 125, tables 1 and 2",
        rule="higher valid perplexity on both texts",
        **_ranks("LSTM", "HMM"),
    ),
    Claim(
        name="HMM and LSTM, Penn Treebank",
        says="the same, on the Penn Treebank",
        paper="125 against 97, table 1",
        rule="higher valid perplexity on the whole text",
        **_ranks("LSTM", "HMM", ["ptb"]),
    ),
    Claim(
        name="HMM and LSTM, 65k states",
        says="the same, of 65,536 states in a mixture by EM",
        paper="125 against 97, table 1",
        rule="higher valid perplexity on the whole text",
        **_of_mixture("LSTM", mixture_wins=False),
    ),
    _SMALL["Brown"],
    Claim(
        "Brown by EM",
        "the same, of models trained by EM",
        "142 against 150 with 8k states, table 3",
        "lower valid perplexity with 4k states",
        UNIFORM,
        lambda p: _lower(p, *UNIFORM, ("Brown", "uniform")),
    ),
    _SMALL["emission entropy"],
    _SMALL["transition entropy"],
    Claim(
        "state dropout, large",
        "state dropout outperforms unstructured dropout",
        "section 5.2; table 5 is empty",
        "lower valid perplexity at rate 0.5 with 4,096 states, both trained alike",
        DROPOUTS,
        lambda p: _lower(p, *DROPOUTS, ("state", "unstructured")),
    ),
    _SMALL["state dropout"],
    _SMALL["occupancy"],
    Claim(
        "cost of dropout",
        "state dropout costs less than unstructured dropout",
        "section 4.2, no figure",
        "at least a tenth less processor time to train, compilation included, rate 0.5, 4,096 states",
        DROPOUTS,
        _cheaper,
    ),
    _SMALL["clusters"],
    Claim(
        "clusters by EM",
        "the same, of models trained by EM",
        "–",
        "perplexities at most 3.1 % apart, by EM, with 16k states",
        CLUSTERS,
        lambda p: compare.insensitive(p, CLUSTERS),
    ),
    Claim(
        "clusters at 1k states",
        "with 1k states the number of clusters influences performance",
        "section 5.2, no figure",
        "perplexities more than 3.1 % apart, by EM, with 1k states",
        FEW_CLUSTERS,
        lambda p: compare.sensitive(p, FEW_CLUSTERS),
    ),
    _SMALL["states"],
    Claim(
        "states by EM",
        "the same, of models trained by EM",
        "–",
        "valid perplexity falls each time that states double from 4k to 32k, by EM",
        STATES,
        lambda p: compare.falls(p, STATES),
    ),
    Claim(
        "states, log-bilinear",
        "the same, of models with log-bilinear transitions",
        "–",
        "valid perplexity falls each time that states double from 4k to 16k, with 128 clusters",
        BILINEAR,
        lambda p: compare.falls(p, BILINEAR),
    ),
    _SMALL["tying"],
    _SMALL["batching"],
]

# ---------------------------------------------------------------------- tables


def _networks(pieces: Pieces) -> str:
    rows = []
    for corpus, label in TEXTS.items():
        for model, published in PAPER[corpus].items():
            name = _piece(corpus, model)
            if name in pieces:
                f = pieces[name]
                cells = [f"{f['tokens']:,}", f"{f['parameters'] / 1e6:.2f}", f"{f['perplexity']:.1f}"]
                rows.append([label, model, published, *cells, *_progress(f)])
    head = ["text", "model", "paper, valid", "ours: tokens", "M parameters", "valid"]
    return table([*head, "epochs", "gain of the last", "processor s"], rows)


def _progress(found: dict[str, Any]) -> list[str]:
    curve = found["curve"]
    gain = f"{100 * (1 - curve[-1] / curve[-2]):.1f} %" if len(curve) > 1 else "–"
    return [str(found["epochs"]), gain, f"{found['seconds']:.0f}"]


def _curves(pieces: Pieces) -> str:
    names = [name for name in pieces if "large-" in name]
    longest = max(len(pieces[name]["curve"]) for name in names)
    rows = []
    for name in names:
        curve = [f"{value:.1f}" for value in pieces[name]["curve"]]
        rows.append([_label(name), *curve, *["–"] * (longest - len(curve))])
    told = "Valid perplexity after each epoch."
    return f"{told}\n\n{table(['model', *map(str, range(1, longest + 1))], rows)}"


def _label(name: str) -> str:
    model = name.partition("large-")[2]
    shown = {"lstm": "LSTM", "state": "HMM, state dropout", "unstructured": "HMM, unstructured dropout"}
    return shown.get(model, model) + (", WikiText-2" if name.startswith("wikitext") else "")


def _constraints(pieces: Pieces) -> str:
    rows: list[list[Any]] = [
        ["paper", name, z, ppl, "–", "–", "–"] for name, z, ppl in compare.PAPER_CONSTRAINTS
    ]
    for label, piece in zip(("Brown", "uniform"), UNIFORM, strict=True):
        if piece in pieces:
            rows.append(["ours, EM", label, pieces[piece]["states"], *compare.cells(pieces, piece)])
    for name, label in (("uniform", "uniform"), ("brown", "Brown"), ("none", "none")):
        piece = f"constraint-{name}"
        if piece in pieces:
            rows.append(["ours", label, pieces[piece]["options"]["states"], *compare.cells(pieces, piece)])
    head = ["", "constraint", "states", "valid perplexity", "occupancy", "H(emit), nats", "H(transition)"]
    return table(head, rows)


def _dropouts(pieces: Pieces) -> str:
    small = tuple(name for name in (*compare.DROPOUTS, "form-factored") if name in pieces)
    rows = []
    for name in (*(name for name in DROPOUTS if name in pieces), *small):
        f = pieces[name]
        o = f["options"]
        kind, rate = o["dropout"], "–" if o["dropout"] == "none" else o["dropout_rate"]
        rows.append([o["states"], kind, rate, *compare.cells(pieces, name), f"{f['seconds']:.0f}"])
    head = ["states", "dropout", "rate", "valid perplexity", "occupancy", "H(emit)", "H(transition)"]
    return f"The draft's table is empty.\n\n{table([*head, 'processor s'], rows)}"


def _clusters(pieces: Pieces) -> str:
    rows: list[list[Any]] = [["paper", "16k", number, ppl] for number, ppl in compare.PAPER_CLUSTERS]
    rows += _gradient_rows(pieces, *compare.CLUSTERS) + _em_rows(pieces, *CLUSTERS, *FEW_CLUSTERS)
    return table(["", "states", "clusters", "valid perplexity"], rows)


def _gradient_rows(pieces: Pieces, *names: str) -> list[list[Any]]:
    found = [(pieces[name]["options"], pieces[name]["perplexity"]) for name in names if name in pieces]
    return [["ours, gradient", o["states"], o["clusters"], f"{value:.1f}"] for o, value in found]


def _em_rows(pieces: Pieces, *names: str) -> list[list[Any]]:
    found = [pieces[name] for name in names if name in pieces]
    return [["ours, EM", f["states"], f["clusters"], f"{f['perplexity']:.1f}"] for f in found]


def _states(pieces: Pieces) -> str:
    rows: list[list[Any]] = [["paper", f"{z // 1000}k", z // 128, ppl] for z, ppl in PAPER_STATES.items()]
    rows += _gradient_rows(pieces, "large-state", *compare.STATES) + _em_rows(pieces, *STATES)
    for name in (n for n in (*BILINEAR, MIXTURE) if n in pieces):
        f = pieces[name]
        kind = "ours, EM and log-bilinear" + (f", mixture of {f['members']}" if f["members"] > 1 else "")
        rows.append([kind, f["states"], 128, f"{f['perplexity']:.1f}"])
    for name in (n for n in LEXICAL if n in pieces):
        f = pieces[name]
        rows.append(["ours, lexicalised", f["states"], "–", f"{f['perplexity']:.1f}"])
    told = (
        "A mixture is one hidden Markov model in blocks, each with its own clusters: a sentence stays in its "
        "block. A state of a lexicalised model knows words before it, too: not the paper's kind of model."
    )
    return f"{told}\n\n{table(['', 'states', 'clusters', 'valid perplexity'], rows)}"


PARTS = [
    ("Tables 1 and 2: beside networks", (_piece("ptb", "HMM"),), _networks),
    ("Training, epoch by epoch", (_piece("ptb", "HMM"),), _curves),
    ("Tables 3 and 4: emission constraints", UNIFORM[:1], _constraints),
    ("Table 5: dropout", DROPOUTS[:1], _dropouts),
    ("Table 6: number of clusters", FEW_CLUSTERS, _clusters),
    ("Table 7: number of states", STATES, _states),
]
SHOWN = {"Training, epoch by epoch": ["training"], "Table 7: number of states": ["tables"]}

# -------------------------------------------------------------------- pictures


def _draw_training(pieces: Pieces) -> Any:
    figure, axes = panels(1, 6.4, 3.6)
    for name in (n for n in pieces if n.startswith("large-")):
        curve = pieces[name]["curve"]
        axes[0].plot(range(1, len(curve) + 1), curve, "o-", ms=4, label=f"{_label(name)}, {curve[-1]:.0f}")
    for i, (model, value) in enumerate(PAPER["ptb"].items()):
        axes[0].axhline(value, color="0.5", lw=1, ls=["-", "--", ":"][i], label=f"paper: {model}, {value}")
    axes[0].set(xlabel="epoch", ylabel="valid perplexity", title="Penn Treebank", ylim=(80, 320))
    return finish(figure, axes, legend={"ncol": 2})


def _draw_tables(pieces: Pieces) -> Any:
    figure, axes = panels(2, 4.6, 3.6)
    axes[0].plot(list(PAPER_STATES), list(PAPER_STATES.values()), "kx-", label="paper, by gradient")
    by_em = [pieces[name] for name in STATES]
    axes[0].plot([f["states"] for f in by_em], [f["perplexity"] for f in by_em], "s-", label="EM")
    if "large-state" in pieces:
        f = pieces["large-state"]
        axes[0].plot([f["options"]["states"]], [f["perplexity"]], "o", label="gradient")
    for names, shape, label in (
        (BILINEAR, "^-", "log-bilinear"),
        ((MIXTURE,), "D", "mixture of log-bilinear"),
        (LEXICAL, "v-", "lexicalised"),
    ):
        found = [pieces[name] for name in names if name in pieces]
        if found:
            axes[0].plot([f["states"] for f in found], [f["perplexity"] for f in found], shape, label=label)
    ticks = [1 << i for i in range(12, 18)]
    axes[0].set(xscale="log", xlabel="states", ylabel="valid perplexity", title="table 7", ylim=(0, None))
    axes[0].set_xticks(ticks, [f"{t // 1024}k" for t in ticks])
    axes[1].plot(*zip(*compare.PAPER_CLUSTERS, strict=True), "kx-", label="paper, 16k states")
    for names, label in ((CLUSTERS, "EM, 16k states"), (FEW_CLUSTERS, "EM, 1k states")):
        found = [pieces[name] for name in names if name in pieces]
        axes[1].plot([f["clusters"] for f in found], [f["perplexity"] for f in found], "s-", label=label)
    axes[1].set(xscale="log", xlabel="clusters", title="table 6", ylim=(0, None))
    ticks = [16, 32, 64, 128, 256, 512, 1024]
    axes[1].set_xticks(ticks, [str(t) for t in ticks])
    for axis in axes:
        axis.minorticks_off()
    return finish(figure, axes)


PICTURES = {
    "training": ((_piece("ptb", "HMM"),), _draw_training),
    "tables": ((*STATES, *FEW_CLUSTERS), _draw_tables),
}
