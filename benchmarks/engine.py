"""The exact engine's promises, measured.

    python benchmarks/engine.py [ROW ...] [--quick] [--write]

Rows by number, all by default. ``--quick`` takes few messages, to see that everything runs. ``--write`` puts
the rows into the section "Exact engine" of RESULTS.md; docs/benchmarks.md says how to read them.
"""

from __future__ import annotations

from collections.abc import Callable

import engine_exact
import engine_refine
import engine_sums
import engine_versions
import engine_walk
from driver import compile_drivers
from engine_walk import Sizes
from report import Row, run_rows

ROWS: dict[str, Callable[[Sizes], Row]] = {
    "1": engine_exact.agreement,
    "2": engine_walk.auto_and_best,
    "3": engine_walk.dominance_and_full,
    "4": engine_walk.dominance_and_beam,
    "5": engine_walk.full_and_kenlm,
    "6": engine_refine.sampling,
    "7": engine_refine.tags,
    "8": engine_walk.kbest,
    "9": engine_walk.threads,
    "10": engine_refine.lm_size,
    "11": engine_exact.beam_errors,
    "12": engine_exact.bounds,
    "13": engine_sums.certified_sums,
    "14": engine_versions.versions,
}
QUICK = Sizes(messages=6, repeats=1, cap=2.0)
FULL = {name: Sizes(messages=50, repeats=5, cap=20.0) for name in ROWS}
FULL["1"] = Sizes(messages=100, repeats=1, cap=600.0)
FULL["2"] = Sizes(messages=20, repeats=3, cap=5.0)
FULL["10"] = Sizes(messages=30, repeats=3, cap=20.0)
FULL["11"] = Sizes(messages=200, repeats=1, cap=0.0)
FULL["12"] = Sizes(messages=100, repeats=1, cap=0.0)


def main() -> None:
    """Run the rows asked for."""
    compile_drivers()
    run_rows("Exact engine", __doc__, ROWS, lambda name, quick: QUICK if quick else FULL[name])


if __name__ == "__main__":
    main()
