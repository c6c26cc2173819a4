"""The tagger: a hidden Markov model of tags, trained from tagged text, answered by the exact engine.

    p(words, tags) = product over i of p(t_i | the n - 1 tags before) p(w_i | t_i),  times p(</s> | ...)

Transitions are an n-gram model of tags of any order (:mod:`hiddenite.tag.transitions`), emissions a lexicon
and a guesser for words that were never seen (:mod:`hiddenite.tag.emissions`), or weights that see the words
around (:mod:`hiddenite.tag.context`). To the engine the tags are the
words of a language model and the words a channel, so the best tags, the k best, samples and marginals are
exact, each with its certificate (Carter et al. 2012, section 3.2).
"""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeVar, cast

from hiddenite._core import TagChannel, TaskKind, tag_words
from hiddenite.candidates import Candidates
from hiddenite.channel import Channel
from hiddenite.errors import BudgetExceeded, EmptySupportError, ModelError
from hiddenite.files.corpus import Sentence, each_sentence, sentence_text, sentence_words, tokenize
from hiddenite.inference import answer_lines, decode
from hiddenite.options import check_choice
from hiddenite.query import Budget, MethodName, Query
from hiddenite.results import (
    Certificate,
    Decoded,
    Failure,
    KBest,
    Marginals,
    Samples,
    WordAnswer,
)
from hiddenite.tag.annotation import LabelledSentence
from hiddenite.tag.answers import TagAnswer, Tagged, TagSample, TagSequence
from hiddenite.tag.choice import ORDERS, choose_options, try_orders
from hiddenite.tag.emissions import split_symbol
from hiddenite.tag.formats import TaggedSentence
from hiddenite.tag.knowledge import NO_KNOWLEDGE, Knowledge
from hiddenite.tag.model import OrderTrial, TaggerModel, core_channel
from hiddenite.tag.options import TaggerOptions
from hiddenite.tag.training import completed, normal_words, train_model, training_text

BATCH = 512  # sentences a call to the core
_BEST_TAGS = Query(TaskKind.DECODE)  # what the core's own batches are for
_Answer = TypeVar("_Answer", Tagged, KBest[TagSequence], Samples[TagSample], Marginals)
Objective = Literal["map", "mbr"]


class Tagger:
    """A trained tagger; immutable, and safe to share between threads."""

    def __init__(self, model: TaggerModel, trials: Sequence[OrderTrial] = ()) -> None:
        self.model = model
        self.trials = tuple(trials)  # of order="auto"
        self._tag_of = {symbol: split_symbol(symbol)[0] for symbol, _ in model.symbols}
        self._names = [self._tag_of.get(symbol, "") for symbol in model.transitions.vocabulary]
        self._channel = Channel(model.transitions.vocabulary, core_channel(model))

    def __repr__(self) -> str:
        return f"<Tagger order={self.order}, {len(self.tags)} tags, {len(self.model.lexicon.words):,} words>"

    # ------------------------------------------------------------------ make

    @classmethod
    def train(
        cls,
        tagged: Iterable[LabelledSentence],
        order: int | Literal["auto"] = 3,
        *,
        max_order: int = 6,
        on_trial: Callable[[OrderTrial], None] | None = None,
        knowledge: Knowledge = NO_KNOWLEDGE,
        **options: object,
    ) -> Tagger:
        """Train on sentences of (word, tag) pairs.

        A tag ``_`` is not annotated; a mapping of tags to numbers is evidence, see
        :mod:`hiddenite.tag.annotation`. ``knowledge`` is what is known of words from elsewhere.
        ``options`` are the fields of :class:`TaggerOptions`. ``order="auto"`` chooses by held-out
        sentences (:meth:`choose_order`), tells ``on_trial`` of each trial, and trains the best on all.
        """
        if order != "auto":
            fixed = TaggerOptions(order=order, **options)  # type: ignore[arg-type]
            return cls.train_with(tagged, fixed, knowledge)
        chosen = TaggerOptions(order=max_order, **options)  # type: ignore[arg-type]
        return cls.choose_order(tagged, chosen, range(2, max_order + 1), on_trial, knowledge)

    @classmethod
    def train_with(
        cls,
        tagged: Iterable[LabelledSentence],
        options: TaggerOptions,
        knowledge: Knowledge = NO_KNOWLEDGE,
    ) -> Tagger:
        """Train with these options."""
        return cls(train_model(training_text(tagged, options, knowledge), options, knowledge))

    @classmethod
    def choose_order(
        cls,
        tagged: Iterable[LabelledSentence],
        options: TaggerOptions,
        orders: Iterable[int] = range(2, 7),
        on_trial: Callable[[OrderTrial], None] | None = None,
        knowledge: Knowledge = NO_KNOWLEDGE,
    ) -> Tagger:
        """Train with the order that tags held-out sentences best, the lower one among equals.

        Generative emissions: ``orders`` on a held-out tenth. Context emissions: the orders 2 and 3 among
        them, and the settings of :mod:`hiddenite.tag.choice`, by cross-validation.
        """
        text = training_text(tagged, options, knowledge)
        if options.emissions == "context":
            tried = [n for n in orders if n in ORDERS] or ORDERS
            text = completed(text, dataclasses.replace(options, order=min(tried)), knowledge)
            best, trials = choose_options(text, options, cls.count_right, tried, knowledge)
        else:
            trials = try_orders(text, options, orders, cls.count_right)
            order = max(trials, key=lambda t: (t.accuracy, -t.order)).order
            best = dataclasses.replace(options, order=order)
        if on_trial is not None:
            for trial in trials:
                on_trial(trial)
        return cls(train_model(text, best, knowledge), trials)

    @classmethod
    def count_right(cls, model: TaggerModel, gold: Sequence[TaggedSentence]) -> int:
        """Return how many of the gold tags a model finds."""
        found = cls(model).tag_many(([w for w, _ in sentence] for sentence in gold), threads=1)
        return sum(
            sum(t == tag for t, (_, tag) in zip(result.tags, sentence, strict=True))
            for sentence, result in zip(gold, found, strict=True)
            if isinstance(result, Tagged)
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tagger:
        """Read a model file."""
        from hiddenite.tag.archive import read_tagger  # noqa: PLC0415  (it reads what is defined here)

        return read_tagger(path, cls)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file; loading it gives the same tagger."""
        from hiddenite.tag.archive import write_model  # noqa: PLC0415

        write_model(self.model, path)

    # ------------------------------------------------------------------- ask

    @property
    def tags(self) -> tuple[str, ...]:
        """All tags."""
        return self.model.tags

    @property
    def order(self) -> int:
        """The longest n-grams of tags."""
        return self.model.options.order

    def knows(self, word: str) -> bool:
        """Whether the word was seen in training."""
        return self._core.knows(self._normal([word])[0])

    def known_words(self, sentences: Iterable[Sentence]) -> list[bool]:
        """For each word of all sentences in a row, whether it was seen in training."""
        words = [self._normal(_words(sentence)) for sentence in each_sentence(sentences)]
        return [bool(known) for known in self._core.known_words(sentence_text(words))]

    def _normal(self, words: Sequence[str]) -> Sequence[str]:
        """Return the words in the Unicode form that the tagger was trained with."""
        return normal_words(words, self.model.options.normal_form)

    @property
    def _core(self) -> TagChannel:
        core = self._channel.core
        assert isinstance(core, TagChannel)
        return core

    def candidates(self, words: Sentence) -> Candidates:
        """Return the hidden symbols that each word may have, with ln p(word | symbol)."""
        return self._channel(" ".join(self._normal(sentence_words(words))))

    def tag(
        self,
        words: Sentence,
        *,
        objective: Objective = "map",
        method: MethodName = "auto",
        budget: Budget | float | None = None,
        require_exact: bool = False,
        proof: bool = False,
    ) -> Tagged:
        """Return the best tags: the most probable sequence, or with ``"mbr"`` the fewest expected errors.

        ``proof=True`` adds the proof as data, about the hidden symbols under the model of transitions.
        """
        query = Query(kind_of(objective), method, budget=Budget.of(budget))
        result = self._proved(words, query) if proof else self._ask(words, query, Tagged)
        if require_exact and not result.certificate.exact:
            gap = result.certificate.gap
            raise BudgetExceeded(
                f"the budget ended before the proof; the answer may be {gap:.4g} off", result
            )
        return result

    def _proved(self, words: Sentence, query: Query) -> Tagged:
        if query.kind != TaskKind.DECODE:
            raise ModelError("a proof needs the objective map; leave out objective or proof")
        given = sentence_words(words)
        candidates = self.candidates(given)
        method = cast(MethodName, query.method)
        try:
            decoded = decode(
                self.model.transitions, candidates, method=method, budget=query.budget, proof=True
            )
        except BudgetExceeded as error:
            raise BudgetExceeded(error.message, self._answer(given, cast(Decoded, error.partial))) from None
        result = self._answer(given, decoded)
        assert isinstance(result, Tagged)
        assert decoded.proof is not None
        return dataclasses.replace(result, proof=dataclasses.replace(decoded.proof, text=tuple(given)))

    def kbest(self, words: Sentence, k: int, *, method: MethodName = "auto") -> KBest[TagSequence]:
        """Return the k best tag sequences in order, fewer if there are fewer."""
        return self._ask(words, Query(TaskKind.KBEST, method, count=k), KBest)

    def sample(
        self, words: Sentence, n: int, *, seed: int, method: MethodName = "auto"
    ) -> Samples[TagSample]:
        """Draw n independent tag sequences from the posterior."""
        return self._ask(words, Query(TaskKind.SAMPLE, method, count=n, seed=seed), Samples)

    def marginals(self, words: Sentence) -> Marginals:
        """Return each tag's posterior probability at each word."""
        return self._ask(words, Query(TaskKind.MARGINALS), Marginals)

    def _ask(self, words: Sentence, query: Query, kind: type[_Answer]) -> _Answer:
        result = next(self.answer_many([words], query, threads=1))
        if isinstance(result, Failure):
            if result.position is not None:
                raise EmptySupportError(result.position, result.error)
            raise ModelError(result.error)
        assert isinstance(result, kind)
        return result

    def tag_many(
        self,
        sentences: Iterable[Sentence],
        *,
        objective: Objective = "map",
        method: MethodName = "auto",
        threads: int = 0,
    ) -> Iterator[Tagged | Failure]:
        """Tag many sentences, on all cores (``threads=0``); results in input order."""
        query = Query(kind_of(objective), method)
        if query == _BEST_TAGS:
            return self._tag_fast(sentences, threads)
        return cast(Iterator[Tagged | Failure], self.answer_many(sentences, query, threads))

    def answer_many(
        self, sentences: Iterable[Sentence], query: Query, threads: int = 0, first_record: int = 0
    ) -> Iterator[TagAnswer | Failure]:
        """Ask the same of many sentences; the results do not depend on the number of threads.

        A record's samples are those of its number, counted from ``first_record``.
        """
        if query == _BEST_TAGS:
            yield from self._tag_fast(sentences, threads)
            return
        records = each_sentence(sentences)
        while batch := [_words(sentence) for sentence in itertools.islice(records, BATCH)]:
            results = answer_lines(
                self.model.transitions,
                self._channel,
                sentence_text(list(map(self._normal, batch))),
                query,
                first_record=first_record,
                threads=threads,
            )
            yield from map(self._answer, batch, results)
            first_record += len(batch)

    def _tag_fast(self, sentences: Iterable[Sentence], threads: int) -> Iterator[Tagged | Failure]:
        """Give the best tags by the core's own batches, which skip what a tagger does not need."""
        engine, core = self.model.transitions.engine, self._core
        records = each_sentence(sentences)
        while batch := [_words(sentence) for sentence in itertools.islice(records, BATCH)]:
            rows = tag_words(engine, core, list(map(self._normal, batch)), self._names, threads)
            for words, (tags, log_weight, proof, error, position) in zip(batch, rows, strict=True):
                if error is not None:
                    yield Failure(error, position)
                else:
                    yield Tagged(tuple(words), tags, log_weight, Certificate(*proof))

    def _tags(self, symbols: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self._tag_of.__getitem__, symbols))

    def _answer(self, sentence: Sequence[str], result: WordAnswer | Failure) -> TagAnswer | Failure:
        """Return the engine's answer with tags for symbols."""
        words = tuple(sentence)
        match result:
            case Decoded():
                return Tagged(
                    words,
                    self._tags(result.words),
                    result.log_weight,
                    result.certificate,
                    result.expected_errors,
                )
            case KBest():
                rows = (TagSequence(self._tags(h.items), h.log_weight) for h in result)
                return KBest(tuple(rows), result.certificate, words=words)
            case Samples():
                draws = (TagSample(self._tags(s.items), s.log_weight, s.count) for s in result.samples)
                changed: Any = {"samples": tuple(draws), "words": words}
                return cast(Samples[TagSample], dataclasses.replace(result, **changed))
            case Marginals():
                slots = (tuple((self._tag_of[s], p) for s, p in slot) for slot in result.slots)
                return dataclasses.replace(result, slots=tuple(slots), words=words)
        return result


def kind_of(objective: str) -> TaskKind:
    """Return the engine's task for an objective."""
    kinds = {"map": TaskKind.DECODE, "mbr": TaskKind.MBR}
    check_choice("objective", objective, kinds)
    return kinds[objective]


def _words(sentence: str | list[str]) -> Sequence[str]:
    return tokenize(sentence) if isinstance(sentence, str) else sentence
