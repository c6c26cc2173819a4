"""What an induction has come to: the chains, their history, and all that can be asked of them.

The answer is that of the best chain, the one of the highest mean log joint over the kept sweeps: tags by the
maximum of each token's marginal, ambiguity classes, parameters, and a tagger. Consensus combines the chains;
its parameters are those of the best one.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import InductionChain
from hiddenite.errors import ModelError
from hiddenite.induction.chains import Parameters, make_answer, merged_tags, text_to_learn
from hiddenite.induction.consensus import Consensus, find_consensus, good_chains, separate_kinds
from hiddenite.induction.diagnostics import Diagnostics, effective_sample_size, r_hat
from hiddenite.induction.export import ChainCounts, chain_counts, make_tagger
from hiddenite.induction.lexicon import AmbiguityClass, ClassTally
from hiddenite.induction.options import InduceOptions, Stage
from hiddenite.induction.text import Text
from hiddenite.tag.tagger import Tagger


@dataclass(frozen=True, slots=True)
class Sweep:
    """One sweep of all chains, done; numbers without a chain are those of the best."""

    index: int  # from 1, in its stage
    total: int  # of its stage
    stage: Stage  # start: the one-tag run before; its log joint is that of another model
    log_joint: float  # ln p(words, tags, tables, classes | parameters)
    moved: float  # share of the tokens whose tag changed
    parameters: Parameters  # (a, b) by level
    log_joints: tuple[float, ...]  # by chain
    accepted: float  # share of proposals
    effective_size: float  # particles: mean effective sample size of a block
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Sweeps:
    """One sweep of all chains; arrays are by chain."""

    stage: Stage
    log_joint: NDArray[np.float64]
    moved: NDArray[np.float64]
    accepted: NDArray[np.float64]
    effective_size: NDArray[np.float64]
    seconds: float
    parameters: list[Parameters]


class InductionState:
    """Chains over a text, and what they say."""

    _chains: list[InductionChain]
    _threads: int

    def __init__(self, text: Text, options: InduceOptions) -> None:
        self.text = text
        self.options = options
        self.names = tuple(f"T{i}" for i in range(options.tags))
        self.history: list[Sweeps] = []
        self.stage: Stage = "start" if options.num_sweeps("start") else "main"
        self._learnt = text_to_learn(text, options)  # what chains see
        self._word_counts = self._learnt.counts()
        self._kept_totals = np.zeros(options.num_chains)  # of the log joint
        self._class_tallies = [ClassTally() for _ in range(options.num_chains)]
        self._consensus: tuple[int, Consensus] | None = None  # after so many sweeps

    def __repr__(self) -> str:
        done = f"{self.num_done(self.stage)} of {self.num_sweeps(self.stage)} sweeps"
        return f"<{type(self).__name__} model={self.options.model}, {self.options.tags} tags, {done}>"

    @property
    def num_chains(self) -> int:
        """Independent chains."""
        return self.options.num_chains

    def num_sweeps(self, stage: Stage) -> int:
        """Sweeps that a stage has."""
        return self.options.num_sweeps(stage)

    def num_done(self, stage: Stage) -> int:
        """Sweeps of a stage that are done."""
        num_start = min(self.num_sweeps("start"), len(self.history))
        return num_start if stage == "start" else len(self.history) - num_start

    def last_sweep(self) -> Sweep:
        """Return the last sweep as a record."""
        if not self.history:
            raise ModelError("no sweep is done; iterate over the induction")
        last, best = self.history[-1], self.best_chain
        return Sweep(
            self.num_done(last.stage),
            self.num_sweeps(last.stage),
            last.stage,
            float(last.log_joint[best]),
            float(last.moved[best]),
            last.parameters[best],
            tuple(last.log_joint.tolist()),
            float(last.accepted[best]),
            float(last.effective_size[best]),
            last.seconds,
        )

    def log_joints(self, stage: Stage = "main") -> NDArray[np.float64]:
        """Return [chain, sweep]: the log joint after each sweep of a stage."""
        rows = [sweeps.log_joint for sweeps in self.history if sweeps.stage == stage]
        return np.array(rows).reshape(-1, self.num_chains).T

    def _kept(self) -> NDArray[np.float64]:
        """Return the log joints of the kept sweeps; of the later half if none is kept yet."""
        stage = self.history[-1].stage if self.history else self.stage
        values = self.log_joints(stage)
        assert self.options.burn_in is not None
        kept = values[:, self.options.burn_in :] if stage == "main" else values[:, :0]
        return kept if kept.shape[1] else values[:, values.shape[1] // 2 :]

    @property
    def best_chain(self) -> int:
        """The chain of the highest mean log joint over the kept sweeps; in the last one if none is kept."""
        if self._class_tallies[0].samples > 0:
            return int(np.argmax(self._kept_totals))
        return int(np.argmax(self.history[-1].log_joint)) if self.history else 0

    def diagnostics(self) -> Diagnostics:
        """Return R-hat and effective sample size of the log joint over the kept sweeps."""
        kept = self._kept()
        means = tuple(kept.mean(axis=1).tolist()) if kept.shape[1] else ()
        return Diagnostics(
            self.num_chains,
            kept.shape[1],
            r_hat(kept),
            effective_sample_size(kept),
            self.best_chain,
            means,
        )

    def consensus(self) -> Consensus:
        """Return what the chains agree on; raises ModelError if they are not to be combined."""
        if not self.options.is_consensus:
            raise ModelError(f"the model is {self.options.model}, whose chains are not combined")
        if self._consensus is None or self._consensus[0] != len(self.history):
            labels = np.array([self._chain_tags(n)[0] for n in range(self.num_chains)])
            _, first = np.unique(self._learnt.tokens, return_index=True)  # all tokens of a word have one tag
            log_joints = self._kept().mean(axis=1) if self.history else np.zeros(self.num_chains)
            found = find_consensus(
                self._learnt,
                labels[:, first],
                self.options.tags,
                good_chains(log_joints, self.options.tolerance),
                np.random.default_rng([self.options.seed, self.num_chains]),  # chains have the numbers below
                threads=self._threads,
            )
            if len(found.chains) == 1:  # there is no vote
                found = replace(found, probabilities=self._kept_shares(found.chains[0]))
            if self.options.kinds == "separate":
                found = separate_kinds(found, self._learnt.kinds(), self._learnt)
            self._consensus = (len(self.history), found)
        return self._consensus[1]

    def _chain_tags(self, number: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return a chain's tags, and the share of its kept samples that have them; now, if none is kept."""
        chain = self._chains[number]
        if self.stage == "main" and self._class_tallies[number].samples > 0:
            return chain.max_marginal()
        tags = np.asarray(chain.tags())
        if self.stage == "start":
            tags = merged_tags(self._learnt, self.options, tags)
        return tags, np.ones(len(tags), np.float32)

    def token_tags(self) -> NDArray[np.int32]:
        """Return each token's tag: of the consensus, or the most frequent one of the best chain's samples."""
        if self.options.is_consensus:
            return self.consensus().classes[self._learnt.tokens]
        return self._chain_tags(self.best_chain)[0]

    def confidence(self) -> NDArray[np.float64]:
        """Return how probable each token's tag is.

        By the votes of the chains; of a single one, the share of its kept samples.
        """
        if self.options.is_consensus:
            return self.consensus().confidence[self._learnt.tokens]
        return self._chain_tags(self.best_chain)[1].astype(np.float64)

    def tag_confidence(self) -> NDArray[np.float64]:
        """Return the mean confidence of each tag's tokens; NaN of a tag without token."""
        tags = self.token_tags()
        totals = np.bincount(tags, self.confidence(), self.options.tags)
        sizes = np.bincount(tags, minlength=self.options.tags)
        return np.asarray(np.divide(totals, sizes, where=sizes > 0, out=np.full(len(sizes), np.nan)))

    def word_probabilities(self) -> NDArray[np.float64]:
        """Return [word, tag]: how probable each tag is, mean over the word's tokens."""
        if self.options.is_consensus:
            text, learnt = self.text, self._learnt
            shares = np.zeros((len(text.words), self.options.tags))
            _add_rows(shares, text.tokens, self.consensus().probabilities, learnt.tokens)
            return np.asarray(shares / shares.sum(axis=1, keepdims=True))
        return self._kept_shares(self.best_chain)

    def _kept_shares(self, number: int) -> NDArray[np.float64]:
        """Return [learnt word, tag]: the share of a chain's kept samples, of its state if it has none."""
        learnt = self._learnt
        kept = np.asarray(self._chains[number].state()["kept"])
        shares = np.zeros((len(learnt.words), self.options.tags))
        if self.stage == "main" and kept.size:
            is_by_word = self.options.family == "one-tag"
            rows = np.arange(len(learnt.words)) if is_by_word else learnt.tokens
            np.add.at(shares, rows, kept.reshape(-1, self.options.tags))
        else:
            np.add.at(shares, (learnt.tokens, self._chain_tags(number)[0]), 1.0)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _answering_chain(self, text: Text) -> InductionChain:
        """Return the chain whose state answers: the best one, or one that has the tags of the consensus."""
        best = self._chains[self.best_chain]
        if not self.options.is_consensus:
            return best
        return make_answer(text, self.options, self.token_tags(), dict(best.hyperparameters()))

    def tags(self) -> list[tuple[str, ...]]:
        """Return the tags sentence by sentence: the maximum of each token's marginal."""
        return self.text.split([self.names[t] for t in self.token_tags().tolist()])

    def tagged(self) -> list[list[tuple[str, str]]]:
        """Return the sentences with their tags."""
        pairs = zip(self.text.sentences(), self.tags(), strict=True)
        return [list(zip(words, tags, strict=True)) for words, tags in pairs]

    def lexicon(self) -> list[AmbiguityClass]:
        """Return the ambiguity classes, those of most words first.

        Of a model without lexicon they are the tags in use. Posterior means are over the best chain's kept
        samples, or of the present state if none is kept.
        """
        chain, tally = self._answering_chain(self.text), self._class_tallies[self.best_chain]
        counts = self.text.counts()
        if tally.samples == 0 or self.stage == "start" or self.options.is_consensus:
            tally = ClassTally()
            tally.add(*chain.classes(), counts)
        return tally.lexicon(chain.classes(), counts, self.text.words, self.names)

    def classes_of_words(self) -> dict[str, tuple[str, ...]]:
        """Return each word's ambiguity class in the best chain's present state."""
        begin, tag = (x.tolist() for x in self._answering_chain(self.text).classes())
        bounds = itertools.pairwise(begin)
        return {
            word: tuple(self.names[t] for t in tag[a:b])
            for word, (a, b) in zip(self.text.words, bounds, strict=True)
        }

    def parameters(self) -> Parameters:
        """Return the best chain's (a, b) by level."""
        return dict(self._chains[self.best_chain].hyperparameters())

    def counts(self) -> ChainCounts:
        """Return what the best chain's present state counts, or one with the tags of the consensus."""
        return chain_counts(self._answering_chain(self._composed()), self.options)

    def export(self) -> Tagger:
        """Return a tagger with the predictive probabilities of the counts."""
        if self.stage != "main":
            raise ModelError("the run has not reached its main stage; continue to iterate")
        size = {"sentences": len(self.text.begin) - 1, "tokens": len(self.text.tokens)}
        about = {"induced": self.options.to_dict(), **size}
        text = self._composed()
        return make_tagger(
            self.counts(),
            self.names,
            text.words,
            text.characters(),
            about,
            normal_form="NFC" if self.options.is_consensus else "none",
            capitals=self._learnt.share_of_other(text),
        )

    def _composed(self) -> Text:
        """Return the text whose words a tagger knows."""
        return self.text.compose() if self.options.is_consensus else self.text


def _add_rows(
    sums: NDArray[np.float64], to: NDArray[np.int32], rows: NDArray[Any], places: NDArray[np.int32]
) -> None:
    """Add ``rows[places[i]]`` to ``sums[to[i]]`` for all i, each pair at once."""
    pairs, counts = np.unique(to.astype(np.int64) * len(rows) + places, return_counts=True)
    np.add.at(sums, pairs // len(rows), counts[:, None] * rows[pairs % len(rows)])
