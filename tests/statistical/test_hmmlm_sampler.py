"""Draws of sentences follow p(sentence | constraint); a wrong law is found out."""

import numpy as np
import pytest

from hiddenite.hmmlm.constraints import TokenVocabulary, constraint
from hiddenite.hmmlm.model import HMMLanguageModel
from tests.hmm_oracle import oracle, random_chain
from tests.statistics import FALSE_ALARM, chi_square_p_value

NUM_DRAWS = 20_000
NAMES = ["<unk>", "<s>", "</s>", "a", "b"]
VOCABULARY = TokenVocabulary.of_words({word: i for i, word in enumerate(NAMES)})
Law = dict[tuple[str, ...], float]


def draws_and_law(
    rng: np.random.Generator, keywords: list[str], pattern: str | None
) -> tuple[list[tuple[str, ...]], Law, Law]:
    """Draws, the law given the constraint, and the law of all sentences of these lengths."""
    chains = [random_chain(rng, kind, 4, 2) for kind in ("brown", "uniform")]
    model = HMMLanguageModel(NAMES, chains, [0.4, 0.6])
    drawn = model.generate(
        NUM_DRAWS, keywords=keywords, pattern=pattern, max_length=3, seed=int(rng.integers(2**32))
    )
    automaton = constraint(keywords, pattern).compile(VOCABULARY)
    everything: Law = {}
    for chain, weight in zip(chains, (0.4, 0.6), strict=True):
        for words, p in oracle(chain).sentences(range(4), lambda _: True).items():
            named = tuple(NAMES[w] for w in words)
            everything[named] = everything.get(named, 0.0) + weight * p
    accepted = {
        words: p for words, p in everything.items() if automaton.matches([NAMES.index(w) for w in words])
    }
    return [s.words for s in drawn.sentences], normalised(accepted), normalised(everything)


def normalised(law: Law) -> Law:
    total = sum(law.values())
    return {words: p / total for words, p in law.items()}


CASES = [([], None), (["a"], None), (["a", "b"], None), ([], "a .*"), (["b"], ". (a|b)+")]


@pytest.mark.parametrize(("keywords", "pattern"), CASES)
def test_draws_follow_the_law(rng: np.random.Generator, keywords: list[str], pattern: str | None) -> None:
    draws, law, _ = draws_and_law(rng, keywords, pattern)
    assert len(draws) == NUM_DRAWS
    assert chi_square_p_value(draws, law) > FALSE_ALARM


def test_draws_that_only_reach_the_constraint_are_found_out(rng: np.random.Generator) -> None:
    """The sabotaged twin: each word drawn freely, and the last one chosen so that the constraint is met."""
    draws, law, everything = draws_and_law(rng, ["a"], None)
    sentences, p = list(everything), np.array(list(everything.values()))
    free = [sentences[i] for i in rng.choice(len(p), NUM_DRAWS, p=p / p.sum())]
    forced = [s if "a" in s else (*s[:-1], "a") for s in free]
    assert chi_square_p_value(forced, law) < FALSE_ALARM
    assert set(draws) <= set(law)
