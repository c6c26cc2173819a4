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

from hiddenite._core import LexicalHmm, SparseHmm, TokenText, WordTable, read_tokens
from hiddenite.errors import ModelError
from hiddenite.files.corpus import Sentence, as_text, sentence_text, sentence_words
from hiddenite.hmmlm.archive import Hmm, Parts, check_members, load_model, save_model, sparse_members
from hiddenite.hmmlm.arrays import check_words, export_npz, import_npz
from hiddenite.hmmlm.clusters import Clusters
from hiddenite.hmmlm.constraints import Constraint
from hiddenite.hmmlm.generation import FREE, Question, draw, fill, time_budget
from hiddenite.hmmlm.lexical import LexicalTraining, train
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
from hiddenite.scores import SentenceScores

MAX_LENGTH = 40  # words of a generated sentence, unless a length is given
GAP = "___"


class HMMLanguageModel:
    """A trained model, immutable; made by :meth:`train`, :meth:`load` or :meth:`import_npz`."""

    def __init__(
        self,
        words: Sequence[str],
        members: Sequence[Hmm],
        weights: Sequence[float] | None = None,
        training: Mapping[str, Any] | None = None,
    ) -> None:
        """Take chains over the same words; ``words`` begin with ``<unk>``, ``<s>`` and ``</s>``."""
        check_words(words)
        check_members(members, len(words))
        given = np.full(len(members), 1 / len(members)) if weights is None else np.asarray(weights, float)
        if given.shape != (len(members),) or (given < 0).any() or abs(given.sum() - 1) > 1e-6:
            raise ModelError("expected one weight for each member, with the sum 1")
        self.words = tuple(words)
        self.members = tuple(members)
        self.weights = tuple((given / given.sum()).tolist())
        self.training = dict(training or {})  # method, seed, options and size of the text
        self._table = WordTable()
        for word in words:
            self._table.add(word)

    def __repr__(self) -> str:
        members = "" if len(self.members) == 1 else f" in {len(self.members)} members"
        kind = "lexicalised, " if self.is_lexicalised else ""
        return f"<HMMLanguageModel {kind}{self.num_states:,} states{members}, {len(self.words):,} words>"

    @functools.cached_property
    def _ids(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    @property
    def num_states(self) -> int:
        """States of all members together."""
        return sum(chain.num_states for chain in self.members)

    @property
    def chains(self) -> tuple[SparseHmm, ...]:
        """The members of a model that is not lexicalised."""
        return tuple(sparse_members(self.members))

    @property
    def has_end(self) -> bool:
        """Whether sentences end with ``</s>``; else a probability is that of words at a given length."""
        return self.members[0].has_end

    # ------------------------------------------------------------------ train

    @classmethod
    def train(
        cls,
        corpus: bytes | Iterable[Sentence],
        states: int | None = None,
        clusters: int | Clusters = 128,
        *,
        preset: str = "single",
        seed: int = 1,
        valid: bytes | Iterable[Sentence] | None = None,
        threads: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        on_epoch: Callable[[Epoch], None] | None = None,
        **options: Any,
    ) -> HMMLanguageModel:
        """Train by expectation-maximisation on sentences, or on UTF-8 text with one a line.

        ``preset`` is ``single`` (one chain), ``mixture`` or ``best`` (of three and of eight chains); what is
        given beside it, ``states`` and other fields of :class:`HMMOptions`, counts instead of the preset's.
        Small texts get fewer states and clusters than asked for: no more clusters than words.
        """
        given = clusters if isinstance(clusters, Clusters) else None
        number = given.num_classes if given is not None else clusters
        chosen = HMMOptions.of_preset(preset, states=states, clusters=number, **options)
        training = Training(
            corpus, chosen, seed=seed, valid=valid, clusters=given, threads=threads, checkpoint=checkpoint
        )
        for epoch in training:
            if on_epoch is not None:
                on_epoch(epoch)
        return cls.from_training(training)

    @classmethod
    def train_lexical(
        cls, corpus: bytes | Iterable[Sentence], preset: str = "default", *, seed: int = 1, **options: Any
    ) -> HMMLanguageModel:
        """Train a lexicalised model, whose states are word contexts with hidden states: the best there is.

        ``preset`` is ``fast``, ``default`` or ``best``; ``options`` are those of :func:`lexical.train`.
        """
        return cls.from_training(train(corpus, preset, seed=seed, **options))

    @classmethod
    def from_training(cls, training: Training | LexicalTraining) -> HMMLanguageModel:
        """Keep what a finished training has learnt."""
        if isinstance(training, LexicalTraining):
            return cls(training.words, [training.model()], None, training.description())
        return cls(training.words, training.chains(), training.weights(), training.description())

    @property
    def is_lexicalised(self) -> bool:
        """Whether states are word contexts with hidden states."""
        return isinstance(self.members[0], LexicalHmm)

    # ------------------------------------------------------------------ score

    def read(self, text: bytes, name: str = "<sentences>", first_line: int = 1) -> TokenText:
        """Return the lines of a text as word ids."""
        return read_tokens(text, name, first_line, self._table, grow=False)

    def token_log_probs(self, text: bytes | Iterable[Sentence], threads: int = 0) -> NDArray[np.float64]:
        """ln p(word | words before it in its sentence), for each word and ``</s>``, line after line.

        A word that is impossible after those before it has -inf; the next ones are predicted without it.
        """
        return self._token_log_probs(self.read(as_text(text)), threads)

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
        return SentenceScores.of(*(column.data for column in columns))

    def perplexity(self, sentences: bytes | Iterable[Sentence], threads: int = 0) -> float:
        """exp of minus the mean ln p per token, ``</s>`` included."""
        text = as_text(sentences)
        return self.score_text(text, threads).summary().perplexity

    # -------------------------------------------------------------------- ask

    def _word_ids(self, sentence: Sentence) -> NDArray[np.uint32]:
        return np.array([self._ids.get(word, 0) for word in sentence_words(sentence)], dtype=np.uint32)

    def filter(self, sentence: Sentence) -> list[StateDistribution]:
        """p(state | words so far) at each word."""
        return filtered(self.members, self.weights, self._word_ids(sentence))

    def posterior(self, sentence: Sentence) -> list[StateDistribution]:
        """p(state | whole sentence) at each word and at ``</s>``."""
        return posterior(self.members, self.weights, self._word_ids(sentence))

    def decode(self, sentence: Sentence) -> StatePath:
        """Return the most probable states of a sentence, that of ``</s>`` last (Viterbi)."""
        words = tuple(sentence_words(sentence))
        return decode(self.members, self.weights, words, self._word_ids(words))

    def predict(self, words: Sentence) -> dict[str, float]:
        """p(next word | words so far), for all words and ``</s>``."""
        probabilities = predicted(self.members, self.weights, self._word_ids(words))
        return {word: float(p) for word, p in zip(self.words, probabilities, strict=True) if p > 0}

    def usage(self, sentences: bytes | Iterable[Sentence], threads: int = 0) -> StateUsage:
        """Count the states that a text uses, and measure how sharp they are."""
        text = as_text(sentences)
        return usage(self.members, self.read(text), threads)

    def generate(
        self,
        n: int = 1,
        *,
        length: int | None = None,
        max_length: int = MAX_LENGTH,
        keywords: Iterable[str | Sequence[str]] = (),
        pattern: str | None = None,
        constraint: Constraint | None = None,
        fixed: Mapping[int, str] | None = None,
        method: str = "sample",
        candidates: int = 100,
        budget: float | None = None,
        seed: int = 1,
        threads: int = 0,
    ) -> Generated:
        """Return ``n`` sentences that satisfy the constraint, and its exact probability.

        ``keywords`` are words or phrases that must occur, in any order; ``pattern`` is a regular expression
        over words; ``constraint`` any of :mod:`hiddenite.hmmlm.constraints`;
        ``fixed`` are words at positions from 0. Sentences
        have exactly ``length`` words, or up to ``max_length``. ``method``: ``sample`` draws independently
        from p(sentence | constraint); ``rescore`` draws ``candidates`` and keeps the n most probable of
        them; ``best`` is the one with the most probable words and states together. After ``budget`` seconds
        BudgetExceeded is raised.
        """
        question = Question(
            self._ids,
            keywords=keywords,
            pattern=pattern,
            constraint=constraint,
            fixed=fixed,
            length=length,
            max_length=max_length,
        )
        with time_budget(budget):
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
        constraint: Constraint | None = None,
        fixed: Mapping[int, str] | None = None,
        length: int | None = None,
        max_length: int = MAX_LENGTH,
        threads: int = 0,
    ) -> float:
        """ln of the probability that a sentence of the model satisfies the constraint, exactly.

        Sentences of other lengths do not satisfy it: it must have exactly ``length`` words, or up to
        ``max_length``, 40 if not given.
        """
        question = Question(
            self._ids,
            keywords=keywords,
            pattern=pattern,
            constraint=constraint,
            fixed=fixed,
            length=length,
            max_length=max_length,
        )
        return question.log_prob(self.members, self.weights, threads)

    def infill(self, sentence: Sentence, *, gap: str = GAP, top: int = 5, threads: int = 0) -> Infilled:
        """Fill the gaps of a sentence: for each the exact p(word | all that is given)."""
        words = sentence_words(sentence)
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
        save_model(path, Parts(self.words, self.members, self.weights, self.training))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> HMMLanguageModel:
        """Read a model file; raises FormatError for anything else."""
        return load_model(path, lambda p: cls(p.words, p.members, p.weights, p.training))

    def export_npz(self, path: str | os.PathLike[str], *, dense: bool = False) -> None:
        """Write plain arrays; :mod:`hiddenite.hmmlm.arrays` says which. A mixture becomes one chain first."""
        export_npz(path, self.words, self.chains, self.weights, dense=dense)

    @classmethod
    def import_npz(cls, path: str | os.PathLike[str]) -> HMMLanguageModel:
        """Read arrays that :meth:`export_npz` or another tool wrote."""
        words, chain = import_npz(path)
        return cls(words, [chain])
