"""Models that guide: chains over words or over another model's tokens, and their files.

A checkpoint is a ``.safetensors`` file with the arrays of Ctrl-G, ``alpha_exp`` [Z, Z] (transition), ``beta``
[Z, V] (ln emission) and ``gamma`` [Z] (ln initial), or with plain ``transition``, ``emission`` and
``initial``; or an ``.npz`` with the latter, with hmmlearn's ``startprob_``, ``transmat_``, ``emissionprob_``,
or with PyJuice's ``alpha``, ``beta``, ``gamma``. It is read in pieces: no more memory than its floats take,
and one pass over them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import DenseHmm
from hiddenite.errors import FormatError, ModelError
from hiddenite.hmmlm.archive import Hmm
from hiddenite.hmmlm.arrays import dense_emission, dense_transition, one_chain
from hiddenite.hmmlm.automata import TokenAutomaton
from hiddenite.hmmlm.constraints import TokenVocabulary
from hiddenite.hmmlm.guide.tensors import TensorFile, open_tensors, write_safetensors
from hiddenite.hmmlm.model import HMMLanguageModel
from hiddenite.hmmlm.shape import NO_GROUP
from hiddenite.hmmlm.subwords import Tokenizer
from hiddenite.vocabulary import SENTENCE_END

NO_WORD = 0xFFFFFFFF
_BLOCK = 1 << 22  # numbers that are read at once
_NAMES = {  # of initial, transition and emission; whether each is a logarithm
    "Ctrl-G": (("gamma", "alpha_exp", "beta"), (True, False, True)),
    "plain": (("initial", "transition", "emission"), (False, False, False)),
    "hmmlearn": (("startprob_", "transmat_", "emissionprob_"), (False, False, False)),
    "PyJuice": (("gamma", "alpha", "beta"), (False, False, False)),
}


@dataclass(frozen=True, eq=False)
class GuideModel:
    """Chains over the same words, and which token of the guided model each word is."""

    chains: tuple[Hmm | DenseHmm, ...]
    weights: tuple[float, ...]
    vocabulary: TokenVocabulary  # of the guided model's tokens
    word_of: NDArray[np.int64]  # [token]: the chains' word, or -1
    end: int | None  # the token that ends a sentence

    @staticmethod
    def of_words(model: HMMLanguageModel) -> GuideModel:
        """Guide a model that has the same words."""
        ids = {word: i for i, word in enumerate(model.words)}
        vocabulary = TokenVocabulary.of_words(ids)
        end = ids[SENTENCE_END] if model.has_end else None
        return GuideModel(model.members, model.weights, vocabulary, np.arange(len(ids)), end)

    @staticmethod
    def of_tokens(
        model: HMMLanguageModel,
        texts: Tokenizer | Sequence[bytes | None],
        *,
        end: int | None,
        separators: str | None = None,
    ) -> GuideModel:
        """Guide a model of subword tokens with one that ``hmmlm distill`` trained: its words are token ids.

        ``texts`` are the tokens' texts, or a tokenizer; ``end`` is the token that ``</s>`` stands for.
        """
        given = texts.texts if isinstance(texts, Tokenizer) else tuple(texts)
        word_of = np.full(len(given), -1, np.int64)
        for word_id, word in enumerate(model.words):
            if word.isdecimal():
                if int(word) >= len(given):
                    raise ModelError(f"the model has the token {word}, the tokenizer has {len(given)} tokens")
                word_of[int(word)] = word_id
        if end is not None:
            _check_end(end, len(given))
            word_of[end] = model.words.index(SENTENCE_END) if model.has_end else -1
        return GuideModel(
            model.members,
            model.weights,
            _vocabulary(given, separators),
            word_of,
            end if model.has_end else None,
        )

    @staticmethod
    def dense(
        chain: DenseHmm,
        texts: Tokenizer | Sequence[bytes | None],
        *,
        end: int | None,
        separators: str | None = None,
    ) -> GuideModel:
        """Guide with a chain whose words are the tokens."""
        given = texts.texts if isinstance(texts, Tokenizer) else tuple(texts)
        if len(given) > chain.num_words:
            raise ModelError(f"found {len(given)} texts for {chain.num_words} tokens")
        padded = (*given, *(None for _ in range(chain.num_words - len(given))))
        return GuideModel((chain,), (1.0,), _vocabulary(padded, separators), np.arange(chain.num_words), end)

    def over_words(self, automaton: TokenAutomaton) -> TokenAutomaton:
        """Return an automaton over tokens as one over the chains' words.

        A word that is no token, such as ``<unk>``, is taken for one of the most common class.
        """
        class_of = np.full(self.chains[0].num_words, np.bincount(automaton.class_of).argmax(), np.int32)
        known = self.word_of >= 0
        class_of[self.word_of[known]] = automaton.class_of[known]
        return TokenAutomaton(automaton.accepts, class_of, automaton.target)


def _vocabulary(texts: Sequence[bytes | None], separators: str | None) -> TokenVocabulary:
    return TokenVocabulary(tuple(texts), None, *(() if separators is None else (separators,)))


def _check_end(end: int, num_tokens: int) -> None:
    if not 0 <= end < num_tokens:
        raise ModelError(f"the end is the token {end}, expected 0 to {num_tokens - 1}")


def read_checkpoint(path: str | os.PathLike[str], *, end: int | None = None) -> DenseHmm:
    """Read a dense model of another tool; ``end`` is the token that ends sentences, if one does."""
    name = os.fspath(path)
    with open_tensors(path) as tensors:
        found = [kind for kind, (names, _) in _NAMES.items() if all(n in tensors.shapes for n in names)]
        if not found:
            raise FormatError(
                name,
                None,
                f"has {', '.join(sorted(tensors.shapes)) or 'no array'}, expected alpha_exp, beta, gamma "
                "or initial, transition and emission",
            )
        names, logarithms = _NAMES[found[0]]
        shapes = [tensors.shapes[n] for n in names]
        states = shapes[0][-1] if shapes[0] else 0
        if (
            len(shapes[2]) != 2
            or np.prod(shapes[0]) != states
            or shapes[1] != (states, states)
            or shapes[2][0] != states
            or not states
        ):
            raise FormatError(
                name,
                None,
                f"has arrays of shape {shapes[0]}, {shapes[1]} and {shapes[2]}, expected Z, Z x Z and Z x V",
            )
        initial = tensors.rows(names[0], 0, 1).reshape(-1).astype(np.float64)
        transition = np.empty((states, states), np.float32)
        _fill(tensors, names[1], transition, logarithms[1])
        emission = np.empty((shapes[2][1], states), np.float32)
        _fill_transposed(tensors, names[2], emission, logarithms[2])
    end_word = NO_WORD if end is None else end
    if end is not None:
        _check_end(end, len(emission))
    try:
        return DenseHmm(
            np.exp(initial) if logarithms[0] else initial,
            transition.reshape(-1),
            emission.reshape(-1),
            len(emission),
            end_word,
        )
    except ModelError as error:
        raise FormatError(name, None, f"{error}, expected probabilities") from None


def _fill(tensors: TensorFile, name: str, into: NDArray[np.float32], logarithm: bool) -> None:
    step = max(1, _BLOCK // into.shape[1])
    for begin in range(0, len(into), step):
        part = into[begin : begin + step]
        rows = tensors.rows(name, begin, begin + len(part))
        if logarithm:
            np.exp(rows, out=part)
        else:
            part[...] = rows


def _fill_transposed(tensors: TensorFile, name: str, into: NDArray[np.float32], logarithm: bool) -> None:
    """Write the rows of a file as columns, in square tiles that stay in the cache."""
    width, states = into.shape
    step, tile = max(16, _BLOCK // width // 16 * 16), 256
    for begin in range(0, states, step):
        rows = tensors.rows(name, begin, min(begin + step, states))
        if logarithm:
            rows = np.exp(rows, dtype=np.float32)
        for column in range(0, width, tile):
            into[column : column + tile, begin : begin + len(rows)] = rows[:, column : column + tile].T


def write_checkpoint(path: str | os.PathLike[str], model: HMMLanguageModel) -> None:
    """Write ``alpha_exp``, ``beta`` and ``gamma`` as safetensors; words that no state emits are left out."""
    chain = one_chain(model.chains, model.weights)
    kept = [w for w in range(chain.num_words) if chain.word_group[w] != NO_GROUP]
    with np.errstate(divide="ignore"):
        beta = np.log(dense_emission(chain)[:, kept]).astype(np.float32)
        gamma = np.log(chain.initial).astype(np.float32)
    words = "\n".join(model.words[w] for w in kept)
    write_safetensors(
        path, {"alpha_exp": dense_transition(chain), "beta": beta, "gamma": gamma}, {"words": words}
    )
