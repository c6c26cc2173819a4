"""A recogniser's other readings of a word, from its alternatives of words and of glyphs.

Glyph g_i has the readings c with confidence p_i(c). A word that differs from the recogniser's in one glyph
has the probability p_i(c) / p_i(best) times that of the recogniser's word; differences in two glyphs are rare
and left to the channel. All shares are normalised with the recogniser's own word, so they can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

MAX_READINGS = 16


def combine(
    text: str, glyphs: Sequence[Sequence[tuple[str, float]]], words: Sequence[tuple[str, float]] = ()
) -> tuple[tuple[str, float], ...]:
    """Return the other readings of ``text`` with their probabilities, the most probable first."""
    weights: dict[str, float] = {}
    for word, share in words:
        if word and not math.isnan(share):
            weights[word] = max(weights.get(word, 0.0), share)
    fits = all(glyphs) and "".join(glyph[0][0] for glyph in glyphs) == text
    for place, glyph in enumerate(glyphs if fits else ()):
        before = "".join(one[0][0] for one in glyphs[:place])
        after = "".join(one[0][0] for one in glyphs[place + 1 :])
        best = glyph[0][1]
        for content, share in glyph[1:]:
            if best > 0 and share > 0:  # false for NaN, too
                word = before + content + after
                weights[word] = max(weights.get(word, 0.0), min(1.0, share / best))
    weights.pop(text, None)
    total = 1 + sum(weights.values())
    found = sorted(weights.items(), key=lambda item: -item[1])[:MAX_READINGS]
    return tuple((word, weight / total) for word, weight in found)
