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
from hiddenite.hmmlm.guide.weighing import TOLERANCE, weigh

_KEPT = 512  # prefixes


class GuideLogitsProcessor:
    """Adds a guide's log weights to scores.

    ``prompt_length`` tokens at the beginning are the prompt, by default all that the first call has. Where
    the constraint has become impossible, as in a beam that ignored the weights, scores stay as they are.
    ``padding`` is a token of the prompt to be skipped. With a dense model, the weights that matter least to
    the next token are guessed (:mod:`hiddenite.hmmlm.guide.weighing`): its law moves by at most ``tolerance``
    in total variation, and ``error`` is the most that any row has had so far.
    """

    def __init__(
        self,
        guide: Guide,
        *,
        prompt_length: int | None = None,
        temperature: float = 1.0,
        padding: int | None = None,
        tolerance: float = TOLERANCE,
    ) -> None:
        if not temperature > 0:
            raise ModelError(f"the temperature is {temperature}, expected a number above 0")
        self.guide = guide
        self.temperature, self.tolerance = temperature, tolerance
        self.error = 0.0
        self._prompt_length, self._padding = prompt_length, padding
        self._states: OrderedDict[tuple[int, ...], GuideState] = OrderedDict()

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return the scores with the weights added: the same kind of array or tensor."""
        rows = input_ids if isinstance(input_ids, Sequence) else input_ids.tolist()
        single = not rows or isinstance(rows[0], int)
        batch = [rows] if single else rows
        given = scores.detach().cpu().double() if hasattr(scores, "detach") else scores
        of_rows = np.asarray(given, np.float64).reshape(len(batch), -1)
        weights = np.stack([self.log_weights(row, s) for row, s in zip(batch, of_rows, strict=True)])
        added = weights[0] if single else weights
        if isinstance(scores, np.ndarray):
            return scores + added
        return scores + scores.new_tensor(added)

    def log_weights(self, tokens: Sequence[int], scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights after these tokens, prompt included, for a row of scores.

        Scores beyond the vocabulary get -inf.
        """
        if self._prompt_length is None:
            self._prompt_length = len(tokens)
        state = self._state(tuple(tokens))
        if state.is_ended or not state.is_possible:
            return np.zeros(len(scores))
        size = min(len(scores), self.guide.num_tokens)
        known = np.full(self.guide.num_tokens, -np.inf)
        known[:size] = scores[:size]
        weighed = weigh(state, known, temperature=self.temperature, tolerance=self.tolerance)
        self.error = max(self.error, weighed.error)
        result = np.full(len(scores), -np.inf)
        result[:size] = weighed.log_weights[:size]
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
    tolerance: float = TOLERANCE,
) -> list[int]:
    """Write one sentence: ``next_log_probs(tokens)`` is the other model, prompt included; returns the new
    tokens.

    Each token is drawn from p(token | before) exp(weight), normalised; the end is the last token, if there is
    one. With ``choose_from`` so many sentences are drawn and one is kept in proportion to the other model's
    probability over that of the draw: the more, the nearer to what the other model would write if it had to.
    ``tolerance`` as in :func:`~hiddenite.hmmlm.guide.weigh`.
    """
    if choose_from < 1:
        raise ModelError(f"found choose_from = {choose_from}, expected at least 1")
    drawn = [
        _draw(guide, next_log_probs, rng, prompt, temperature, tolerance=tolerance)
        for _ in range(choose_from)
    ]
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
    *,
    tolerance: float = TOLERANCE,
) -> tuple[list[int], float]:
    """Return a sentence and ln of p(sentence) by the other model over the probability of the draw."""
    state = guide.start(prompt)
    tokens, log_importance = list(prompt), 0.0
    while not state.is_ended:
        scores = np.asarray(next_log_probs(tokens), np.float64)
        known = scores[: guide.num_tokens]
        added = weigh(state, known, temperature=temperature, tolerance=tolerance).log_weights
        weights = known + added
        if weights.max() == -np.inf:
            raise ModelError("the model gives no token that leaves the constraint possible any probability")
        shares = np.exp(weights - weights.max())
        token = int(rng.choice(len(shares), p=shares / shares.sum()))
        total = float(weights.max() + np.log(shares.sum()))
        log_importance += total - float(np.logaddexp.reduce(scores)) - float(added[token])
        tokens.append(token)
        state = state.advance(token)
    return tokens[len(prompt) :], log_importance
