"""The tagger: a hidden Markov model of tags, trained from tagged text, answered by the exact engine.

    p(words, tags) = product over i of p(t_i | the n - 1 tags before) p(w_i | t_i),  times p(</s> | ...)

Transitions are an n-gram model of tags of any order (:mod:`hiddenite.tag.transitions`), emissions a lexicon
and a guesser for words that were never seen (:mod:`hiddenite.tag.emissions`). To the engine the tags are the
words of a language model and the words a channel, so the best tags, the k best, samples and marginals are
exact, each with its certificate (Carter et al. 2012, section 3.2).
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, cast

import numpy as np

from hiddenite._core import TagChannel, TaskKind, tag_words
from hiddenite.channel import Candidates, Channel
from hiddenite.corpus import Sentence, sentence_text, tokenize
from hiddenite.errors import (
    BudgetExceeded,
    EmptySupportError,
    ModelError,
    UnknownSymbolError,
    near_spellings,
)
from hiddenite.inference import Budget, MethodName, Query, answer_lines
from hiddenite.ngram import NgramModel
from hiddenite.results import Certificate, Decoded, Failure, KBest, Marginals, Samples
from hiddenite.tag.answers import (
    TagAnswer,
    Tagged,
    TagKBest,
    TagMarginals,
    TagSample,
    TagSamples,
    TagSequence,
)
from hiddenite.tag.emissions import (
    SEPARATOR,
    EmissionTable,
    FeatureTable,
    Lexicon,
    SpellingTable,
    SuffixTable,
    Symbols,
    feature_table,
    frequent_words,
    rare_examples,
    split_symbol,
    suffix_table,
)
from hiddenite.tag.formats import TaggedSentence, tag_fault
from hiddenite.tag.transitions import TRANSITIONS, TransitionsName, train_transitions

MAX_ORDER = 9
GUESSERS = ("log-linear", "suffix")
INDUCED = "spelling"  # the guesser of taggers that were induced, not trained
BATCH = 512  # sentences a call to the core
_HELD_OUT = 10  # one of so many blocks of sentences chooses the order
_BLOCK = 20  # sentences; neighbours share topics, so whole blocks are held out
_BEST_TAGS = Query(TaskKind.DECODE)  # what the core's own batches are for
_Answer = TypeVar("_Answer", Tagged, TagKBest, TagSamples, TagMarginals)
Objective = Literal["map", "mbr"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggerOptions:
    """How to train a tagger. The defaults tag best; :meth:`tnt` is the classic they are measured against."""

    order: int = 3  # of the tags' n-grams
    transitions: TransitionsName = "kneser-ney"
    lexicalize: int = 100  # so many of the most frequent words are seen by the transitions; 0: tags only
    guesser: Literal["log-linear", "suffix", "spelling"] = "log-linear"  # of words that were never seen,
    rare: int = 10  # learned from words seen at most so often
    guess_weight: float = 0.3  # observations that the guess is worth for a word that was seen
    floor: float = 3e-3  # tags less probable than this, relative to the word's best, are left out
    tag_dictionary: bool = False  # a word that was seen has no other tags than it was seen with
    suffix_length: int = 10  # suffix: longest ending
    shapes: bool = False  # suffix: tables for digits, hyphens and capitals, not for capitalisation alone
    theta: float | None = None  # suffix: weight of the shorter ending; None: the tags' standard deviation
    epochs: int = 20  # log-linear: passes over the rare words,
    rate: float = 0.1  # first step of a weight,
    penalty: float = 1.0  # of half the squared weights,
    seed: int = 1  # order of the examples

    @classmethod
    def tnt(cls, order: int = 3, **changes: object) -> TaggerOptions:
        """Return TnT's recipe: deleted interpolation, relative frequencies, suffixes (Brants 2000)."""
        recipe = cls(
            order=order,
            transitions="deleted-interpolation",
            lexicalize=0,
            guesser="suffix",
            guess_weight=0.0,
            floor=0.0,
        )
        return dataclasses.replace(recipe, **changes)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        if not 1 <= self.order <= MAX_ORDER:
            raise ModelError(f"the order is {self.order}, expected 1 to {MAX_ORDER}")
        _check_choice("transition model", self.transitions, TRANSITIONS)
        _check_choice("guesser", self.guesser, (*GUESSERS, INDUCED))
        for name in ("lexicalize", "guess_weight", "suffix_length", "epochs", "rate", "penalty", "seed"):
            if not getattr(self, name) >= 0:
                raise ModelError(f"{name} is {getattr(self, name)}, expected 0 or more")
        if self.rare < 1:
            raise ModelError(f"rare is {self.rare}, expected at least 1")
        if self.theta is not None and not self.theta >= 0:
            raise ModelError(f"theta is {self.theta}, expected 0 or more")
        if not 0 <= self.floor < 1:
            raise ModelError(f"the floor is {self.floor}, expected 0 to below 1")


def _check_choice(kind: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise UnknownSymbolError(kind, name, near_spellings(name, known) or known)


@dataclass(frozen=True, slots=True)
class OrderTrial:
    """What one order was worth on held-out sentences of the training text."""

    order: int
    accuracy: float
    seconds: float  # training and tagging


@dataclass(frozen=True, slots=True, eq=False)
class TaggerModel:
    """What is learned and saved; everything else is made from it."""

    options: TaggerOptions
    tags: tuple[str, ...]
    transitions: NgramModel  # of symbols
    symbols: tuple[tuple[str, int], ...]  # the hidden symbols and how often each was seen
    lexicon: Lexicon | EmissionTable
    guesser: SuffixTable | FeatureTable | SpellingTable


class Tagger:
    """A trained tagger; immutable, and safe to share between threads."""

    def __init__(self, model: TaggerModel, trials: Sequence[OrderTrial] = ()) -> None:
        self.model = model
        self.trials = tuple(trials)  # of order="auto"
        self._tag_of = {symbol: split_symbol(symbol)[0] for symbol, _ in model.symbols}
        self._names = [self._tag_of.get(symbol, "") for symbol in model.transitions.vocabulary]
        self._channel = Channel(model.transitions.vocabulary, _core_channel(model))

    # ------------------------------------------------------------------ make

    @classmethod
    def train(
        cls,
        tagged: Iterable[TaggedSentence],
        order: int | Literal["auto"] = 3,
        *,
        max_order: int = 6,
        on_trial: Callable[[OrderTrial], None] | None = None,
        **options: object,
    ) -> Tagger:
        """Train on sentences of (word, tag) pairs.

        ``options`` are the fields of :class:`TaggerOptions`. ``order="auto"`` tries the orders 2 to
        ``max_order`` on a held-out tenth of the sentences, tells ``on_trial`` of each, and trains the best on
        all.
        """
        if order != "auto":
            return cls.train_with(tagged, TaggerOptions(order=order, **options))  # type: ignore[arg-type]
        chosen = TaggerOptions(order=max_order, **options)  # type: ignore[arg-type]
        return cls.choose_order(tagged, chosen, range(2, max_order + 1), on_trial)

    @classmethod
    def train_with(cls, tagged: Iterable[TaggedSentence], options: TaggerOptions) -> Tagger:
        """Train with these options."""
        return cls(train_model(_checked(tagged), options))

    @classmethod
    def choose_order(
        cls,
        tagged: Iterable[TaggedSentence],
        options: TaggerOptions,
        orders: Iterable[int],
        on_trial: Callable[[OrderTrial], None] | None = None,
    ) -> Tagger:
        """Train with the order that tags held-out sentences best, the lower one among equals."""
        sentences = _checked(tagged)
        kept, held_out = split_held_out(sentences)
        trials = []
        words = train_model(kept, dataclasses.replace(options, order=1))
        for order in orders:
            begin = time.perf_counter()
            tagger = cls(with_order(words, kept, order))
            trial = OrderTrial(order, _accuracy(tagger, held_out), time.perf_counter() - begin)
            trials.append(trial)
            if on_trial is not None:
                on_trial(trial)
        best = max(trials, key=lambda t: (t.accuracy, -t.order))
        return cls(train_model(sentences, dataclasses.replace(options, order=best.order)), trials)

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
        return self._core.knows(word)

    def known_words(self, sentences: Iterable[Sentence]) -> list[bool]:
        """For each word of all sentences in a row, whether it was seen in training."""
        return [bool(known) for known in self._core.known_words(sentence_text(sentences))]

    @property
    def _core(self) -> TagChannel:
        core = self._channel.core
        assert isinstance(core, TagChannel)
        return core

    def candidates(self, words: Sentence) -> Candidates:
        """Return the hidden symbols that each word may have, with ln p(word | symbol)."""
        return self._channel(" ".join(_words(words)))

    def tag(
        self,
        words: Sentence,
        *,
        objective: Objective = "map",
        method: MethodName = "auto",
        budget: Budget | float | None = None,
        require_exact: bool = False,
    ) -> Tagged:
        """Return the best tags: the most probable sequence, or with ``"mbr"`` the fewest expected errors."""
        query = Query(kind_of(objective), method, budget=Budget.of(budget))
        result = self._ask(words, query, Tagged)
        if require_exact and not result.certificate.exact:
            gap = result.certificate.gap
            raise BudgetExceeded(
                f"the budget ended before the proof; the answer may be {gap:.4g} off", result
            )
        return result

    def kbest(self, words: Sentence, k: int, *, method: MethodName = "auto") -> TagKBest:
        """Return the k best tag sequences in order, fewer if there are fewer."""
        return self._ask(words, Query(TaskKind.KBEST, method, count=k), TagKBest)

    def sample(self, words: Sentence, n: int, *, seed: int, method: MethodName = "auto") -> TagSamples:
        """Draw n independent tag sequences from the posterior."""
        return self._ask(words, Query(TaskKind.SAMPLE, method, count=n, seed=seed), TagSamples)

    def marginals(self, words: Sentence) -> TagMarginals:
        """Return each tag's posterior probability at each word."""
        return self._ask(words, Query(TaskKind.MARGINALS), TagMarginals)

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
        records = iter(sentences)
        while batch := [_words(sentence) for sentence in itertools.islice(records, BATCH)]:
            results = answer_lines(
                self.model.transitions,
                self._channel,
                sentence_text(batch),
                query,
                first_record=first_record,
                threads=threads,
            )
            yield from map(self._answer, batch, results)
            first_record += len(batch)

    def _tag_fast(self, sentences: Iterable[Sentence], threads: int) -> Iterator[Tagged | Failure]:
        """Give the best tags by the core's own batches, which skip what a tagger does not need."""
        engine, core = self.model.transitions.engine, self._core
        records = iter(sentences)
        while batch := [_words(sentence) for sentence in itertools.islice(records, BATCH)]:
            rows = tag_words(engine, core, batch, self._names, threads)
            for words, (tags, log_weight, proof, error, position) in zip(batch, rows, strict=True):
                if error is not None:
                    yield Failure(error, position)
                else:
                    yield Tagged(tuple(words), tags, log_weight, Certificate(*proof))

    def _tags(self, symbols: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self._tag_of.__getitem__, symbols))

    def _answer(
        self, sentence: Sequence[str], result: Decoded | KBest | Samples | Marginals | Failure
    ) -> TagAnswer | Failure:
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
                rows = (TagSequence(self._tags(h.words), h.log_weight) for h in result)
                return TagKBest(words, tuple(rows), result.certificate)
            case Samples():
                draws = (TagSample(self._tags(s.words), s.log_weight, s.count) for s in result.samples)
                total, error = result.log_partition, result.log_partition_error
                return TagSamples(
                    words, tuple(draws), result.draws, total, error, result.exact, result.method
                )
            case Marginals():
                slots = (tuple((self._tag_of[s], p) for s, p in slot) for slot in result.slots)
                return TagMarginals(words, tuple(slots), result.log_partition)
        return result


def kind_of(objective: str) -> TaskKind:
    """Return the engine's task for an objective."""
    kinds = {"map": TaskKind.DECODE, "mbr": TaskKind.MBR}
    _check_choice("objective", objective, tuple(kinds))
    return kinds[objective]


def _words(sentence: Sentence) -> Sequence[str]:
    return tokenize(sentence) if isinstance(sentence, str) else sentence


# -------------------------------------------------------------------- training


def _checked(tagged: Iterable[TaggedSentence]) -> list[TaggedSentence]:
    """Return the sentences that have words; raise ModelError for what cannot be learned."""
    sentences = [sentence for sentence in tagged if len(sentence) > 0]
    if not sentences:
        raise ModelError("there is no tagged word to train on")
    for tag in {tag for sentence in sentences for _, tag in sentence}:
        fault = tag_fault(tag)
        if SEPARATOR in tag:
            fault = f"found the tag {tag!r}, expected one without {SEPARATOR}"
        if fault:
            raise ModelError(fault)
    for word in {word for sentence in sentences for word, _ in sentence}:
        if tokenize(word) != [word]:
            raise ModelError(f"the word {word!r} is empty or contains white space")
    return sentences


def split_held_out(
    sentences: Sequence[TaggedSentence],
) -> tuple[list[TaggedSentence], list[TaggedSentence]]:
    """Return nine tenths of the sentences and the tenth that is held out, in whole blocks where possible."""
    block = min(_BLOCK, max(1, len(sentences) // _HELD_OUT))
    is_held_out = [i // block % _HELD_OUT == _HELD_OUT - 1 for i in range(len(sentences))]
    kept = [s for s, out in zip(sentences, is_held_out, strict=True) if not out]
    held_out = [s for s, out in zip(sentences, is_held_out, strict=True) if out]
    if not held_out:
        raise ModelError(
            f"there are {len(sentences)} sentences, expected at least {_HELD_OUT} to choose the order with"
        )
    return kept, held_out


def _accuracy(tagger: Tagger, gold: Sequence[TaggedSentence]) -> float:
    found = tagger.tag_many([w for w, _ in sentence] for sentence in gold)
    right = tokens = 0
    for sentence, result in zip(gold, found, strict=True):
        if isinstance(result, Tagged):
            right += sum(t == tag for t, (_, tag) in zip(result.tags, sentence, strict=True))
        tokens += len(sentence)
    return right / tokens


def train_model(sentences: Sequence[TaggedSentence], options: TaggerOptions) -> TaggerModel:
    """Learn lexicon, guesser and transitions."""
    _check_choice("guesser", options.guesser, GUESSERS)
    tags = tuple(sorted({tag for sentence in sentences for _, tag in sentence}))
    tag_ids = {tag: i for i, tag in enumerate(tags)}
    lexicon = Lexicon.count_words(sentences, tag_ids)
    examples = rare_examples(sentences, tag_ids, options.rare)
    guesser: SuffixTable | FeatureTable
    if options.guesser == "suffix":
        counts = lexicon.tag_counts(len(tags))
        guesser = suffix_table(
            examples, counts / counts.sum(), options.suffix_length, options.shapes, options.theta
        )
    else:
        guesser = feature_table(
            examples,
            len(tags),
            epochs=options.epochs,
            rate=options.rate,
            penalty=options.penalty,
            seed=options.seed,
        )
    hidden = _hidden(sentences, options.lexicalize)
    symbols = Counter(itertools.chain.from_iterable(hidden))
    transitions = train_transitions(hidden, options.order, options.transitions)
    return TaggerModel(options, tags, transitions, tuple(sorted(symbols.items())), lexicon, guesser)


def with_order(model: TaggerModel, sentences: Sequence[TaggedSentence], order: int) -> TaggerModel:
    """Return the model with transitions of another order, trained on the same sentences."""
    options = dataclasses.replace(model.options, order=order)
    hidden = _hidden(sentences, options.lexicalize)
    transitions = train_transitions(hidden, order, options.transitions)
    return dataclasses.replace(model, options=options, transitions=transitions)


def _hidden(sentences: Sequence[TaggedSentence], lexicalize: int) -> list[list[str]]:
    symbol = functools.cache(Symbols(frequent_words(sentences, lexicalize)).symbol)
    return [[symbol(word, tag) for word, tag in sentence] for sentence in sentences]


def _core_channel(model: TaggerModel) -> TagChannel:
    """Return the emissions in the core's form."""
    if isinstance(model.lexicon, EmissionTable):
        return _induced_channel(model, model.lexicon)
    tag_ids = {tag: i for i, tag in enumerate(model.tags)}
    vocabulary = model.transitions.vocabulary
    total = sum(count for _, count in model.symbols)
    rows = []
    for symbol, count in model.symbols:
        tag, word = split_symbol(symbol)
        if tag not in tag_ids:
            raise ModelError(f"the tagger's tables do not fit together: '{tag}' is no tag")
        rows.append((tag_ids[tag], word, vocabulary.id(symbol), float(np.log(count / total))))
    options = model.options
    return TagChannel(
        vocabulary._table,
        list(model.lexicon.words),
        model.lexicon.begin,
        model.lexicon.tag,
        model.lexicon.count,
        rows,
        model.guesser.guesser(),
        options.guess_weight,
        options.floor,
        options.tag_dictionary,
    )


def _induced_channel(model: TaggerModel, emissions: EmissionTable) -> TagChannel:
    """Return emissions that are known as such."""
    vocabulary = model.transitions.vocabulary
    return TagChannel(
        vocabulary._table,
        list(emissions.words),
        emissions.begin,
        emissions.tag,
        emissions.log_prob,
        np.array([vocabulary.id(tag) for tag in model.tags], dtype=np.uint32),
        model.guesser.guesser(),
    )
