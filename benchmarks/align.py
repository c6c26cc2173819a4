"""The aligner's promises, measured on the Hansards.

    python benchmarks/align.py [ROW ...] [--quick] [--write]

Rows by number, all by default; each can be run alone. ``--quick`` takes little text, to see that everything
runs. ``--write`` puts the rows into the section "Word alignment" of RESULTS.md. Data: the directory
align/hansards under HIDDENITE_DATA, or beside the checkout. Row 2 needs highspy, rows 5 and 6 eflomal.
"""

from __future__ import annotations

from collections.abc import Callable

import align_exact
import align_proofs
import align_quality
from align_data import Size
from report import Row, run_rows

ROWS: dict[str, Callable[[Size], Row]] = {
    "1": align_exact.certified,
    "2": align_exact.mixed_integer,
    "3": align_exact.exact_and_paper,
    "4": align_quality.search_methods,
    "5": align_quality.eflomal_large,
    "6": align_quality.eflomal_small,
    "7": align_quality.decoders,
    "8": align_exact.sampler,
    "9": align_quality.costs,
    "10": align_proofs.accepted,
    "11": align_proofs.refused,
}
QUICK = Size(pairs=3000, sentences=40, runs=1, sweeps=2000)
FULL = Size(pairs=None, sentences=1000, runs=3, sweeps=40_000)


def main() -> None:
    """Run the rows asked for."""
    run_rows("Word alignment", __doc__, ROWS, lambda _, quick: QUICK if quick else FULL)


if __name__ == "__main__":
    main()
