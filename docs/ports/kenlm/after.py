"""Rescore n-best lists: `python after.py MODEL < LISTS`, lines of a score and a sentence."""

import sys

from hiddenite import kenlm

model = kenlm.Model(sys.argv[1])


def greedy(words: list[str], length: int) -> list[str]:
    """Continue with the word of the highest score at each step, by the model's states."""
    state, after, chosen = kenlm.State(), kenlm.State(), []
    model.BeginSentenceWrite(state)
    for _ in range(length):
        scores = {word: model.BaseScore(state, word, after) for word in words}
        chosen.append(max(words, key=scores.__getitem__))
        model.BaseScore(state, chosen[-1], after)
        state, after = after, state
    return chosen


for block in sys.stdin.read().strip().split("\n\n"):
    rows = [line.split("\t") for line in block.split("\n")]
    weights = {sentence: float(score) + 0.8 * model.score(sentence) for score, sentence in rows}
    best = max(weights, key=weights.__getitem__)
    unknown = sum(oov for _, _, oov in model.full_scores(best))
    orders = [length for _, length, _ in model.full_scores(best, eos=False)]
    print(f"{best}\t{weights[best]:.4f}\t{model.perplexity(best):.3f}\t{unknown}\t{orders}")
    print(" ".join(greedy([word for word in best.split() if word in model], 4)))
