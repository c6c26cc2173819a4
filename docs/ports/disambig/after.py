"""Restore text by a map of what was seen to what may be meant: `python after.py LM MAP < TEXT`."""

import math
import sys
from pathlib import Path

import hiddenite

model = hiddenite.NgramModel.load(sys.argv[1])
meanings = {}
for row in Path(sys.argv[2]).read_text().splitlines():
    seen, *rest = row.split()
    meanings[seen] = [(word, math.log(float(p))) for word, p in zip(rest[::2], rest[1::2], strict=True)]
for line in sys.stdin:
    slots = [meanings.get(seen, [(seen, 0.0)]) for seen in line.split()]
    best = hiddenite.decode(model, hiddenite.Candidates.from_slots(model.vocabulary, slots))
    print("<s>", *best.words, "</s>")
