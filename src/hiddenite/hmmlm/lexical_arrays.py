"""The arrays of a lexicalised model, in model files.

With V words, X contexts (the first V are the single words), S states and M chains:

=====================  ===============  ==================================================================
``prefix``             uint32 X - V     the context without its last word, of those of several words
``last``               uint32 X - V     its last word
``list_begin``         uint64 X + 1     entries of a context in ``list_word`` and ``list_probability``
``list_word``          uint32           words seen after it, rising
``list_probability``   float32          max(count - discount, 0) / total
``back_off``           float32 X        1 minus the sum of the context's list
``lexical_weight``     float32 X        of the lexical route
``chain_weight``       float64 M
``state_begin``        uint64 X + 1     states of a context
``places``             uint16 S * M     of the hidden states in their classes
=====================  ===============  ==================================================================

The arrays of chain m, as :mod:`hiddenite.hmmlm.arrays` has them, are called ``m.name``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import ContextTree, LexicalHmm, LexicalTable
from hiddenite.hmmlm.arrays import chain_arrays, read_chain

Reader = Callable[[str, type[Any]], NDArray[Any]]


def lexical_arrays(model: LexicalHmm) -> dict[str, NDArray[Any]]:
    """Return the arrays by name."""
    prefix, last = model.contexts.longer()
    table = model.table
    arrays: dict[str, NDArray[Any]] = {
        "prefix": prefix,
        "last": last,
        "list_begin": table.begin,
        "list_word": table.word,
        "list_probability": table.probability,
        "back_off": table.back_off,
        "lexical_weight": model.lexical_weight,
        "chain_weight": np.array(model.chain_weight, dtype=np.float64),
        "state_begin": model.state_begin,
        "places": model.places,
    }
    for m in range(model.num_chains):
        arrays |= {f"{m}.{name}": array for name, array in chain_arrays(model.chain(m)).items()}
    return arrays


def read_lexical(array: Reader, num_words: int) -> LexicalHmm:
    """Make a model of arrays that a function gives by name and type; raises ModelError if they do not fit."""
    weights = array("chain_weight", np.float64)
    chains = [
        read_chain(lambda name, kind, m=m: array(f"{m}.{name}", kind), True)  # type: ignore[misc]
        for m in range(len(weights))
    ]
    table = LexicalTable(
        array("list_begin", np.uint64),
        array("list_word", np.uint32),
        array("list_probability", np.float32),
        array("back_off", np.float32),
    )
    return LexicalHmm(
        ContextTree(num_words, array("prefix", np.uint32), array("last", np.uint32)),
        table,
        array("lexical_weight", np.float32),
        chains,
        weights.tolist(),
        array("state_begin", np.uint64),
        array("places", np.uint16),
    )
