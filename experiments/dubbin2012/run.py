"""Dubbin & Blunsom (2012): table 1, figures 1 and 2.

    python experiments/dubbin2012/run.py [PIECE ...] [--data DIR] [--size tiny|small|reduced|full]

Pieces: one a sampler and seed, and speed. ``--data`` needs tagged/wsj-sample.tsv; without it a tagged text is
simulated.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from experiments.common import main

if __name__ == "__main__":
    main("dubbin2012", __doc__)
