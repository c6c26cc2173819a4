"""Inductions of parts of speech, as the experiments of both papers of Dubbin & Blunsom need them.

A run is named by its options; what is kept of it is what tables and figures show: scores against gold tags,
the log joint over sweeps, processor time, and the ambiguity classes that its tags imply.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from induce_runs import sentences, text
from report import mean

from hiddenite.induction import Induction, compare
from hiddenite.induction.options import InduceOptions

MOST_POINTS = 100  # of a curve that is kept
SHOWN_CLASSES, SHOWN_WORDS = 5, 6
Gold = list[list[tuple[str, str]]]


@dataclass(frozen=True)
class Corpus:
    """The beginning of a tagged text."""

    name: str
    limit: int  # sentences

    @property
    def gold(self) -> Gold:
        """Return the sentences with their tags."""
        return sentences(self.name)[: self.limit]

    @property
    def num_tags(self) -> int:
        """Return the number of gold tags, which is how many are induced."""
        return len({tag for sentence in self.gold for _, tag in sentence})

    @property
    def num_tokens(self) -> int:
        """Return the number of words."""
        return sum(map(len, self.gold))


def induced(corpus: Corpus, num_tags: int | None = None, **options: Any) -> dict[str, Any]:
    """Run an induction, of as many tags as there are gold ones by default; return what is kept of it."""
    chosen = InduceOptions(tags=num_tags or corpus.num_tags, **options)
    run = Induction(text(corpus.name, corpus.limit), chosen, threads=1)
    seconds = {"start": 0.0, "main": 0.0}
    begun = time.process_time()
    with contextlib.closing(iter(run)) as sweeps:
        for sweep in sweeps:
            now = time.process_time()
            seconds[sweep.stage] += now - begun
            begun = now
    gold = corpus.gold
    found = compare([[tag for _, tag in sentence] for sentence in gold], run.tags())
    joints = run.log_joints()[0].tolist()
    every = -(-len(joints) // MOST_POINTS)
    return {
        "many_to_one": 100 * found.many_to_one,
        "v_measure": 100 * found.v_measure,
        "log_joint": run.diagnostics().mean_log_joint[0],
        "log_joints": joints[::every],
        "every": every,
        "sweeps": len(joints),
        "seconds": seconds["main"],
        "start_seconds": seconds["start"],
        "classes": ambiguity_classes(run.tagged(), gold, found.mapping()),
        "tokens": corpus.num_tokens,
        "tags": chosen.tags,
    }


# ------------------------------------------------------------ ambiguity classes


def tags_of_words(tagged: Gold) -> dict[str, frozenset[str]]:
    """Return the tags that each word has."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for sentence in tagged:
        for word, tag in sentence:
            found[word].add(tag)
    return {word: frozenset(tags) for word, tags in found.items()}


def ambiguity_classes(tagged: Gold, gold: Gold, names: dict[str, str]) -> dict[str, Any]:
    """Return how many words have each set of tags, and the largest sets with their most frequent words.

    ``matched`` is the share of the words of the five largest sets whose gold tags are these.

    ``names`` are the gold tags that induced ones are called. A word is in bold if its set, so called, is its
    set of gold tags.
    """
    predicted, true = tags_of_words(tagged), tags_of_words(gold)
    words: defaultdict[frozenset[str], list[str]] = defaultdict(list)
    counts = Counter(word for sentence in gold for word, _ in sentence)
    for word in sorted(predicted, key=lambda w: (-counts[w], w)):
        words[predicted[word]].append(word)
    ranked = sorted(words, key=lambda tags: (-len(words[tags]), sorted(tags)))
    mixed = [tags for tags in ranked if len(tags) > 1][:SHOWN_CLASSES]
    shown = []
    for tags in [*ranked[:SHOWN_CLASSES], *mixed]:
        called = frozenset(names[tag] for tag in tags)
        examples = [f"**{w}**" if true[w] == called else w for w in words[tags][:SHOWN_WORDS]]
        shown.append([ranked.index(tags) + 1, len(words[tags]), sorted(called), examples])
    largest = [(w, tags) for tags in ranked[:SHOWN_CLASSES] for w in words[tags]]
    matched = mean(true[w] == frozenset(names[tag] for tag in tags) for w, tags in largest)
    sizes = [len(words[tags]) for tags in ranked]
    return {"sizes": sizes, "shown": shown, "leading": _leading(ranked), "matched": matched}


def _leading(ranked: Sequence[frozenset[str]]) -> int:
    """Return how many of the largest classes, from the largest on, have one tag."""
    return next((i for i, tags in enumerate(ranked) if len(tags) > 1), len(ranked))


def gold_classes(corpus: Corpus) -> dict[str, Any]:
    """Return the same of the gold tags."""
    gold = corpus.gold
    names = {tag: tag for sentence in gold for _, tag in sentence}
    classes = ambiguity_classes(gold, gold, names)
    sets = set(tags_of_words(gold).values())
    return classes | {"mean_tags": mean(len(tags) for tags in sets)}
