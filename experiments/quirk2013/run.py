"""Quirk (2013): table 1, and how many alignments are proved after how many iterations.

    python experiments/quirk2013/run.py [PIECE ...] [--data DIR] [--size tiny|small|reduced|full]

Pieces: table1 convergence draws sweeps cost. ``--data`` needs align/hansards (train, test; .en, .fr;
test.gold); without it a parallel text is simulated.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from experiments.common import main

if __name__ == "__main__":
    main("quirk2013", __doc__)
