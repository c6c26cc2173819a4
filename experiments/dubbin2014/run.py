"""Dubbin & Blunsom (2014): tables 1 to 3, figure 2.

    python experiments/dubbin2014/run.py [PIECE ...] [--data DIR] [--size tiny|small|reduced|full]

Pieces: one a model and seed, gold, and those of other texts. ``--data`` needs tagged/wsj-sample.tsv, and
takes tagged/en_ewt-ud-train.conllu and tagged/brown.tsv too; without it a tagged text is simulated.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from experiments.common import main

if __name__ == "__main__":
    main("dubbin2014", __doc__)
