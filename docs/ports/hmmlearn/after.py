"""Decode observations under given matrices: `python after.py MATRICES < NUMBERS`, a sequence a line."""

import json
import math
import sys
import tempfile
from pathlib import Path

import hiddenite


def log(number: float) -> float:
    """Natural logarithm, of zero too."""
    return math.log(number) if number > 0 else -math.inf


def chain_model(start: list[float], transition: list[list[float]]) -> hiddenite.NgramModel:
    """Return the Markov chain as an ARPA file of order 2: states are its words, named by their numbers."""
    states = range(len(start))
    words = ["<unk>", "<s>", "</s>", *map(str, states)]
    pairs = [f"{log(start[j]) / math.log(10):.17g}\t<s> {j}" for j in states if start[j] > 0]
    for i in states:
        row = transition[i]
        pairs += [f"{log(row[j]) / math.log(10):.17g}\t{i} {j}" for j in states if row[j] > 0]
    lines = ["\\data\\", f"ngram 1={len(words)}", f"ngram 2={len(pairs)}", "", "\\1-grams:"]
    lines += [f"-99\t{word}\t0" for word in words]
    lines += ["", "\\2-grams:", *pairs, "", "\\end\\", ""]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "chain.arpa")
        path.write_text("\n".join(lines))
        return hiddenite.NgramModel.load(path)


matrices = json.loads(Path(sys.argv[1]).read_text())
chain = chain_model(matrices["start"], matrices["transition"])
weights = [[log(p) for p in row] for row in matrices["emission"]]
for line in sys.stdin:
    seen = [int(number) for number in line.split()]
    slots = [[(str(state), row[number]) for state, row in enumerate(weights)] for number in seen]
    candidates = hiddenite.Candidates.from_slots(chain.vocabulary, slots)
    best = hiddenite.decode(chain, candidates, end=False)
    total = hiddenite.marginals(chain, candidates, end=False).log_partition
    print(f"{' '.join(best.words)}\t{best.log_weight:.6f}\t{total:.6f}")
