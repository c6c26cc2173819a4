"""OpenFst, by way of pynini, on the same lattices: best path, distinct sequences, sums, epsilon edges.

The language model is expanded to an acceptor with one state for each history, so that nothing is
approximated by epsilon back-off arcs.
"""

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest

from hiddenite import NgramModel
from hiddenite.lattice import Edge, Lattice
from hiddenite.lattice.lattice import Final
from hiddenite.rescoring import LatticeWeights, Rescored
from tests.models import train

pynini = pytest.importorskip("pynini")

WORDS = ("a", "b", "c", "d")
LATTICES = 1000
SHORTEST = 5
ATOL = 1e-5


def model(rng: random.Random) -> NgramModel:
    text = [" ".join(rng.choices(WORDS, weights=(4, 3, 2, 1), k=rng.randint(1, 6))) for _ in range(60)]
    return train(text, order=3)


def acceptor(lm: NgramModel, lm_weight: float, arc_type: str) -> Any:
    """-lm_weight ln p over all histories of two words."""
    fst = pynini.Fst(arc_type)
    histories = [
        ("<s>",),
        *((("<s>", w)) for w in WORDS),
        *itertools.product(WORDS, WORDS),
    ]
    state = {history: fst.add_state() for history in histories}
    fst.set_start(state["<s>",])
    for history in histories:
        cost = -lm_weight * lm.log_prob("</s>", history)
        fst.set_final(state[history], pynini.Weight(fst.weight_type(), cost))
        for label, word in enumerate(WORDS, 1):
            following = (*history, word)[-2:]
            cost = -lm_weight * lm.log_prob(word, history)
            fst.add_arc(
                state[history],
                pynini.Arc(label, label, pynini.Weight(fst.weight_type(), cost), state[following]),
            )
    return fst.arcsort()


def as_fst(lattice: Lattice, arc_type: str) -> Any:
    fst = pynini.Fst(arc_type)
    fst.add_states(lattice.num_nodes)
    fst.set_start(lattice.start)
    for edge in lattice.edges:
        label = WORDS.index(edge.word) + 1 if edge.word else 0
        fst.add_arc(
            edge.start, pynini.Arc(label, label, pynini.Weight(fst.weight_type(), -edge.acoustic), edge.end)
        )
    for node in lattice.finals:
        fst.set_final(node)
    return fst.arcsort()


def drawn(rng: random.Random) -> Lattice:
    nodes = rng.randint(3, 7)
    edges = [Edge(i, i + 1, rng.choice(WORDS), -rng.random()) for i in range(nodes - 1)]
    for _ in range(rng.randint(2, 14)):
        start = rng.randrange(nodes - 1)
        edges.append(
            Edge(start, rng.randint(start + 1, nodes - 1), rng.choice(["", *WORDS]), rng.uniform(-4, 0))
        )
    return Lattice(edges, {nodes - 1: Final()})


def total(fst: Any) -> float:
    return -float(pynini.shortestdistance(fst, reverse=True)[fst.start()].to_string())


def test_openfst_gives_the_same_answers(rng: np.random.Generator) -> None:
    draw = random.Random(int(rng.integers(2**32)))
    lm = model(draw)
    machines = {t: acceptor(lm, 1.7, t) for t in ("standard", "log64")}
    weights = LatticeWeights(lm_weight=1.7, channel_weight=1.0)
    for _ in range(LATTICES):
        lattice = drawn(draw)
        scored = Rescored(lattice, lm, weights)
        product = pynini.compose(as_fst(lattice, "standard"), machines["standard"])
        assert scored.best().log_weight == pytest.approx(total(product), abs=ATOL)
        summed = pynini.compose(as_fst(lattice, "log64"), machines["log64"])
        assert scored.log_partition == pytest.approx(total(summed), abs=ATOL)
        found = scored.kbest(SHORTEST)
        expected = [
            (-float(str(weight)), tuple(WORDS[int(label) - 1] for label in words.split()))
            for words, _, weight in pynini.shortestpath(
                product.copy().rmepsilon(), nshortest=SHORTEST, unique=True
            )
            .paths(input_token_type=numbers(), output_token_type=numbers())
            .items()
        ]
        expected.sort(key=lambda row: -row[0])
        assert [h.log_weight for h in found] == pytest.approx([row[0] for row in expected], abs=ATOL)
        firm = {words: weight for weight, words in expected}
        assert all(h.log_weight == pytest.approx(firm[h.words], abs=ATOL) for h in found if h.words in firm)
        assert math.isfinite(scored.log_partition)


def numbers() -> Any:
    table = pynini.SymbolTable()
    table.add_symbol("<eps>", 0)
    for label in range(1, len(WORDS) + 1):
        table.add_symbol(str(label), label)
    return table
