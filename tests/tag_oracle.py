"""Taggers by definition: every formula as a loop over the training sentences, every tag sequence tried."""

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hiddenite.tag import Tagger, TaggerOptions
from tests.models import save
from tests.oracle import BOS, EOS, Backoff, Ngram, parse_arpa, single

Tagged = Sequence[tuple[str, str]]


def tag_frequencies(sentences: Sequence[Tagged]) -> dict[str, float]:
    counts = Counter(t for s in sentences for _, t in s)
    return {t: c / counts.total() for t, c in counts.items()}


# TnT's unknown words (Brants 2000, section 2.3)


def suffix_guess(sentences: Sequence[Tagged], word: str, rare: int, longest: int) -> dict[str, float]:
    """p(t | the word's longest listed ending), endings of rare words of the same capitalisation."""
    prior = tag_frequencies(sentences)
    theta = statistics.stdev(prior.values()) if len(prior) > 1 else 0.0
    frequency = Counter(w for s in sentences for w, _ in s)
    limit = rare if min(frequency.values()) <= rare else max(frequency.values())
    examples = [
        (w, t)
        for s in sentences
        for w, t in s
        if frequency[w] <= limit and w[0].isupper() == word[0].isupper()
    ]
    probs = prior
    for length in range(min(longest, len(word)) + 1):
        ending = word[len(word) - length :]
        tags = Counter(t for w, t in examples if len(w) >= length and w.endswith(ending))
        if not tags:
            break
        probs = {t: (tags[t] / tags.total() + theta * probs[t]) / (1 + theta) for t in prior}
    return probs


# Deleted interpolation (section 2.2), for any order


def deleted_interpolation(sentences: Sequence[Sequence[str]], order: int) -> "Interpolated":
    windows = [
        tuple([BOS, *s, EOS][max(0, end - order) : end]) for s in sentences for end in range(2, len(s) + 3)
    ]
    model = Interpolated(windows, [0.0] * order)
    votes = [1.0, *[0.0] * (order - 1)]
    for window in windows:  # token by token: an n-gram seen c times votes c times
        values = []
        for n in range(1, len(window) + 1):
            seen, followed = model.counts(window[-n:])
            values.append((seen - 1) / (followed - 1) if followed > 1 else 0.0)
        winners = [i for i, v in enumerate(values) if v == max(values)]
        for i in winners:
            votes[i] += 1 / len(winners)
    return Interpolated(windows, [v / (len(windows) + 1) for v in votes])


@dataclass(frozen=True)
class Interpolated:
    """sum over n of lambda_n f(t | the last n - 1 tags), over the orders whose history was seen."""

    windows: Sequence[Ngram]
    lambdas: Sequence[float]

    def counts(self, ngram: Ngram) -> tuple[int, int]:
        """How often the n-gram ended a window, and how often its history was followed by any tag."""
        n = len(ngram)
        long = [w[-n:] for w in self.windows if len(w) >= n]
        return long.count(ngram), sum(w[:-1] == ngram[:-1] for w in long)

    def prob(self, tag: str, history: Ngram) -> float:
        used, total = 0.0, 0.0
        for n in range(1, min(len(self.lambdas), len(history) + 1) + 1):
            seen, followed = self.counts((*history[len(history) - n + 1 :], tag))
            if followed == 0:
                break
            used += self.lambdas[n - 1]
            total += self.lambdas[n - 1] * seen / followed
        return total / used if used else self.counts((tag,))[0] / self.counts((tag,))[1]


# Emissions and paths


def emissions(
    tagger: Tagger, sentences: Sequence[Tagged], word: str, guess: dict[str, float]
) -> dict[str, float]:
    """[symbol]: ln p(word | symbol), by Bayes' rule from p(t | word)."""
    options = tagger.model.options
    m = options.guess_weight
    counts = Counter(t for s in sentences for w, t in s if w == word)
    total = sum(len(s) for s in sentences)
    tags = tag_frequencies(sentences)
    if counts:
        probs = {t: (counts[t] + m * guess[t]) / (counts.total() + m) for t in tags}
        if options.tag_dictionary:
            probs = {t: p for t, p in probs.items() if counts[t]}
        of_word = counts.total() / total
    else:
        probs, of_word = guess, 1 / total
    own = frequent(sentences, options.lexicalize)
    symbols = Counter(symbol(w, t, own) for s in sentences for w, t in s)
    possible = {t: p for t, p in probs.items() if p > 0 and symbols[symbol(word, t, own)]}
    if not possible:
        flat = [symbol(word, t, own) for t in tags if symbols[symbol(word, t, own)]]
        return {s: math.log(of_word) for s in flat}
    best = max(possible.values())
    return {
        symbol(word, t, own): math.log(p * of_word * total / symbols[symbol(word, t, own)])
        for t, p in possible.items()
        if p >= options.floor * best
    }


def frequent(sentences: Sequence[Tagged], number: int) -> set[str]:
    counts = Counter(w.lower() for s in sentences for w, _ in s)
    return set(sorted(counts, key=lambda w: (-counts[w], w))[: min(number, len(counts) // 2)])


def symbol(word: str, tag: str, own: set[str]) -> str:
    return f"{tag}␟{word.lower()}" if word.lower() in own else tag


def transitions(tagger: Tagger) -> Backoff:
    """The tagger's n-gram model, from the ARPA text it writes."""
    rows = parse_arpa(save(tagger.model.transitions).decode())
    return Backoff(
        {g: -math.inf if g[-1] == BOS else single(row[0]) for g, row in rows.items()},
        {g: single(row[1]) for g, row in rows.items() if len(row) > 1},
    )


def all_taggings(
    tagger: Tagger, sentences: Sequence[Tagged], words: Sequence[str], guesses: Sequence[dict[str, float]]
) -> list[tuple[float, tuple[str, ...]]]:
    """Every tag sequence and its log weight, best first."""
    slots = [emissions(tagger, sentences, w, g) for w, g in zip(words, guesses, strict=True)]
    model = transitions(tagger)
    result = []
    for path in itertools.product(*slots):
        history = (BOS, *path)
        log_weight = sum(slot[s] for slot, s in zip(slots, path, strict=True))
        for i, s in enumerate([*path, EOS]):
            log_weight += model.log_prob(s, history[: i + 1])
        if log_weight > -math.inf:
            result.append((log_weight, tuple(s.partition("␟")[0] for s in path)))
    return sorted(result, key=lambda row: -row[0])


def small_options(**changes: object) -> TaggerOptions:
    if changes.get("guesser", "log-linear") != "log-linear":
        return TaggerOptions(**{"emissions": "generative", **changes})  # type: ignore[arg-type]
    changes.pop("suffix_length", None)
    return TaggerOptions(**{"epochs": 2, "emissions": "generative", **changes})  # type: ignore[arg-type]
