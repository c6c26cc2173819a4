"""A restorer from plain text: the lexicon of forms, the kinds of rare words, the n-gram model.

Words seen less often than ``min_count`` are one of a kind to the n-gram model (with a small letter, a
capital, capitals alone), so that it knows where an unknown name stands. The lexicon keeps their spelling.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from hiddenite.errors import ModelError, OptionError
from hiddenite.ngram import NgramModel
from hiddenite.restore.folding import Folding, is_punctuation
from hiddenite.restore.restorer import KINDS, Entry, Restorer

SPECIAL = ("<unk>", "<s>", "</s>")
LEAST_SHARE = 1 / 5000  # of all words; a mark that is seen less often is a word like any other


def train_restorer(
    sentences: Callable[[], Iterable[str]],
    what: Sequence[str],
    order: int = 5,
    *,
    events: Iterable[str] | None = None,
    min_count: int = 2,
    max_events: int = 1,
) -> Restorer:
    """Train on sentences as they should be; ``sentences()`` gives them anew, for the text is read twice.

    ``events`` are the words to restore if ``what`` has ``events``; with ``punctuation`` they are found.
    """
    if ("events" in what) != (events is not None):
        raise OptionError("events", "needs what=events, and what=events needs a list of events")
    counts: Counter[str] = Counter()
    for sentence in sentences():
        counts.update(sentence.split())
    for word in SPECIAL[1:]:
        counts.pop(word, None)
    if not counts:
        raise ModelError("the text is empty, expected sentences as they should be")
    folding = Folding(tuple(what), _find_events(counts, what, events))
    kind_of = {
        word: _kind(word, folding) for word, n in counts.items() if n < min_count and _is_word(word, folding)
    }
    lm = NgramModel.train(_lines(sentences(), kind_of), order)
    return Restorer(lm, folding, _lexicon(counts, kind_of, folding, lm), _kinds(counts, kind_of), max_events)


def _find_events(counts: Counter[str], what: Sequence[str], events: Iterable[str] | None) -> frozenset[str]:
    found = set(events or ())
    absent = sorted(word for word in found if word not in counts)
    if absent:
        raise ModelError(f"the text never has the event «{absent[0]}», so nothing can be learnt about it")
    if "punctuation" in what:
        least = LEAST_SHARE * counts.total()
        found |= {word for word, n in counts.items() if n >= least and is_punctuation(word)}
    return frozenset(found - set(SPECIAL))


def _is_word(word: str, folding: Folding) -> bool:
    return word not in SPECIAL and not folding.is_event(word)


def _kind(word: str, folding: Folding) -> str:
    if "case" not in folding.what or word == word.lower():
        return KINDS[0]
    if word == word[0].upper() + word[1:].lower():
        return KINDS[1]
    return KINDS[2] if word == word.upper() else KINDS[3]


def _lines(sentences: Iterable[str], kind_of: dict[str, str]) -> Iterator[list[str]]:
    for sentence in sentences:
        yield [kind_of.get(word, word) for word in sentence.split() if word not in SPECIAL[1:]]


def _totals(counts: Counter[str], kind_of: dict[str, str]) -> Counter[str]:
    totals: Counter[str] = Counter()
    for word, kind in kind_of.items():
        totals[kind] += counts[word]
    return totals


def _lexicon(counts: Counter[str], kind_of: dict[str, str], folding: Folding, lm: NgramModel) -> list[Entry]:
    """Return what each form can stand for: the frequent words, and the rare ones by their kinds."""
    totals = _totals(counts, kind_of)
    entries: dict[tuple[str, str], Entry] = {}
    for word, _ in counts.most_common():
        kind = kind_of.get(word, word)
        form = "" if folding.is_event(word) else folding.word(word)
        weight = -math.log(totals[kind]) if kind != word else 0.0
        entries.setdefault((form, kind), Entry(form, word, kind, weight))
    if "case" in folding.what and KINDS[1] in lm.vocabulary:
        forms = {form for form, _ in entries if form and form[0].isalpha()}
        titled = {form for (form, _), entry in entries.items() if entry.spelling[:1].isupper()}
        for form in sorted(forms - titled):  # a word that was never seen at the beginning of a sentence
            spelling = form[0].upper() + form[1:]
            entries.setdefault(
                (form, KINDS[1]), Entry(form, spelling, KINDS[1], -math.log(2 * totals[KINDS[1]]))
            )
    return list(entries.values())


def _kinds(counts: Counter[str], kind_of: dict[str, str]) -> list[tuple[str, float]]:
    """Return the kinds that a word which the lexicon lacks can be of, with weights."""
    totals = _totals(counts, kind_of)
    found = [(kind, -math.log(2 * totals[kind])) for kind in KINDS[:3] if totals[kind]]
    return found or [("<unk>", 0.0)]
