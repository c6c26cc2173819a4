"""Language models interpolated word by word: p(w | before) = sum_m weight_m p_m(w | before).

The weights are fitted on held-out text by EM, whose optimum is unique. Whatever gives ln p of each token of
a text takes part: hidden Markov models, n-gram models, neural ones. The result is a language model, but it is
no hidden Markov model. With :class:`Histories` of the training text the weights depend on how often the words
before were seen there, and on which model did well on them (:mod:`hiddenite.hmmlm.gate`): an n-gram model
knows much after some words and little after others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import WordTable, read_tokens
from hiddenite.errors import ModelError
from hiddenite.files.corpus import Sentence, as_text
from hiddenite.hmmlm.gate import Gate, fit_gate
from hiddenite.hmmlm.histories import Histories
from hiddenite.hmmlm.mixing import fit_weights, log_weights


class TokenModel(Protocol):
    """A language model that scores words one by one."""

    def token_log_probs(self, text: bytes, threads: int = 0) -> NDArray[np.float64]:
        """ln p of each word and sentence end, line after line."""


class Interpolation:
    """Models and their weights."""

    def __init__(
        self,
        models: Sequence[TokenModel],
        weights: Sequence[float],
        histories: Histories | None = None,
        gate: Gate | None = None,
    ) -> None:
        """``gate`` changes the weights by what the histories say of the words before."""
        if len(models) != len(weights) or not models or min(weights) < 0 or abs(sum(weights) - 1) > 1e-6:
            raise ModelError("expected one weight for each model, with the sum 1")
        if (gate is None) != (histories is None):
            raise ModelError("expected both histories and a gate, or neither")
        self.models, self.weights = tuple(models), tuple(weights)
        self.histories, self.gate = histories, gate

    @classmethod
    def fit(
        cls,
        models: Sequence[TokenModel],
        valid: bytes | Iterable[Sentence],
        threads: int = 0,
        histories: Histories | None = None,
    ) -> Interpolation:
        """Choose the weights under which the validation text is most probable."""
        text = as_text(valid)
        columns = _columns(models, text, threads)
        if not columns.shape[1]:
            raise ModelError("the validation text is empty, expected words to fit the weights on")
        weights = fit_weights(columns)
        if histories is None:
            return cls(models, weights.tolist())
        gate = fit_gate(columns, histories.levels(text), histories.num_levels, sentence_begins(text), weights)
        return cls(models, weights.tolist(), histories, gate)

    def token_log_probs(self, text: bytes | Iterable[Sentence], threads: int = 0) -> NDArray[np.float64]:
        """ln p of each word and sentence end, line after line."""
        text = as_text(text)
        columns = _columns(self.models, text, threads)
        weights = log_weights(self.weights)[:, None]
        if self.histories is not None and self.gate is not None:
            weights = self.gate.log_weights(columns, self.histories.levels(text), sentence_begins(text))
        return np.asarray(np.logaddexp.reduce(columns + weights, axis=0))

    def perplexity(self, text: bytes | Iterable[Sentence], threads: int = 0) -> float:
        """exp of minus the mean ln p per token, sentence ends included."""
        log_probs = self.token_log_probs(text, threads)
        return float(np.exp(-log_probs.mean())) if len(log_probs) else math.nan


def sentence_begins(text: bytes) -> NDArray[np.bool_]:
    """Return which tokens of a text, sentence ends included, begin a sentence."""
    read = read_tokens(text, "<text>", 1, WordTable(), grow=False)
    begin = read.begin.astype(np.int64) + np.arange(read.num_sentences + 1)
    result = np.zeros(int(begin[-1]), bool)
    result[begin[:-1]] = True
    return result


def _columns(models: Sequence[TokenModel], text: bytes, threads: int) -> NDArray[np.float64]:
    columns = [model.token_log_probs(text, threads) for model in models]
    if any(len(column) != len(columns[0]) for column in columns):
        raise ModelError("some models predict </s> and some do not; expected models of one kind")
    return np.stack(columns)
