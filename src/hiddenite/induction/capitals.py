"""Words at the beginnings of sentences that a tagger has not seen there: their forms with a capital.

A text whose capitals are folded (:meth:`Text.fold_case`) tells nothing of "Sleeps"; a tagger that was learnt
from it would guess the word by its letters. So "Sleeps" gets a share of the emissions of "sleeps".
"""

from __future__ import annotations

import math
from unicodedata import normalize

import numpy as np

from hiddenite.tag.emissions import EmissionTable


def with_capitals(table: EmissionTable, share: float) -> EmissionTable:
    """Divide p(word | tag) between a word that was seen without capital alone and its form with one.

    The form with a capital, which gets the ``share``, is for the beginnings of other sentences.
    """
    known = set(table.words)
    new: dict[str, int] = {}  # the number of the word
    for number, word in enumerate(table.words):
        capital = normalize("NFC", word[0].title() + word[1:])
        if capital not in known:
            new.setdefault(capital, number)
    divided = np.array([*new.values()], dtype=np.int64)
    sizes = table.begin[1:].astype(np.int64) - table.begin[:-1].astype(np.int64)
    rows = np.isin(np.repeat(np.arange(len(sizes)), sizes), divided)  # [word and tag]
    log_prob = table.log_prob + np.where(rows, math.log1p(-share), 0.0)
    return EmissionTable(
        (*table.words, *new),
        np.cumsum([0, *sizes, *sizes[divided]]).astype(np.uint64),
        np.concatenate([table.tag, table.tag[rows]]),
        np.concatenate([log_prob, table.log_prob[rows] + math.log(share)]),
    )
