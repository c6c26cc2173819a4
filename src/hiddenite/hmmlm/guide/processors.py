"""Guides inside other programs: a logits processor, and a plain loop for any sampler.

A GuideLogitsProcessor is called as Hugging Face transformers call theirs, with token ids [batch, length] and
scores [batch, tokens], arrays or tensors, and as vLLM's per-request processors are, with one list of ids and
one row of scores. It remembers the states of recent prefixes, so that a batch or a beam moves on by one token
each.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite.errors import ModelError
from hiddenite.hmmlm.guide.guide import Guide, GuideState

_KEPT = 512  # prefixes


class GuideLogitsProcessor:
    """Adds a guide's log weights to scores.

    ``prompt_length`` tokens at the beginning are the prompt, by default all that the first call has. Where
    the constraint has become impossible, as in a beam that ignored the weights, scores stay as they are.
    ``padding`` is a token of the prompt to be skipped.
    """

    def __init__(
        self,
        guide: Guide,
        *,
        prompt_length: int | None = None,
        temperature: float = 1.0,
        padding: int | None = None,
    ) -> None:
        if not temperature > 0:
            raise ModelError(f"the temperature is {temperature}, expected a number above 0")
        self.guide = guide
        self.temperature = temperature
        self._prompt_length, self._padding = prompt_length, padding
        self._states: OrderedDict[tuple[int, ...], GuideState] = OrderedDict()

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return the scores with the weights added: the same kind of array or tensor."""
        rows = input_ids if isinstance(input_ids, Sequence) else input_ids.tolist()
        single = not rows or isinstance(rows[0], int)
        batch = [rows] if single else rows
        weights = np.stack([self.log_weights(row, scores.shape[-1]) for row in batch])
        added = weights[0] if single else weights
        if isinstance(scores, np.ndarray):
            return scores + added
        return scores + scores.new_tensor(added)

    def log_weights(self, tokens: Sequence[int], num_scores: int) -> NDArray[np.float64]:
        """Return the weights after these tokens, prompt included; -inf beyond the vocabulary."""
        if self._prompt_length is None:
            self._prompt_length = len(tokens)
        result = np.full(num_scores, -np.inf)
        state = self._state(tuple(tokens))
        if state.is_ended or not state.is_possible:
            return np.zeros(num_scores)
        size = min(num_scores, self.guide.num_tokens)
        result[:size] = state.log_weights(self.temperature)[:size]
        return result

    def _state(self, tokens: tuple[int, ...]) -> GuideState:
        assert self._prompt_length is not None
        if tokens in self._states:
            self._states.move_to_end(tokens)
            return self._states[tokens]
        if len(tokens) <= self._prompt_length:
            state = self.guide.start([t for t in tokens if t != self._padding])
        else:
            state = self._state(tokens[:-1]).advance(tokens[-1])
        self._states[tokens] = state
        while len(self._states) > _KEPT:
            self._states.popitem(last=False)
        return state


def guided_sample(
    guide: Guide,
    next_log_probs: Callable[[Sequence[int]], NDArray[np.floating[Any]]],
    rng: np.random.Generator,
    *,
    prompt: Sequence[int] = (),
    temperature: float = 1.0,
    choose_from: int = 1,
) -> list[int]:
    """Write one sentence: ``next_log_probs(tokens)`` is the other model, prompt included; returns the new
    tokens.

    Each token is drawn from p(token | before) exp(weight), normalised; the end is the last token, if there is
    one. With ``choose_from`` so many sentences are drawn and one is kept in proportion to the other model's
    probability over that of the draw: the more, the nearer to what the other model would write if it had to.
    """
    if choose_from < 1:
        raise ModelError(f"found choose_from = {choose_from}, expected at least 1")
    drawn = [_draw(guide, next_log_probs, rng, prompt, temperature) for _ in range(choose_from)]
    if choose_from == 1:
        return drawn[0][0]
    importance = np.array([log_importance for _, log_importance in drawn])
    return drawn[int((importance + rng.gumbel(size=choose_from)).argmax())][0]


def _draw(
    guide: Guide,
    next_log_probs: Callable[[Sequence[int]], NDArray[np.floating[Any]]],
    rng: np.random.Generator,
    prompt: Sequence[int],
    temperature: float,
) -> tuple[list[int], float]:
    """Return a sentence and ln of p(sentence) by the other model over the probability of the draw."""
    state = guide.start(prompt)
    tokens, log_importance = list(prompt), 0.0
    while not state.is_ended:
        scores = np.asarray(next_log_probs(tokens), np.float64)
        added = state.log_weights(temperature)
        weights = scores[: guide.num_tokens] + added
        if weights.max() == -np.inf:
            raise ModelError("the model gives no token that leaves the constraint possible any probability")
        shares = np.exp(weights - weights.max())
        token = int(rng.choice(len(shares), p=shares / shares.sum()))
        total = float(weights.max() + np.log(shares.sum()))
        log_importance += total - float(np.logaddexp.reduce(scores)) - float(added[token])
        tokens.append(token)
        state = state.advance(token)
    return tokens[len(prompt) :], log_importance
