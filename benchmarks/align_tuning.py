"""Settings of the models of table 1, chosen on the development sentences.

    python benchmarks/align_tuning.py [NAME=VALUE[,NAME=VALUE] ...] [--runs N] [--hmm]

Trains each direction for itself on the development sentences and the training text, once per set of options
and seed, and prints error rates on the development sentences. The rule: the lowest mean of both directions:
of exact search for the fertility HMM, of its own best alignments for the HMM by EM (``--hmm``). Without
arguments: the sets of options that ``TUNED`` and ``TUNED_HMM`` of align_quality.py were taken from. The test
sentences are neither read nor scored.
"""

from __future__ import annotations

import argparse
import dataclasses

from align_data import text
from align_quality import PLAIN, error_rates, method_rates
from report import mean, table

from hiddenite.align import Aligner, AlignerOptions

# From the defaults (0.3, 0.02, 0.0003) on, wherever a step had made exact search better.
TRIED = (
    (0.3, (0.02, 0.4)),
    (0.4, (0.4, 0.6)),
    (0.5, (0.02, 0.2, 0.4, 0.6)),
    (0.6, (0.2, 0.4)),
    (0.7, (0.02, 0.2)),
    (0.8, (0.02, 0.2)),
)
CHAIN = [f"null_probability={p},uniform_jump={u}" for p, uniform in TRIED for u in uniform]
BESIDES = ["lexicon_prior=0.001", "lexicon_prior=0.0001", "lexicon_prior=0.00003", "fertility_weight=1"]
BESIDES += ["chains=2", "fertility_sweeps=64"]
SETS = CHAIN + [f"null_probability=0.5,uniform_jump=0.4,{other}" for other in BESIDES]
HMM_SETS = [f"null_probability={p},uniform_jump={u}" for p, u in ((0.1, 0.02), (0.3, 0.02), (0.3, 0.4))]
HMM_SETS += [f"null_probability=0.5,uniform_jump={u}" for u in (0.02, 0.4)]


def main() -> None:
    """Measure what the command line names, the best last."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("settings", nargs="*", metavar="NAME=VALUE,...")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--hmm", action="store_true")
    arguments = parser.parse_args()
    rows = []
    for setting in arguments.settings or (HMM_SETS if arguments.hmm else SETS):
        rates = _rates(_options(setting), arguments.hmm, arguments.runs)
        rows.append((mean(rates[-2:]), setting, *rates))
        print(f"{setting}: {rows[-1][0]:.2f}", flush=True)
    names = ("HMM",) if arguments.hmm else ("Viterbi", "exact")
    head = [f"{name}, {direction}" for name in names for direction in ("forward", "reverse")]
    shown = [(name, *(f"{r:.2f}" for r in (*rates, best))) for best, name, *rates in sorted(rows)[::-1]]
    print(table(("options", *head, "to be least"), shown))


def _rates(options: AlignerOptions, hmm: bool, runs: int) -> list[float]:
    """Return error rates on the development sentences, those that count last."""
    given = text(None, "dev")
    if hmm:
        return error_rates(Aligner.train_hmm(given, options=options), "hmm", "dev")[:2]
    rates = method_rates(given, options, runs, "dev")
    return rates["viterbi"][:2] + rates["exact"][:2]


def _options(setting: str) -> AlignerOptions:
    kinds = dataclasses.asdict(PLAIN.for_corpus(1))  # a number for each option, to read a value like it
    fields = (item.split("=") for item in setting.split(","))
    return dataclasses.replace(PLAIN, **{name: type(kinds[name])(value) for name, value in fields})


if __name__ == "__main__":
    main()
