"""Decode observations under given matrices: `python before.py MATRICES < NUMBERS`, a sequence a line."""

import json
import sys
from pathlib import Path

import numpy as np
from hmmlearn.hmm import CategoricalHMM

matrices = json.loads(Path(sys.argv[1]).read_text())
model = CategoricalHMM(n_components=len(matrices["start"]), n_features=len(matrices["emission"][0]))
model.startprob_ = np.array(matrices["start"])
model.transmat_ = np.array(matrices["transition"])
model.emissionprob_ = np.array(matrices["emission"])
for line in sys.stdin:
    seen = np.array([[int(number)] for number in line.split()])
    log_prob, states = model.decode(seen)
    print(f"{' '.join(map(str, states))}\t{log_prob:.6f}\t{model.score(seen):.6f}")
