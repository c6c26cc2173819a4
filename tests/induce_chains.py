"""Chains on tiny texts, and whether what they draw follows a law: z scores by batch means."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from hiddenite._core import InductionChain, InductionOptions
from tests.induce_oracle import Exact, Model, State, given, prior_nodes
from tests.induce_simulation import simulate, simulate_with_parameters

NUM_BATCHES = 50
RARE = 0.005  # states less probable than this are not looked at one by one

# Words that share letters, one that comes back within two places of itself, and one that ends a sentence.
SENTENCES = ((0, 1, 0), (0, 1))
SPELLINGS = ("a", "ba")
PARAMETERS = {
    "transition0": (0.3, 0.8),
    "transition1": (0.5, 1.5),
    "transition2": (0.2, 0.6),
    "emission": (0.6, 0.7),
    "spelling0": (0.4, 1.1),
    "spelling1": (0.3, 0.9),
    "class": (0.5, 1.2),
}


STICKY = PARAMETERS | {
    "transition0": (0.05, 0.1),
    "transition1": (0.05, 0.1),
    "emission": (0.9, 0.2),
}


@dataclass(frozen=True)
class Case:
    """A sampler of a model on a tiny text."""

    sampler: str
    model: Model
    sentences: tuple[tuple[int, ...], ...] = SENTENCES
    sticky: bool = False  # other parameters
    particles: int = 4
    chunk: int = 2
    local_every: int = 1  # lex: 0 leaves out the moves beside that of class and tokens
    negligible: float | None = None  # of the words' emissions under other tags; large: events never matter

    @property
    def parameters(self) -> dict[str, tuple[float, float]]:
        """The (a, b) of the model's levels, where they are known."""
        return fixed_parameters(self.model, STICKY if self.sticky else PARAMETERS)

    @property
    def spellings(self) -> tuple[str, ...]:
        return SPELLINGS[: 1 + max(map(max, self.sentences))]

    def exact(self, sampled: bool) -> Exact:
        """The text with known parameters, or all of them integrated out."""
        nodes = {}
        for name, (a, b) in self.parameters.items():
            fixed_a = 0.0 if (name, self.model.spelling) == ("spelling1", "dirichlet") else None
            nodes[name] = prior_nodes(fixed_a=fixed_a) if sampled else given(a, b)
        return Exact(self.model, self.sentences, self.spellings, nodes)

    def chain(self, sampled: bool, seed: int, fault: str = "none") -> InductionChain:
        """A chain that begins with one tag for all."""
        return make_chain(
            self.model,
            self.sampler,
            self.sentences,
            self.spellings,
            [0] * sum(map(len, self.sentences)),
            sampled=sampled,
            seed=seed,
            parameters=self.parameters,
            fault=fault,
            particles=self.particles,
            chunk=self.chunk,
            local_every=self.local_every,
            negligible=self.negligible,
        )


def fixed_parameters(
    model: Model, parameters: Mapping[str, tuple[float, float]] = PARAMETERS
) -> dict[str, tuple[float, float]]:
    """The (a, b) of a model's levels."""
    chosen = {name: parameters[name] for name in model.level_names}
    if model.spelling == "dirichlet":
        chosen["spelling1"] = (0.0, 0.9)
    return chosen


def make_chain(
    model: Model,
    sampler: str,
    sentences: Sequence[Sequence[int]],
    spellings: Sequence[str],
    tags: Sequence[int],
    *,
    sampled: bool,
    seed: int,
    parameters: Mapping[str, tuple[float, float]] | None = None,
    num_characters: int | None = None,
    fault: str = "none",
    particles: int = 4,
    chunk: int = 2,
    local_every: int = 1,
    negligible: float | None = None,
) -> InductionChain:
    """A chain over a text of numbered words."""
    options = InductionOptions(
        model.tags,
        order=model.order,
        one_tag=model.one_tag,
        lexicon=model.lexicon,
        spelling=model.spelling,
        sampler=sampler,
        particles=particles,
        chunk=chunk,
        sample_hyperparameters=sampled,
        geometric=model.geometric,
        local_every=local_every,
        one_tag_trials=(particles - 1) * (local_every > 0),
        **({} if negligible is None else {"negligible": negligible}),
    )
    if fault != "none":
        if not hasattr(options, "plant_fault"):
            pytest.skip("this build lacks deliberate errors (HIDDENITE_FAULTS); run `make build`")
        options.plant_fault(fault)
    letters = sorted(set("".join(spellings)))
    characters = [letters.index(c) for word in spellings for c in word]
    chain = InductionChain(
        options,
        words=np.array(list(itertools.chain(*sentences)), dtype=np.int32),
        offsets=np.cumsum([0, *map(len, sentences)]),
        spelling_offsets=np.cumsum([0, *map(len, spellings)]),
        spelling=np.array(characters, dtype=np.int32),
        num_characters=num_characters or len(letters),
        tags=np.array(tags, dtype=np.int32),
        seed=seed,
    )
    if parameters is not None:
        chain.set_hyperparameters(dict(parameters))
    return chain


def visited(chain: InductionChain, num_sweeps: int, has_classes: bool) -> list[State]:
    """The states after each sweep, the first hundred left out."""
    states: list[State] = []
    for sweep in range(num_sweeps + 100):
        chain.sweep()
        if sweep < 100:
            continue
        classes: tuple[frozenset[int], ...] = ()
        if has_classes:
            begin, tag = (x.tolist() for x in chain.classes())
            classes = tuple(frozenset(tag[a:b]) for a, b in itertools.pairwise(begin))
        states.append((tuple(chain.tags().tolist()), classes))
    return states


def batch_p_value(states: Sequence[State], law: Mapping[State, float]) -> float:
    """The probability that draws of this law look at least as odd; 0 for an impossible state.

    Frequencies of the states, pairs of tokens of one tag and the size of classes, in batches; each one's mean
    is compared by Student's t, and the least p value counts as many times as there are comparisons.
    """
    if any(state not in law for state in states):
        return 0.0
    probable = sorted((s for s in law if law[s] > RARE), key=lambda s: -law[s])
    number = {s: i for i, s in enumerate(probable)}
    rows = {s: _functions(s, number) for s in law}
    expected = sum(law[s] * row for s, row in rows.items())
    columns = np.array([rows[s] for s in states[: len(states) // NUM_BATCHES * NUM_BATCHES]])
    means = columns.reshape(NUM_BATCHES, -1, columns.shape[1]).mean(axis=1)
    return least_p_value(means - expected)


def _functions(state: State, number: Mapping[State, int]) -> NDArray[np.float64]:
    """Which state it is; how many pairs of tokens have one tag; how large the classes are."""
    tags, classes = state
    row = np.zeros(len(number) + 3)
    row[number.get(state, len(number))] = 1.0
    row[-2] = sum(a == b for a, b in itertools.combinations(tags, 2))
    row[-1] = sum(map(len, classes))
    return row


def least_p_value(batches: NDArray[np.float64]) -> float:
    """The least p value of [batch, function] to have mean zero, times the number of functions."""
    num = len(batches)
    deviation = batches.std(axis=0, ddof=1)
    moving = deviation > 0
    if np.any(~moving & (np.abs(batches.mean(axis=0)) > 1e-9)):
        return 0.0
    if not moving.any():
        return 1.0
    t = batches.mean(axis=0)[moving] / (deviation[moving] / np.sqrt(num))
    return float(min(1.0, 2 * stats.t.sf(np.abs(t).max(), num - 1) * moving.sum()))


# ----------------------------------------------------------------------- Geweke


def features(
    tags: Sequence[int], sentences: Sequence[Sequence[int]], parameters: Mapping[str, tuple[float, float]]
) -> list[float]:
    """What is compared before and after: tags have no names, so only whether they are equal counts."""
    words = list(itertools.chain(*sentences))
    pairs = list(itertools.combinations(range(len(tags)), 2))
    equal = [i for i, (a, b) in enumerate(pairs) if tags[a] == tags[b]]
    same_word = sum(words[pairs[i][0]] == words[pairs[i][1]] for i in equal)
    neighbours = sum(pairs[i][1] - pairs[i][0] == 1 for i in equal)
    first = float(tags[0] == tags[len(sentences[0])])
    row = [len(equal) / len(pairs), same_word / len(pairs), neighbours / len(pairs), first]
    for name in sorted(parameters):
        a, b = parameters[name]
        row += [a, min(b, 30.0)]
    return row


def geweke_p_value(
    model: Model,
    sampler: str,
    rng: np.random.Generator,
    *,
    sampled: bool,
    num_texts: int,
    num_sweeps: int,
    fault: str = "none",
    simulated: Model | None = None,
) -> float:
    """Draw tags and words from the model, move the tags by sweeps: they still follow the model.

    Geweke's (2004) comparison of p(words) p(tags | words) with the sampler's own: texts are independent, so
    the differences between before and after are, too, and have mean zero. Seats are drawn anew for each text
    from an approximation; the sweeps before the comparison make them right.
    """
    random = Random(int(rng.integers(2**32)))
    rows = []
    for text in range(num_texts):
        if sampled:
            drawn, chosen = simulate_with_parameters(simulated or model, random)
        else:
            chosen = fixed_parameters(model)
            drawn = simulate(simulated or model, random, chosen)
        chain = make_chain(
            model,
            sampler,
            drawn.sentences,
            drawn.spellings,
            drawn.tags,
            sampled=sampled,
            seed=int(rng.integers(2**32)) + text,
            parameters=chosen,
            num_characters=2,
            fault=fault,
        )
        for _ in range(num_sweeps):
            chain.sweep()
        before = features(drawn.tags, drawn.sentences, chosen if sampled else {})
        after = features(chain.tags().tolist(), drawn.sentences, chain.hyperparameters() if sampled else {})
        rows.append(np.array(after) - np.array(before))
    return least_p_value(np.array(rows))
