"""Training of lexicalised models: states that are a word context and hidden states.

>>> training = LexicalTraining(["the cat sat", "the dog sat"] * 20, LexicalOptions(preset="fast"), seed=1)
>>> [stage.what for stage in training][-1]
'states'

The recipe, each step in C++ (``cpp/hiddenite/hmm/lexical``): cluster the words, train hidden states by
cross-validated EM and log-bilinear transitions, choose the contexts that gain most beside them, train the
hidden states again on what the contexts leave to them, repeat for chains on other clusters, and keep the most
occupied states of the product. The weights of the lexical route are fitted on held-out text: the validation
text, or, without one, every twentieth sentence, which is then counted with the others.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import (
    BilinearOptions,
    HmmEm,
    JointFilter,
    LexicalCounts,
    LexicalHmm,
    LexicalTable,
    LogBilinear,
    ResidualEm,
    SelectionOptions,
    SparseHmm,
    WordTable,
    keep_all,
    read_tokens,
    select_contexts,
    state_visits,
)
from hiddenite.errors import FormatError, ModelError
from hiddenite.files.corpus import Sentence, as_text
from hiddenite.hmmlm.clusters import Clustering
from hiddenite.hmmlm.lexical_pruning import most_visited, pruning_steps
from hiddenite.hmmlm.lexical_route import DISCOUNTS, LexicalRoute
from hiddenite.hmmlm.options import AFTERWARDS, MAX_SEED, HMMOptions, LexicalOptions, Smoothing
from hiddenite.hmmlm.shape import brown_shape, word_classes
from hiddenite.hmmlm.training import BILINEAR_RATE, BILINEAR_WEIGHTS

FOLDS = 8
FIRST_PASSES, MORE_PASSES = 12, 6  # over the states, of log-bilinear transitions
FINAL = Smoothing(cluster=400.0, state=8.0, group=8.0, emission=30.0)
HELD_OUT_EVERY = 20  # sentences, without a validation text
_FITS_AFTERWARDS = 3


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the training, done."""

    number: int  # from 1
    total: int
    what: str
    valid_perplexity: float | None  # of the model so far, on the held-out text


class LexicalTraining:
    """Iterate to run it; then :meth:`model` is the result."""

    def __init__(
        self,
        corpus: bytes | Iterable[Sentence],
        options: LexicalOptions | None = None,
        *,
        seed: int,
        valid: bytes | Iterable[Sentence] | None = None,
        threads: int = 0,
        names: tuple[str, str] = ("<corpus>", "<valid>"),
    ) -> None:
        """Read the texts; words of ``valid`` that the text lacks count as ``<unk>``."""
        if not 0 <= seed <= MAX_SEED:
            raise ModelError(f"the seed is {seed}, expected 0 to 2^64 - 1")
        self.options, self.seed, self._threads = options or LexicalOptions(), seed, threads
        self._text = as_text(corpus)
        self._table = WordTable()
        self._all = read_tokens(self._text, names[0], 1, self._table, grow=True)
        if not len(self._all.tokens):
            raise FormatError(names[0], None, "has no word, expected text to train on")
        if valid is not None:
            self.held_out = as_text(valid)
            self.counted = self._text
        else:
            self.counted, self.held_out = _hold_out(self._text)
        self._tokens = read_tokens(self.counted, names[0], 1, self._table, grow=False)
        self._valid = read_tokens(self.held_out, names[1], 1, self._table, grow=False)
        if not len(self._valid.tokens):
            raise FormatError(names[1], None, "has no word, expected text to fit weights on")
        self._settings = self.options.settings(len(self._all.tokens), len(self._table))
        self._number = 0
        self._model: LexicalHmm | None = None

    # -------------------------------------------------------------------- run

    @property
    def num_stages(self) -> int:
        """Steps from beginning to end, at most."""
        s = self._settings
        return s.chains * (1 + s.epochs + s.rounds + s.residual) + 2

    def __iter__(self) -> Iterator[Stage]:
        if self._model is not None:
            return
        chains: list[SparseHmm] = []
        lexical: LexicalRoute | None = None
        for m in range(self._settings.chains):
            hidden = yield from self._train_hidden(m)
            if lexical is None:
                lexical = self._choose_contexts(hidden.chain)
                yield self._stage("contexts")
            yield from self._train_beside(hidden, lexical)
            chains.append(hidden.chain)
        assert lexical is not None
        self._model, perplexity = self._finish(chains, lexical)
        yield self._stage("states", perplexity)

    def run(self) -> LexicalTraining:
        """Do all steps."""
        for _ in self:
            pass
        return self

    def _stage(self, what: str, perplexity: float | None = None) -> Stage:
        self._number += 1
        return Stage(self._number, self.num_stages, what, perplexity)

    def _train_hidden(self, m: int) -> Generator[Stage, None, _Hidden]:
        """Cluster, then EM, then log-bilinear transitions: hidden states without contexts."""
        s, seed = self._settings, (self.seed + m) % (MAX_SEED + 1)
        clusters = Clustering(
            [self._text], s.clusters, random_start=None if m == 0 else seed, threads=self._threads
        ).run()
        yield self._stage("clusters")
        counts = self._tokens.counts(len(self._table)).tolist()
        classes = word_classes(self._table.words(), clusters.words, clusters.classes, counts)
        number = max(classes) + 1
        shape = brown_shape(classes, number * s.states_per_class)
        options = HMMOptions(
            states=number * s.states_per_class, clusters=number, folds=s.folds, cross_validated=s.folds > 1
        )
        em = HmmEm(self._tokens, shape, options.core(), seed)
        for _ in range(s.epochs):
            em.iterate(self._threads)
            yield self._stage("EM")
        bilinear = BilinearOptions()
        bilinear.rate = BILINEAR_RATE
        model = LogBilinear(em, bilinear, seed)
        chain = em.chain(AFTERWARDS.core(), self._threads)
        for turn in range(s.rounds):
            model.fit(em, MORE_PASSES if turn else FIRST_PASSES, self._threads)
            chain = model.chain(em, AFTERWARDS.core(), BILINEAR_WEIGHTS[0], self._threads)
            if turn + 1 < s.rounds:
                em.iterate_under(chain, self._threads)
            yield self._stage("log-bilinear", _perplexity(chain.token_log_probs(self._valid, self._threads)))
        return _Hidden(ResidualEm(self._tokens, shape), model, chain)

    def _choose_contexts(self, chain: SparseHmm) -> LexicalRoute:
        chosen = SelectionOptions()
        size = len(self._tokens.tokens)
        longer = [math.ceil(size / tokens) if tokens else 0 for tokens in self._settings.tokens_per_context]
        chosen.most, chosen.discounts = [0xFFFFFFFF, *longer], DISCOUNTS
        log_probs = chain.token_log_probs(self._tokens, self._threads)
        tree, listed = select_contexts(self._tokens, len(self._table), log_probs, chosen)
        return LexicalRoute(tree, listed, self._tokens, self._valid)

    def _train_beside(self, hidden: _Hidden, lexical: LexicalRoute) -> Iterator[Stage]:
        """Train the hidden states on what the lexical route leaves to them, while the held-out text gains."""
        least = math.inf
        for _ in range(self._settings.residual):
            lexical.fit_weights(self._filter([hidden.chain], lexical))
            hidden.em.iterate(hidden.chain, *lexical.training_route(), self._threads)
            hidden.em.fit(hidden.model, MORE_PASSES, self._threads)
            chain = hidden.em.chain(hidden.model, FINAL.core(), FINAL.cluster, FINAL.state, self._threads)
            perplexity = _perplexity(self._filter([chain], lexical).log_prob)
            yield self._stage("beside the contexts", perplexity)
            if perplexity >= least:
                return
            hidden.chain, least = chain, perplexity

    def _filter(self, chains: list[SparseHmm], lexical: LexicalRoute) -> JointFilter:
        weights = [1 / len(chains)] * len(chains)
        return JointFilter(chains, weights, self._valid, *lexical.held_out_route(), None, self._threads)

    def _finish(self, chains: list[SparseHmm], lexical: LexicalRoute) -> tuple[LexicalHmm, float]:
        """Keep states; with a slice held out, fit on it and then count it too."""
        lexical.fit_weights(self._filter(chains, lexical))
        weights = [1 / len(chains)] * len(chains)
        begin, places = self._choose_states(chains, weights, lexical)
        lexical.tell_apart(np.diff(begin.astype(np.int64)))

        def made(table: LexicalTable) -> LexicalHmm:
            routes = lexical.context_weights()
            return LexicalHmm(lexical.tree, table, routes, chains, weights, begin, places)

        fitted = made(lexical.table)
        log_probs = fitted.token_log_probs(self._valid, self._threads)
        for _ in range(_FITS_AFTERWARDS):  # hidden states say less once some are left out
            lexical.fit_weights_again(log_probs)
            fitted = made(lexical.table)
            log_probs = fitted.token_log_probs(self._valid, self._threads)
        perplexity = _perplexity(log_probs)
        self.held_out_model = fitted
        if self.counted is not self._text:
            counts = LexicalCounts(lexical.tree, lexical.listed, self._all, DISCOUNTS)
            fitted = made(counts.table())
        return fitted, perplexity

    def _choose_states(
        self, chains: list[SparseHmm], weights: list[float], lexical: LexicalRoute
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
        """Return where the states of each context begin, and their places."""
        most = self._settings.states
        if most is None:
            everything = keep_all(chains, lexical.tree)
            return everything.begin, everything.places
        route = lexical.training_route()
        filtered = JointFilter(chains, weights, self._tokens, *route, lexical.tree, self._threads)
        steps = pruning_steps(most) if self._settings.prunes_again else [most]
        first = filtered.keep(chains, lexical.tree, steps[0])
        begin, places = first.begin, first.places
        routes = lexical.context_weights()
        for fewer in steps[1:]:
            if len(places) <= fewer * len(chains):
                continue
            model = LexicalHmm(lexical.tree, lexical.table, routes, chains, weights, begin, places)
            visits = state_visits(model, self._tokens, self._threads)
            begin, kept = most_visited(begin, visits, fewer)
            places = np.ascontiguousarray(places.reshape(-1, len(chains))[kept].ravel())
        return begin, places

    # ---------------------------------------------------------------- results

    @property
    def words(self) -> list[str]:
        """The vocabulary, special words first."""
        return self._table.words()

    def model(self) -> LexicalHmm:
        """Return the model once all steps are done."""
        if self._model is None:
            raise ModelError(f"{self._number} of {self.num_stages} steps are done; iterate to the end")
        return self._model

    def description(self) -> dict[str, Any]:
        """Return what the model's file says of its training."""
        size = {"sentences": self._all.num_sentences, "tokens": len(self._all.tokens)}
        options = dataclasses.asdict(self.options)
        return {"method": "lexical", "seed": self.seed, "options": options, **size}


@dataclass(slots=True)
class _Hidden:
    """Hidden states in training."""

    em: ResidualEm
    model: LogBilinear
    chain: SparseHmm


def train(
    corpus: bytes | Iterable[Sentence],
    preset: str = "default",
    *,
    states: int | None = None,
    seed: int = 1,
    valid: bytes | Iterable[Sentence] | None = None,
    threads: int = 0,
    on_stage: Callable[[Stage], None] | None = None,
) -> LexicalTraining:
    """Do all steps of a training, and report each."""
    options = LexicalOptions(preset=preset, states=states)
    training = LexicalTraining(corpus, options, seed=seed, valid=valid, threads=threads)
    for stage in training:
        if on_stage is not None:
            on_stage(stage)
    return training


def _hold_out(text: bytes) -> tuple[bytes, bytes]:
    """Return a text without every twentieth line, and those lines; one line is on both sides."""
    lines = [line + b"\n" for line in text.removesuffix(b"\n").split(b"\n")]
    held = lines[HELD_OUT_EVERY - 1 :: HELD_OUT_EVERY] or lines
    kept = [line for i, line in enumerate(lines) if i % HELD_OUT_EVERY != HELD_OUT_EVERY - 1]
    return b"".join(kept), b"".join(held)


def _perplexity(log_probs: NDArray[np.float64]) -> float:
    return math.exp(-float(np.mean(log_probs)))
