"""Tags for the words that have none: the best ones, given the tags that are known.

The model of tags is estimated from whole sequences, so that what is not annotated is filled in by a tagger
that was trained without it: the most probable tags among those that the annotation and its evidence leave,
found by the exact engine. It is asked twice: at first a tagger whose words do not see the tags around, as no
sequence is known yet, then one that was trained on the first's answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from hiddenite.candidates import Candidates, WeightedWord
from hiddenite.channel import Channel
from hiddenite.inference import decode_many
from hiddenite.results import Decoded
from hiddenite.tag.annotation import Evidence, TrainingText
from hiddenite.tag.emissions import split_symbol
from hiddenite.tag.formats import TaggedSentence
from hiddenite.tag.model import TaggerModel, core_channel


def complete(model: TaggerModel, text: TrainingText) -> TrainingText:
    """Return the text with the best tags, given what is known, for those that are not sure."""
    vocabulary = model.transitions.vocabulary
    channel = Channel(vocabulary, core_channel(model))
    pairs = zip(text.sentences, text.evidence, strict=True)
    slots = (_constrained(channel, sentence, row) for sentence, row in pairs)
    candidates = (Candidates.from_slots(vocabulary, one) for one in slots)
    found = decode_many(model.transitions, candidates)
    return text.with_tags([_tags(one) for one in found])


def _tags(found: object) -> list[str]:
    assert isinstance(found, Decoded), found
    return [split_symbol(symbol)[0] for symbol in found.words]


def _constrained(
    channel: Channel, sentence: TaggedSentence, evidence: Sequence[Evidence | None]
) -> Iterator[list[WeightedWord]]:
    """Give the candidates of each word: all, those of the evidence, or the right one alone."""
    candidates = channel(" ".join(word for word, _ in sentence))
    for i, ((_, tag), e) in enumerate(zip(sentence, evidence, strict=True)):
        slot = candidates.slot(i)
        known = {tag: 1.0} if e is None else e
        left = [(s, weight + math.log(known[t])) for s, weight in slot if (t := split_symbol(s)[0]) in known]
        yield left or slot
