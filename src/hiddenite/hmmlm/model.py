"""Hidden Markov language models with thousands of states: train, score, ask, save.

>>> model = HMMLanguageModel.train(["the cat sat", "the dog sat"] * 9, states=6, clusters=3, epochs=3)
>>> model.score(["the cat sat"])[0].tokens
4

A model is one chain (``cpp/hiddenite/chain.hpp``) or a mixture of several with weights: the member is drawn
anew for each sentence. That is one hidden Markov model whose transition matrix has a block for each member,
so every answer below is exact for mixtures too. Whatever trained it, a model is its words and its chains'
arrays; :mod:`hiddenite.hmmlm.arrays` describes them.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import SparseHmm, TokenText, WordTable, read_tokens
from hiddenite.archive import Archive, read_archive, write_archive
from hiddenite.corpus import Sentence, sentence_text, tokenize
from hiddenite.errors import ModelError
from hiddenite.hmmlm.arrays import chain_arrays, check_words, export_npz, import_npz, read_chain
from hiddenite.hmmlm.clusters import Clusters
from hiddenite.hmmlm.generation import FREE, Question, draw, fill
from hiddenite.hmmlm.mixing import mixture_log_probs, sentence_sums
from hiddenite.hmmlm.options import HMMOptions
from hiddenite.hmmlm.results import (
    Generated,
    GeneratedSentence,
    Infilled,
    StateDistribution,
    StatePath,
    StateUsage,
)
from hiddenite.hmmlm.states import decode, filtered, posterior, predicted, usage
from hiddenite.hmmlm.training import Epoch, Training
from hiddenite.results import SentenceScores

FORMAT = "hiddenite hmmlm"
VERSION = 1
MAX_LENGTH = 40  # words of a generated sentence, unless a length is given
GAP = "___"
_HINT = "expected a file that `hiddenite hmmlm train` wrote; train it again"


class HMMLanguageModel:
    """A trained model, immutable; made by :meth:`train`, :meth:`load` or :meth:`import_npz`."""

    def __init__(
        self, words: Sequence[str], members: Sequence[SparseHmm], weights: Sequence[float] | None = None
    ) -> None:
        """Take chains over the same words; ``words`` begin with ``<unk>``, ``<s>`` and ``</s>``."""
        check_words(words)
        if not members or any(chain.num_words != len(words) for chain in members):
            raise ModelError("the chains and the words do not fit")
        given = np.full(len(members), 1 / len(members)) if weights is None else np.asarray(weights, float)
        if given.shape != (len(members),) or (given < 0).any() or abs(given.sum() - 1) > 1e-6:
            raise ModelError("expected a weight for each member, together one")
        self.words = tuple(words)
        self.members = tuple(members)
        self.weights = tuple((given / given.sum()).tolist())
        self._table = WordTable()
        for word in words:
            self._table.add(word)

    @functools.cached_property
    def _ids(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    @property
    def num_states(self) -> int:
        """States of all members together."""
        return sum(chain.num_states for chain in self.members)

    @property
    def has_end(self) -> bool:
        """Whether sentences end with ``</s>``; else a probability is that of words at a given length."""
        return self.members[0].has_end

    # ------------------------------------------------------------------ train

    @classmethod
    def train(
        cls,
        corpus: bytes | Iterable[Sentence],
        states: int = 4096,
        clusters: int | Clusters = 128,
        *,
        seed: int = 1,
        valid: bytes | Iterable[Sentence] | None = None,
        threads: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        on_epoch: Callable[[Epoch], None] | None = None,
        **options: Any,
    ) -> HMMLanguageModel:
        """Train by expectation-maximisation on sentences, or on UTF-8 text with one a line.

        ``options`` are the other fields of :class:`HMMOptions`. Small texts get fewer states and clusters
        than asked for: no more clusters than words.
        """
        given = clusters if isinstance(clusters, Clusters) else None
        number = given.num_classes if given is not None else clusters
        chosen = HMMOptions(states=states, clusters=number, **options)  # type: ignore[arg-type]
        training = Training(
            corpus, chosen, seed=seed, valid=valid, clusters=given, threads=threads, checkpoint=checkpoint
        )
        for epoch in training:
            if on_epoch is not None:
                on_epoch(epoch)
        return cls.from_training(training)

    @classmethod
    def from_training(cls, training: Training) -> HMMLanguageModel:
        """Keep what a finished training has learnt."""
        return cls(training.words, training.chains(), training.weights())

    # ------------------------------------------------------------------ score

    def read(self, text: bytes, name: str = "<sentences>", first_line: int = 1) -> TokenText:
        """Return the lines of a text as word ids."""
        return read_tokens(text, name, first_line, self._table, grow=False)

    def token_log_probs(self, text: bytes, threads: int = 0) -> NDArray[np.float64]:
        """ln p(word | words before it in its sentence), for each word and ``</s>``, line after line.

        A word that is impossible after those before it has -inf; the next ones are predicted without it.
        """
        return self._token_log_probs(self.read(text), threads)

    def _token_log_probs(self, tokens: TokenText, threads: int) -> NDArray[np.float64]:
        columns = [chain.token_log_probs(tokens, threads) for chain in self.members]
        if len(columns) == 1:
            return np.asarray(columns[0])
        return mixture_log_probs(np.stack(columns), self.weights, self._begins(tokens))

    def _begins(self, tokens: TokenText) -> NDArray[np.int64]:
        ends = np.arange(tokens.num_sentences + 1) if self.has_end else 0
        return np.asarray(tokens.begin.astype(np.int64) + ends)

    def score(self, sentences: Iterable[Sentence], threads: int = 0) -> SentenceScores:
        """Score sentences: strings, split at white space, or sequences of words. ``threads=0``: all cores."""
        return self.score_text(sentence_text(sentences), threads=threads)

    def score_text(
        self, text: bytes, threads: int = 0, name: str = "<sentences>", first_line: int = 1
    ) -> SentenceScores:
        """Score UTF-8 text, one sentence a line; words that are not known count as ``<unk>``."""
        tokens = self.read(text, name, first_line)
        return self.scores(tokens, self._token_log_probs(tokens, threads))

    def scores(self, tokens: TokenText, log_probs: NDArray[np.float64]) -> SentenceScores:
        """Add up the tokens' ln p by sentence."""
        begins = self._begins(tokens)
        known = log_probs.copy()
        inside = np.ones(len(known), dtype=bool)
        if self.has_end:
            inside[begins[1:] - 1] = False
        known[np.flatnonzero(inside)[tokens.tokens == 0]] = 0.0
        total, total_known = (sentence_sums(column, begins) for column in (log_probs, known))
        columns = (total, total_known, np.diff(begins).astype(np.uint32), tokens.unknown)
        return SentenceScores(*(column.data for column in columns))

    def perplexity(self, sentences: bytes | Iterable[Sentence], threads: int = 0) -> float:
        """exp of minus the mean ln p per token, ``</s>`` included."""
        text = sentences if isinstance(sentences, bytes) else sentence_text(sentences)
        return self.score_text(text, threads).summary().perplexity

    # -------------------------------------------------------------------- ask

    def _word_ids(self, sentence: Sentence) -> NDArray[np.uint32]:
        words = tokenize(sentence) if isinstance(sentence, str) else list(sentence)
        return np.array([self._ids.get(word, 0) for word in words], dtype=np.uint32)

    def filter(self, sentence: Sentence) -> list[StateDistribution]:
        """p(state | words so far) at each word."""
        return filtered(self.members, self.weights, self._word_ids(sentence))

    def posterior(self, sentence: Sentence) -> list[StateDistribution]:
        """p(state | whole sentence) at each word and at ``</s>``."""
        return posterior(self.members, self.weights, self._word_ids(sentence))

    def decode(self, sentence: Sentence) -> StatePath:
        """Return the most probable states of a sentence, that of ``</s>`` last (Viterbi)."""
        words = tuple(tokenize(sentence) if isinstance(sentence, str) else sentence)
        return decode(self.members, self.weights, words, self._word_ids(words))

    def predict(self, words: Sentence) -> dict[str, float]:
        """p(next word | words so far), for all words and ``</s>``."""
        probabilities = predicted(self.members, self.weights, self._word_ids(words))
        return {word: float(p) for word, p in zip(self.words, probabilities, strict=True) if p > 0}

    def usage(self, sentences: bytes | Iterable[Sentence], threads: int = 0) -> StateUsage:
        """Count the states that a text uses, and measure how sharp they are."""
        text = sentences if isinstance(sentences, bytes) else sentence_text(sentences)
        return usage(self.members, self.read(text), threads)

    def generate(
        self,
        n: int = 1,
        *,
        length: int | None = None,
        max_length: int = MAX_LENGTH,
        keywords: Iterable[str | Sequence[str]] = (),
        pattern: str | None = None,
        fixed: Mapping[int, str] | None = None,
        method: str = "sample",
        candidates: int = 100,
        seed: int = 1,
        threads: int = 0,
    ) -> Generated:
        """Return ``n`` sentences that satisfy the constraint, and its exact probability.

        ``keywords`` are words or phrases that must occur, in any order; ``pattern`` is a regular expression
        over words (:mod:`hiddenite.hmmlm.constraints`); ``fixed`` are words at positions from 0. Sentences
        have exactly ``length`` words, or up to ``max_length``. ``method``: ``sample`` draws independently
        from p(sentence | constraint); ``rescore`` draws ``candidates`` and keeps the n most probable of
        them; ``best`` is the one with the most probable words and states together.
        """
        question = Question(
            self._ids,
            keywords=keywords,
            pattern=pattern,
            fixed=fixed,
            length=length,
            max_length=max_length,
        )
        drawn = draw(
            self.members,
            self.weights,
            question,
            n=n,
            method=method,
            candidates=candidates,
            seed=seed,
            threads=threads,
        )
        words = [tuple(self.words[w] for w in walk.words.tolist()) for _, walk in drawn.walks]
        log_probs = self.score([list(w) for w in words], threads).log_prob.tolist()
        sentences = [
            GeneratedSentence(sentence, log_prob, m, tuple(walk.states.tolist()))
            for sentence, log_prob, (m, walk) in zip(words, log_probs, drawn.walks, strict=True)
        ]
        if method == "rescore":
            distinct = {s.words: s for s in sentences}.values()
            sentences = sorted(distinct, key=lambda s: -s.log_prob)[:n]
        return Generated(tuple(sentences), drawn.log_prob)

    def constraint_log_prob(
        self,
        keywords: Iterable[str | Sequence[str]] = (),
        pattern: str | None = None,
        *,
        fixed: Mapping[int, str] | None = None,
        length: int | None = None,
        max_length: int = MAX_LENGTH,
        threads: int = 0,
    ) -> float:
        """ln of the probability that a sentence of the model satisfies the constraint, exactly."""
        question = Question(
            self._ids,
            keywords=keywords,
            pattern=pattern,
            fixed=fixed,
            length=length,
            max_length=max_length,
        )
        return question.log_prob(self.members, self.weights, threads)

    def infill(self, sentence: Sentence, *, gap: str = GAP, top: int = 5, threads: int = 0) -> Infilled:
        """Fill the gaps of a sentence: for each the exact p(word | all that is given)."""
        words = tokenize(sentence) if isinstance(sentence, str) else list(sentence)
        slots = [FREE if word == gap else self._ids.get(word, 0) for word in words]
        log_prob, tables = fill(self.members, self.weights, slots, threads)
        gaps = [t for t, word in enumerate(words) if word == gap]
        candidates = []
        for position, table in zip(gaps, tables, strict=True):
            order = np.argsort(-table, kind="stable")[:top]
            candidates.append(tuple((self.words[w], float(table[w])) for w in order))
            words[position] = self.words[order[0]]
        return Infilled(tuple(words), tuple(gaps), tuple(candidates), log_prob)

    # ------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, whole or not at all."""
        header = {
            "format": FORMAT,
            "version": VERSION,
            "weights": list(self.weights),
            "has_end": self.has_end,
        }
        arrays: dict[str, NDArray[Any]] = {}
        for m, chain in enumerate(self.members):
            arrays |= {f"{m}.{name}": array for name, array in chain_arrays(chain).items()}
        write_archive(path, header, {"words": self.words}, arrays, compress=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> HMMLanguageModel:
        """Read a model file; raises FormatError for anything else."""
        return read_archive(path, FORMAT, VERSION, _HINT, cls._read)

    @classmethod
    def _read(cls, archive: Archive) -> HMMLanguageModel:
        weights = archive.header["weights"]
        has_end = bool(archive.header["has_end"])
        members = [
            read_chain(functools.partial(_member_array, archive, m), has_end) for m in range(len(weights))
        ]
        return cls(archive.words("words"), members, weights)

    def export_npz(self, path: str | os.PathLike[str], *, dense: bool = False) -> None:
        """Write plain arrays; :mod:`hiddenite.hmmlm.arrays` says which. A mixture becomes one chain first."""
        export_npz(path, self.words, self.members, self.weights, dense=dense)

    @classmethod
    def import_npz(cls, path: str | os.PathLike[str]) -> HMMLanguageModel:
        """Read arrays that :meth:`export_npz` or another tool wrote."""
        words, chain = import_npz(path)
        return cls(words, [chain])


def _member_array(archive: Archive, member: int, name: str, kind: type[Any]) -> NDArray[Any]:
    return archive.array(f"{member}.{name}", kind)
