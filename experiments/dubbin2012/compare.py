"""Table 1, figures 1 and 2 and the claims of Dubbin & Blunsom (2012), beside ours.

Log joints are compared as shares of a climb: how far a sampler gets on the way that the exact sentence
sampler goes from its first sweep to its last, so that texts of other sizes can be compared.
"""

from __future__ import annotations

from typing import Any

from experiments.cells import one_tag_is_best
from experiments.common import Claim, Judgement, Pieces, everywhere, finish, lower, panels, table

TITLE = "Particle filters for part-of-speech induction"
CITATION = (
    "G. Dubbin, P. Blunsom: *Unsupervised Part of Speech Inference with Particle Filters*, NAACL-HLT "
    "Workshop on the Induction of Linguistic Structure, 2012. "
    "Theory: [Pitman–Yor models of tags](theory-induction.md)."
)
DATA = "the first sentences of the Penn Treebank sample"
BUILT_IN = "the first sentences of a tagged text drawn from a trigram model"
DIFFERS = (
    "English instead of Arabic in the figures, less than a hundredth of the paper's WSJ in the table; "
    "two runs of each, one of types, instead of three. Our filters are conditioned on the present tags, our "
    "exact sentence sampler is vectorised, our one-tag sampler needs no fractional tables."
)
FULL = {
    "data": "Arabic of the Prague treebank, as many words as the paper's Arabic has (54,000), 16 tags",
    "differs": "another edition of the text, 16 tags instead of 20; as many runs as the brackets have, where "
    "the paper has three. Our filters are conditioned on the present tags, our exact sentence sampler is "
    "vectorised, our one-tag sampler needs no fractional tables.",
}
NAMES = {
    "sent-exact": "sentences, exact",
    "sent-25": "sentences, 25 particles",
    "sent-50": "sentences, 50 particles",
    "sent-100": "sentences, 100 particles",
    "type-100": "types, 100 particles",
    "local": "tokens (local)",
    "1hmm": "1HMM",
    "1hmm-lm": "1HMM-LM",
}
PAPER_WSJ = {"sent-100": 69.8, "type-100": 70.1, "local": 70.2, "1hmm": 75.6, "1hmm-lm": 77.5}
PAPER_ARABIC = {"sent-100": 53.5, "type-100": 57.6, "local": 56.2, "1hmm": 61.9, "1hmm-lm": 62.0}
NEAR = 0.05  # of the exact sampler's climb: curves that overlap
EARLY = 5  # sweeps
LINEAR = (1.5, 2.5)  # what the second doubling adds to the first's; 2 is linear
SAME_MODEL = ("sent-exact", "sent-25", "sent-50", "sent-100", "type-100", "local", "1hmm")
RUNS = tuple(f"{name}-1" for name in NAMES)


def _runs(pieces: Pieces, name: str) -> list[dict[str, Any]]:
    """Return a sampler's runs, one a seed."""
    found = (pieces.get(f"{name}-{seed}") for seed in range(1, 10))
    return [run for run in found if run is not None]


def _mean(pieces: Pieces, name: str, what: str) -> float:
    values = [run[what] for run in _runs(pieces, name)]
    return float(sum(values) / len(values))


def _curve(pieces: Pieces, name: str) -> tuple[list[int], list[float]]:
    """Return sweeps and the mean log joint after each."""
    runs = _runs(pieces, name)
    means = [sum(row) / len(row) for row in zip(*(run["log_joints"] for run in runs), strict=True)]
    return [1 + i * runs[0]["every"] for i in range(len(means))], means


def _at(pieces: Pieces, name: str, sweep: int) -> float:
    """Return the log joint after a sweep, on a line between those that are kept."""
    sweeps, values = _curve(pieces, name)
    after = next((i for i, s in enumerate(sweeps) if s >= sweep), len(sweeps) - 1)
    before = max(0, after - 1)
    if sweeps[after] <= sweep or before == after:
        return values[after]
    part = (sweep - sweeps[before]) / (sweeps[after] - sweeps[before])
    return values[before] + part * (values[after] - values[before])


def _last_sweep(pieces: Pieces) -> int:
    return _curve(pieces, "sent-exact")[0][-1]


def _share(pieces: Pieces, name: str, sweep: int | None = None) -> float:
    """Return how far a sampler has climbed: 0 where the exact one begins, 1 where that ends."""
    exact = _curve(pieces, "sent-exact")[1]
    value = _curve(pieces, name)[1][-1] if sweep is None else _at(pieces, name, sweep)
    return (value - exact[0]) / (exact[-1] - exact[0])


def _shares(pieces: Pieces, *names: str) -> str:
    return ", ".join(f"{NAMES[n]} {100 * _share(pieces, n):.1f} %" for n in names)


def _nearer(pieces: Pieces) -> Judgement:
    gaps = [abs(1 - _share(pieces, f"sent-{n}")) for n in (25, 50, 100)]
    told = " / ".join(f"{100 * gap:.1f}" for gap in gaps)
    return Judgement(gaps[0] > gaps[1] > gaps[2], f"{told} % of the climb away, with 25 / 50 / 100")


def _overlaps(pieces: Pieces) -> Judgement:
    """Judge the filter of 100 particles from a quarter of the sweeps on, the paper's 50 of 200."""
    sweeps = _curve(pieces, "sent-exact")[0]
    later = [s for s in sweeps if s >= sweeps[-1] / 4]
    worst = max(abs(_share(pieces, "sent-exact", s) - _share(pieces, "sent-100", s)) for s in later)
    return Judgement(worst <= NEAR, f"at most {100 * worst:.1f} % of the climb apart")


def _filter_faster(pieces: Pieces) -> Judgement:
    seconds = [_mean(pieces, name, "seconds") for name in ("sent-100", "sent-exact")]
    return Judgement(seconds[0] < seconds[1], f"{seconds[0]:.0f} s against {seconds[1]:.0f} s")


def _linear_in_particles(pieces: Pieces) -> Judgement:
    """Judge whether the second doubling of the particles adds twice what the first one adds."""
    seconds = [_mean(pieces, f"sent-{n}", "seconds") for n in (25, 50, 100)]
    ratio = (seconds[2] - seconds[1]) / (seconds[1] - seconds[0])
    told = " → ".join(f"{s:.1f}" for s in seconds)
    return Judgement(LINEAR[0] <= ratio <= LINEAR[1], f"{told} s: the second doubling adds ×{ratio:.2f}")


def _grows_faster(pieces: Pieces) -> Judgement:
    found = []
    for name in ("sent-exact", "sent-100"):
        times = pieces["speed"][name]
        first, last = sorted(times, key=int)
        found.append(times[last] / times[first])
    tags = " to ".join(sorted(pieces["speed"]["sent-exact"], key=int))
    return Judgement(found[0] > found[1], f"×{found[0]:.1f} against ×{found[1]:.1f} from {tags} tags")


def _type_reaches(pieces: Pieces) -> Judgement:
    gap = abs(_share(pieces, "type-100") - _share(pieces, "1hmm"))
    return Judgement(gap <= NEAR, _shares(pieces, "type-100", "1hmm"))


def _surpasses(pieces: Pieces) -> Judgement:
    last = _last_sweep(pieces)
    others = {name: _share(pieces, name, last) for name in ("1hmm", "type-100", "local")}
    told = ", ".join(f"{NAMES[name]} {100 * share:.1f} %" for name, share in others.items())
    return Judgement(max(others.values()) < 1, told)


def _local_above(pieces: Pieces) -> Judgement:
    local = _share(pieces, "local", _last_sweep(pieces))
    above = all(local > _share(pieces, name) for name in ("1hmm", "type-100"))
    return Judgement(above, f"local {100 * local:.1f} %; {_shares(pieces, '1hmm', 'type-100')}")


def _large_steps(pieces: Pieces) -> Judgement:
    early = {name: _share(pieces, name, EARLY) for name in ("type-100", "1hmm", "local", "sent-exact")}
    told = ", ".join(f"{NAMES[name]} {100 * share:.0f} %" for name, share in early.items())
    slowest = min(early["type-100"], early["1hmm"])
    return Judgement(slowest > max(early["local"], early["sent-exact"]), told)


def _not_predicted(pieces: Pieces) -> Judgement:
    """Judge whether the most likely state of one model is the most accurate one."""
    joint = max(SAME_MODEL, key=lambda name: _share(pieces, name))
    accurate = max(SAME_MODEL, key=lambda name: _mean(pieces, name, "many_to_one"))
    told = " and ".join(
        f"{NAMES[n]} ({100 * _share(pieces, n):.0f} %, M-1 {_mean(pieces, n, 'many_to_one'):.1f})"
        for n in (joint, accurate)
    )
    return Judgement(joint != accurate, f"most likely and most accurate: {told}")


def _less_accurate(pieces: Pieces, first: str, second: str) -> Judgement:
    one, other = (_mean(pieces, name, "many_to_one") for name in (first, second))
    return lower(one, other, names=(NAMES[first], NAMES[second]))


CLAIMS = [
    Claim(
        "more particles",
        "the likelihood of sentence filters approaches that of the exact sampler as particles increase",
        "figure 1",
        "25, 50 and 100 particles end nearer and nearer to it",
        RUNS,
        _nearer,
    ),
    Claim(
        "overlap",
        "100 particles overlap the exact sampler from sweep 50 of 200",
        "figure 1",
        "within 5 % of its climb from a quarter of the sweeps on",
        RUNS,
        _overlaps,
    ),
    Claim(
        "filter is faster",
        "and are faster than it",
        "section 5.1, no figure",
        "less processor time for as many sweeps",
        RUNS,
        _filter_faster,
    ),
    Claim(
        "linear in particles",
        "particles increase the run time linearly",
        "section 5.1, no figure",
        "from 50 to 100 the time grows by 1.5 to 2.5 times what it does from 25 to 50",
        RUNS,
        _linear_in_particles,
    ),
    Claim(
        "growth with tags",
        "the exact sampler's time grows faster with the number of tags",
        "at least eightfold against twofold for twice the tags, section 5.1",
        "by a larger factor than the filter's",
        ("speed",),
        _grows_faster,
    ),
    Claim(
        "type and 1HMM",
        "the type filter converges with the 1HMM sampler",
        "figure 2",
        "their likelihoods end within 5 % of the exact sampler's climb",
        RUNS,
        _type_reaches,
    ),
    Claim(
        "exact sentences win",
        "the exact sentence sampler surpasses all other samplers in likelihood",
        "by sweep 75, figure 2",
        "it is above 1HMM, types and tokens after as many sweeps (shares of its climb; itself 100 %)",
        RUNS,
        _surpasses,
    ),
    Claim(
        "local does well",
        "the local sampler is slightly more likely than 1HMM and types",
        "figure 2",
        "it is above both after as many sweeps",
        RUNS,
        _local_above,
    ),
    Claim(
        "large steps",
        "types and 1HMM take much larger steps at first",
        "figure 2",
        f"after {EARLY} sweeps both are above the local and the exact sentence sampler",
        RUNS,
        _large_steps,
    ),
    Claim(
        "likelihood",
        "high likelihood does not mean high many-to-one accuracy",
        "abstract, section 5.2",
        "the sampler with the highest likelihood is not the most accurate one",
        RUNS,
        _not_predicted,
    ),
    Claim(
        "type below 1HMM",
        "1HMM is more accurate than the type filter",
        "75.6 against 70.1 on WSJ, table 1",
        "higher many-to-one",
        RUNS,
        lambda p: _less_accurate(p, "type-100", "1hmm"),
    ),
    Claim(
        "filters below local",
        "particle filters rarely beat the local sampler",
        "69.8 and 70.1 against 70.2 on WSJ, table 1",
        "neither filter has a higher many-to-one",
        RUNS,
        lambda p: everywhere(_less_accurate(p, name, "local") for name in ("sent-100", "type-100")),
    ),
    Claim(
        "spelling",
        "1HMM-LM is more accurate than 1HMM",
        "77.5 against 75.6 on WSJ, table 1",
        "higher many-to-one",
        RUNS,
        lambda p: _less_accurate(p, "1hmm", "1hmm-lm"),
    ),
    Claim(
        "languages",
        "1HMM and 1HMM-LM are the most accurate in all eight languages",
        "table 1",
        "both above local and type samplers, and sentence filters if run, in each of our "
        "[languages](experiments-languages.md), at full length",
        (),
        lambda p: one_tag_is_best(p.get("languages", {})),
    ),
]


def _table1(pieces: Pieces) -> str:
    rows = []
    for name, label in NAMES.items():
        runs = _runs(pieces, name)
        paper = [f"{column[name]}" if name in column else "–" for column in (PAPER_WSJ, PAPER_ARABIC)]
        accuracy = " / ".join(f"{run['many_to_one']:.1f}" for run in runs)
        ours = [
            f"{_mean(pieces, name, 'many_to_one'):.1f} ({accuracy})",
            f"{_mean(pieces, name, 'v_measure'):.1f}",
        ]
        joint = f"{_mean(pieces, name, 'log_joint'):.0f}"
        rows.append([label, *paper, *ours, joint, runs[0]["sweeps"], f"{_mean(pieces, name, 'seconds'):.1f}"])
    first = _runs(pieces, "local")[0]
    note = (
        f"Many-to-one in percent; ours: {first['tokens']:,} tokens, {first['tags']} tags, mean (each run). "
        "The log joint of 1HMM-LM is that of another model."
    )
    head = ["sampler", "paper, WSJ", "paper, Arabic", "ours", "V-measure", "log joint", "sweeps", "s"]
    return f"{note}\n\n{table(head, rows)}"


PARTS = [("Table 1, figures 1 and 2: samplers", RUNS, _table1)]
SHOWN = {"Table 1, figures 1 and 2: samplers": ["samplers"]}


def _draw(pieces: Pieces) -> Any:
    figure, axes = panels(3, 4.2, 3.6)
    groups = (("sent-25", "sent-50", "sent-100", "sent-exact"), ("1hmm", "local", "sent-exact", "type-100"))
    last = _last_sweep(pieces)
    for axis, group, title in zip(axes, groups, ("figure 1, ours", "figure 2, ours"), strict=False):
        for name in group:
            points = [(s, v) for s, v in zip(*_curve(pieces, name), strict=True) if s <= last]
            axis.plot(*zip(*points, strict=True), lw=1.2, label=NAMES[name])
        axis.set(xlabel="sweeps", ylabel="log joint", title=title)
    for i, (label, column) in enumerate((("paper, WSJ", PAPER_WSJ), ("paper, Arabic", PAPER_ARABIC))):
        axes[2].bar(
            [x + 0.27 * i for x in range(5)],
            list(column.values()),
            0.25,
            label=label,
            color=f"{0.5 + 0.25 * i}",
        )
    ours = [_mean(pieces, name, "many_to_one") for name in PAPER_WSJ]
    axes[2].bar([x + 0.54 for x in range(5)], ours, 0.25, label="ours")
    axes[2].set_xticks([x + 0.27 for x in range(5)], list(PAPER_WSJ), fontsize=8)
    axes[2].set(ylabel="many-to-one, %", title="table 1", ylim=(0, 100))
    return finish(figure, axes, legend={"fontsize": 7})


PICTURES = {"samplers": (RUNS, _draw)}
