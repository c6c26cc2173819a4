"""Carter, Dymetman & Bouchard (2012): figures 2, 3 and 4, tables 1 to 4.

    python experiments/carter2012/run.py [PIECE ...] [--data DIR] [--size tiny|small|reduced|full]

Pieces: decoding strategies search path sampling trace batches samples tagging. ``--data`` needs lm/hansard
(train.txt, heldout.txt) and tagged/wsj-sample.tsv; without it the World English Bible (extra ``demo``) and a
simulated tagged text stand in.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from experiments.common import main

if __name__ == "__main__":
    main("carter2012", __doc__)
