"""States behind many sentences at once, on all cores, and the gradient of ln p by a model's numbers.

>>> model = HMMLanguageModel.train(["the cat sat", "the dog sat"] * 9, states=6, clusters=3, epochs=3)
>>> [len(positions) for positions in posterior_many(model, ["the cat sat", "the dog"])]
[4, 3]

The gradient is by the logarithms of the initial, transition and emission probabilities of each member, taken
as free numbers: it says how often each is expected to be used, given the sentences. What keeps rows
normalised, or gives them parameters of another kind, is a matter of the chain rule.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import TokenText, filter_sentences, log_prob_gradient, posterior_sentences
from hiddenite.errors import ModelError
from hiddenite.files.corpus import Sentence, as_text
from hiddenite.hmmlm.mixing import log_weights
from hiddenite.hmmlm.model import HMMLanguageModel
from hiddenite.hmmlm.results import StateDistribution
from hiddenite.hmmlm.states import IMPOSSIBLE, joined, shares

Floats = NDArray[np.float64]


def _read(model: HMMLanguageModel, sentences: bytes | Iterable[Sentence]) -> TokenText:
    return model.read(as_text(sentences))


def filter_many(
    model: HMMLanguageModel, sentences: bytes | Iterable[Sentence], threads: int = 0
) -> list[list[StateDistribution]]:
    """p(state | words so far) at each word of each sentence."""
    tokens = _read(model, sentences)
    answers = [filter_sentences(chain, tokens, threads) for chain in model.members]
    begins = tokens.begin.astype(np.int64)
    ends = np.arange(len(begins)) if model.has_end else np.zeros(len(begins), np.int64)
    columns = np.stack([chain.token_log_probs(tokens, threads) for chain in model.members])
    result = []
    for s, (begin, end) in enumerate(itertools.pairwise(begins.tolist())):
        first = begin + int(ends[s])
        prefixes = np.cumsum(columns[:, first : first + end - begin], axis=1)
        of_sentence = [answer[s] for answer in answers]
        result.append(
            [joined(of_sentence, _shares(prefixes[:, t].tolist(), model, s), t) for t in range(end - begin)]
        )
    return result


def posterior_many(
    model: HMMLanguageModel, sentences: bytes | Iterable[Sentence], threads: int = 0
) -> list[list[StateDistribution]]:
    """p(state | whole sentence) at each word of each sentence and at its end."""
    tokens = _read(model, sentences)
    answers = [posterior_sentences(chain, tokens, threads) for chain in model.members]
    result = []
    for s in range(tokens.num_sentences):
        of_sentence = [answer[s] for answer in answers]
        of_members = _shares([answer[3] for answer in of_sentence], model, s)
        result.append([joined(of_sentence, of_members, t) for t in range(len(of_sentence[0][0]) - 1)])
    return result


def _shares(log_probs: list[float], model: HMMLanguageModel, sentence: int) -> Floats:
    try:
        return shares(log_probs, model.weights)
    except ModelError:
        raise ModelError(f"sentence {sentence + 1}: {IMPOSSIBLE}") from None


@dataclass(frozen=True, eq=False)
class ChainGradient:
    """Of one member, in the layout of its own arrays."""

    initial: Floats  # d / d ln initial[z]: expected sentences that begin in z
    transition: Floats  # d / d ln p(z' | z): expected moves
    emission: Floats  # d / d ln p(w | z): expected words


@dataclass(frozen=True, eq=False)
class Gradient:
    """ln p of some sentences, and its gradient."""

    log_prob: float  # sum over sentences of ln p(sentence)
    weights: Floats  # d / d ln weight of a member: expected sentences that it gives
    members: tuple[ChainGradient, ...]


def gradient(model: HMMLanguageModel, sentences: bytes | Iterable[Sentence], threads: int = 0) -> Gradient:
    """Return sum of ln p(sentence) and its gradient by the logarithms of the model's numbers.

    Takes models that are not lexicalised; a sentence of probability zero raises ModelError.
    """
    tokens = _read(model, sentences)
    chains = model.chains
    begins = tokens.begin.astype(np.int64) + (np.arange(tokens.num_sentences + 1) if model.has_end else 0)
    columns = [chain.token_log_probs(tokens, threads) for chain in chains]
    sums = np.stack(
        [[float(c[b:e].sum()) for b, e in itertools.pairwise(begins.tolist())] for c in columns]
    ).reshape(len(chains), -1)
    joint = sums + log_weights(model.weights)[:, None]
    totals = np.logaddexp.reduce(joint, axis=0)
    if (totals == -np.inf).any():
        raise ModelError(f"sentence {int(np.argmin(totals)) + 1}: {IMPOSSIBLE}")
    of_members = np.exp(joint - totals)
    parts = [
        ChainGradient(*log_prob_gradient(chain, tokens, np.ascontiguousarray(share), threads))
        for chain, share in zip(chains, of_members, strict=True)
    ]
    return Gradient(float(totals.sum()), of_members.sum(axis=1), tuple(parts))
