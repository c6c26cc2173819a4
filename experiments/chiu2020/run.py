"""Chiu & Rush (2020, draft): tables 1 to 7.

    python experiments/chiu2020/run.py [PIECE ...] [--data DIR] [--size tiny|small|reduced|full]

Pieces: one a model. ``--data`` needs lm/ptb and lm/wikitext-2 (train.txt, valid.txt); without it the World
English Bible (extra ``demo``) stands in. Needs the extra ``neural``.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from experiments.common import main

if __name__ == "__main__":
    main("chiu2020", __doc__)
