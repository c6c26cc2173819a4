"""The next token of any language model, weighed by how likely the sentence will satisfy a constraint.

>>> guide = Guide(model, constraints.all_of("dog", "tree"), max_length=20)   # doctest: +SKIP
>>> state = guide.start()                                                    # doctest: +SKIP
>>> weights = state.log_weights()      # add to the other model's logits     # doctest: +SKIP
>>> state = state.advance(token)                                             # doctest: +SKIP

For each next token x the weight is ln p(constraint | prefix, x) - ln p(constraint | prefix), exact under the
hidden Markov model (Zhang, Dang, Peng & Van den Broeck 2023; ``cpp/hiddenite/hmm/guide/guide.hpp``). With its
own next-token probabilities the hidden Markov model is guided to exact draws under the constraint.

Where the hidden Markov model has nothing to say the guide backs off. A token that it never emits counts as
one that tells nothing about the hidden state. If no continuation has a positive probability, every token that
leaves the automaton a way to an accepting end has the same weight. So a guided text satisfies its constraint
whatever the hidden Markov model thinks of it.

Making a guide costs (live automaton states) x Z^2 for each token of ``max_length``; a token costs one step of
the forward recursion and one number for each pair of a token and a state that emits it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import GuidePrefix, HmmGuide, LexicalHmm
from hiddenite.errors import ModelError
from hiddenite.hmmlm import constraints
from hiddenite.hmmlm.constraints import Constraint
from hiddenite.hmmlm.guide.models import GuideModel
from hiddenite.hmmlm.model import HMMLanguageModel

FREE = 0xFFFFFFFF
LogWeights = NDArray[np.float64]


class Guide:
    """A constraint beside a hidden Markov model, ready for any number of sentences."""

    def __init__(
        self,
        model: GuideModel | HMMLanguageModel,
        constraint: Constraint | str | Iterable[str],
        *,
        max_length: int,
        min_length: int = 0,
        fixed: Mapping[int, int] | None = None,
        threads: int = 0,
    ) -> None:
        """Compile the constraint and look ahead from every state.

        ``constraint``: of :mod:`hiddenite.hmmlm.constraints`; strings are keywords that must all occur.
        Sentences have ``min_length`` to ``max_length`` tokens, the end not counted. ``fixed`` are token ids
        at positions. A model without an end of sentences needs ``min_length == max_length``.
        """
        self.model = model if isinstance(model, GuideModel) else GuideModel.of_words(model)
        self.num_tokens = len(self.model.vocabulary)
        if not 0 <= min_length <= max_length:
            raise ModelError(f"found lengths from {min_length} to {max_length}, expected the smaller first")
        wanted = _constraint(constraint)
        automaton = wanted.compile(self.model.vocabulary)
        self.num_automaton_states = automaton.num_states
        self._class_of = automaton.class_of
        self.fixed = dict(fixed or {})
        slots = self._slots(max_length)
        over_words = self.model.over_words(automaton)
        core = over_words.core()
        self._guides = [HmmGuide(c, core, slots, min_length, max_length, threads) for c in self.model.chains]
        self.max_length = max_length

    def _slots(self, max_length: int) -> list[int]:
        fixed = self.fixed
        if min(fixed, default=0) < 0 or max(fixed, default=-1) >= max_length:
            raise ModelError(f"a fixed position is outside the sentence, expected 0 to {max_length - 1}")
        slots = [FREE] * (max(fixed, default=-1) + 1)
        for position, token in fixed.items():
            self._check(token)
            word = int(self.model.word_of[token])
            if word < 0:
                raise ModelError(f"the fixed token {token} is one that the hidden Markov model does not have")
            slots[position] = word
        return slots

    def _check(self, token: int) -> None:
        if not 0 <= token < self.num_tokens:
            raise ModelError(f"found the token {token}, expected 0 to {self.num_tokens - 1}")

    def start(self, prompt: Sequence[int] = ()) -> GuideState:
        """Return the state before the first token; what a prompt says is known, but not constrained."""
        for token in prompt:
            self._check(token)
        known = [int(w) for w in self.model.word_of[list(prompt)] if w >= 0] if len(prompt) else []
        log_shares = np.log(np.array(self.model.weights))
        prefixes = []
        for m, guide in enumerate(self._guides):
            prefix = guide.begin()
            for word in known:
                prefix, p = guide.follow(prefix, word)
                log_shares[m] += math.log(p) if p > 0 else 0.0 if len(self._guides) == 1 else -math.inf
            prefixes.append(prefix)
        return GuideState(self, (), tuple(prefixes), _shares(log_shares, self.model.weights))


def _constraint(given: Constraint | str | Iterable[str]) -> Constraint:
    if isinstance(given, Constraint):
        return given
    return constraints.all_of(*([given] if isinstance(given, str) else list(given)))


def _shares(log_shares: NDArray[np.float64], weights: Sequence[float]) -> tuple[float, ...]:
    """p(member | prefix); as at first if no member can explain it."""
    most = log_shares.max()
    if most == -math.inf:
        return tuple(weights)
    shares = np.exp(log_shares - most)
    return tuple((shares / shares.sum()).tolist())


@dataclass(frozen=True, eq=False)
class GuideState:
    """A prefix; immutable, so that beams share it."""

    guide: Guide
    tokens: tuple[int, ...]  # since the start, the end included
    _prefixes: tuple[GuidePrefix, ...]
    _shares: tuple[float, ...]

    def advance(self, token: int) -> GuideState:
        """Return the prefix with one more token."""
        self.guide._check(token)
        word = int(self.guide.model.word_of[token])
        moved, factors = [], []
        for guide, prefix in zip(self.guide._guides, self._prefixes, strict=True):
            if word >= 0:
                after, p = guide.advance(prefix, word)
            else:  # a token that no state emits moves the automaton and says nothing of the states
                after, p = guide.advance_unknown(prefix, int(self.guide._class_of[token])), 1.0
            moved.append(after)
            factors.append(p)
        with np.errstate(divide="ignore"):
            log_shares = np.log(np.array(self._shares)) + np.log(np.array(factors))
        return GuideState(self.guide, (*self.tokens, token), tuple(moved), _shares(log_shares, self._shares))

    @property
    def is_ended(self) -> bool:
        """Whether the end has come, or the length of a model without end."""
        full = self.guide.model.end is None and len(self.tokens) >= self.guide.max_length
        return full or self._prefixes[0].ended

    @property
    def is_satisfied(self) -> bool:
        """Whether the constraint is satisfied if the sentence is over now."""
        return self.guide._guides[0].is_satisfied(self._prefixes[0])

    @property
    def is_possible(self) -> bool:
        """Whether some continuation satisfies the constraint."""
        return self._prefixes[0].alive

    def _next(
        self, words: Sequence[int] = ()
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]:
        """p(word), p(word and constraint), p(constraint | unknown word) by class; the last two scaled.

        Of all words if none is given.
        """
        answers = [g.next_words(p, words) for g, p in zip(self.guide._guides, self._prefixes, strict=True)]
        scale = max(answer[3] for answer in answers)
        parts = [
            (share * p, share * math.exp(s - scale) * joint, share * math.exp(s - scale) * unknown)
            for share, (p, joint, unknown, s) in zip(self._shares, answers, strict=True)
        ]
        probability, joint, unknown = (sum(column[1:], column[0]) for column in zip(*parts, strict=True))
        return probability, joint, unknown, scale

    def next_log_probs(self) -> NDArray[np.float64]:
        """ln p(token | prefix) under the hidden Markov model alone."""
        word_of = self.guide.model.word_of
        with np.errstate(divide="ignore"):
            by_word = np.log(self._next()[0])
        return np.where(word_of < 0, -np.inf, by_word[np.maximum(word_of, 0)])

    def log_prob(self) -> float:
        """ln p(constraint | prefix) under the hidden Markov model."""
        if self.is_ended:
            return 0.0 if self.is_satisfied else -math.inf
        of_members = [g.log_prob(p) for g, p in zip(self.guide._guides, self._prefixes, strict=True)]
        with np.errstate(divide="ignore"):
            return float(np.logaddexp.reduce(np.array(of_members) + np.log(np.array(self._shares))))

    def log_weights(
        self, temperature: float = 1.0, tokens: Sequence[int] | NDArray[np.int64] | None = None
    ) -> LogWeights:
        """ln p(constraint | prefix, token) - ln p(constraint | prefix) for each token, over ``temperature``.

        Above 1 the guide insists later and less; a token that makes the constraint impossible has -inf at any
        temperature. With ``tokens`` the answer has the weights of these alone, the same numbers for less
        work: a sampler that looks at the hundred best tokens needs no more. Raises ModelError if no
        continuation satisfies the constraint.
        """
        if not temperature > 0:
            raise ModelError(f"the temperature is {temperature}, expected a number above 0")
        if not self.is_possible or self.is_ended:
            raise ModelError(
                "the sentence has ended" if self.is_ended else "no continuation satisfies the constraint"
            )
        if tokens is not None:
            return self._weights_of(tokens, temperature)
        probability, joint, unknown, _ = self._next()
        total = joint.sum()
        if not total > 0:
            return self._allowed()
        words = self.guide.model.word_of
        known = np.maximum(words, 0)
        probability = np.where(words < 0, 0.0, probability[known])
        found = self._log_ratio(np.arange(len(words)), probability, joint[known], unknown, -math.log(total))
        return np.asarray(found / temperature)

    def _weights_of(self, tokens: Sequence[int] | NDArray[np.int64], temperature: float) -> LogWeights:
        """The weights of some tokens; the normaliser comes from classes of words, not from all of them."""
        chosen = np.asarray(tokens, np.int64).reshape(-1)
        for token in (chosen.min(initial=0), chosen.max(initial=0)):
            self.guide._check(int(token))
        total = self.log_prob()
        if total == -math.inf or not len(chosen):
            return self._allowed()[chosen]
        words = self.guide.model.word_of[chosen]
        probability, joint, unknown, scale = self._next(np.maximum(words, 0).tolist())
        probability = np.where(words < 0, 0.0, probability)
        return np.asarray(self._log_ratio(chosen, probability, joint, unknown, scale - total) / temperature)

    def _log_ratio(
        self,
        tokens: NDArray[np.int64],
        probability: NDArray[np.float64],
        joint: NDArray[np.float64],
        unknown: NDArray[np.float64],
        log_scale: float,
    ) -> LogWeights:
        """ln p(constraint | prefix, token) - ln p(constraint | prefix); both may be as small as exp(-1000).

        A token that cannot come by the chain counts as one that says nothing of the states.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            known = joint / probability
            ratio = (
                np.log(np.where(probability > 0, known, unknown[self.guide._class_of[tokens]])) + log_scale
            )
        fixed = self.guide.fixed.get(len(self.tokens))
        if fixed is not None:
            ratio[tokens != fixed] = -np.inf
        if self.guide.model.end is not None:
            at_end = (tokens == self.guide.model.end) & ~(probability > 0)
            ratio[at_end] = -self.log_prob() if at_end.any() and self.is_satisfied else -np.inf
        return np.asarray(ratio)

    def log_weight_bounds(self) -> tuple[LogWeights, LogWeights, LogWeights]:
        """For each token a lower bound of its log weight, a guess and an upper bound, read from the states.

        A weight is a mean over the states that may come, so it lies between the least and the most of their
        values; the guess is their mean before the token is known. No emission is looked at. Where transitions
        emit, as in lexicalised models, all three are the weight itself.
        """
        if any(isinstance(chain, LexicalHmm) for chain in self.guide.model.chains) or not self.is_possible:
            return (self.log_weights(),) * 3
        total = self.log_prob()
        if total == -math.inf:
            return (self._allowed(),) * 3
        parts = [g.next_bounds(p) for g, p in zip(self.guide._guides, self._prefixes, strict=True)]
        with np.errstate(divide="ignore"):
            logs = [np.log(np.stack(part[:3])) + (part[3] - total) for part in parts]
            voices = [
                (part, math.log(share)) for part, share in zip(logs, self._shares, strict=True) if share > 0
            ]
        mean = np.logaddexp.reduce([part[2] + log_share for part, log_share in voices])
        least = np.minimum(np.min([part[0] for part, _ in voices], axis=0), mean)
        most = np.maximum(np.max([part[1] for part, _ in voices], axis=0), mean)
        return self._bound(least), self._bound(mean), self._bound(most)

    def _bound(self, by_class: LogWeights) -> LogWeights:
        """By token what is known by class; the end and fixed tokens are known themselves."""
        guide = self.guide
        values = np.asarray(by_class[guide._class_of])
        fixed, end = guide.fixed.get(len(self.tokens)), guide.model.end
        if fixed is not None:
            values[np.arange(guide.num_tokens) != fixed] = -np.inf
        if end is not None:
            values[end] = -self.log_prob() if self.is_satisfied else -np.inf
        return values

    def _allowed(self) -> LogWeights:
        """Zero for each token that leaves the automaton a way, whatever the chain says."""
        guide = self.guide
        by_class = guide._guides[0].allowed_classes(self._prefixes[0])
        values = np.where(by_class[guide._class_of] > 0, 0.0, -np.inf)
        fixed = guide.fixed.get(len(self.tokens))
        if fixed is not None:
            values[np.arange(guide.num_tokens) != fixed] = -np.inf
        if guide.model.end is not None:
            values[guide.model.end] = 0.0 if self.is_satisfied else -np.inf
        return values
