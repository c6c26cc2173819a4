"""Chains one by one: made, swept, and swept elsewhere from a state that is sent there and back.

A chain's state holds its random numbers too, so whoever sweeps it, and whoever takes over from one who was
lost, comes to the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import InductionChain, InductionOptions, SweepRecord, merge_tags
from hiddenite.induction.lexicon import ClassTally
from hiddenite.induction.options import InduceOptions, Stage
from hiddenite.induction.text import Text

NUMBERS = ("log_joint", "moved", "accepted", "effective_size")  # that are noted of a sweep
Parameters = dict[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class ChainSweep:
    """What is noted of one chain's sweep."""

    numbers: dict[str, float]
    parameters: Parameters


@dataclass(frozen=True, slots=True)
class ChainStep:
    """A question to an executor: so many sweeps of a stage, ``first`` being done."""

    stage: Stage
    first: int
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class ChainAnswer:
    """What became of a chain."""

    swept: list[ChainSweep]
    tally: ClassTally  # of these sweeps
    state: dict[str, Any]


def text_to_learn(text: Text, options: InduceOptions) -> Text:
    """Return the text as the chains see it: token by token the same one, perhaps with fewer words."""
    if not options.is_consensus:
        return text
    return text.compose().fold_case() if options.folds_case else text.compose()


def make_chain(
    text: Text, options: InduceOptions, stage: Stage, tags: NDArray[np.int32], number: int
) -> InductionChain:
    """Return a chain of a stage that starts from ``tags``."""
    core = options.core_start() if stage == "start" else options.core()
    return _chain(text, core, tags, options.seed, 2 * number + (0 if stage == "start" else 1))


def make_answer(
    text: Text, options: InduceOptions, tags: NDArray[np.int32], parameters: Parameters
) -> InductionChain:
    """Return a chain, not to be swept, that has the tags of the consensus; a word may have several."""
    chain = _chain(text, options.core_answer(), tags, options.seed, 2 * options.num_chains + 1)
    chain.set_hyperparameters(parameters)
    return chain


def _chain(
    text: Text, core: InductionOptions, tags: NDArray[np.int32], seed: int, stream: int
) -> InductionChain:
    begin, characters = text.spelling()
    return InductionChain(
        core,
        words=text.tokens,
        offsets=text.bounds(),
        spelling_offsets=begin,
        spelling=characters,
        num_characters=len(text.characters()),
        tags=tags,
        seed=seed,
        stream=stream,
    )


def merged_tags(text: Text, options: InduceOptions, tags: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the tags of a first stage, merged to as many as the main one has."""
    wide, target = options.num_tags("start"), options.num_tags("main")
    if wide == target:
        return tags
    return np.asarray(merge_tags(tags, text.bounds(), wide, target)[0])[tags]


def is_kept(options: InduceOptions, stage: Stage, number: int) -> bool:
    """Tell whether the sample after sweep ``number`` of a stage, from 1, is kept."""
    assert options.burn_in is not None
    return stage == "main" and number > options.burn_in


def sweep_chain(
    chain: InductionChain, tally: ClassTally | None, word_counts: NDArray[np.int64]
) -> ChainSweep:
    """Sweep a chain once more; with a tally, keep the sample."""
    return note_sweep(chain, chain.sweep(), tally, word_counts)


def note_sweep(
    chain: InductionChain, record: SweepRecord, tally: ClassTally | None, word_counts: NDArray[np.int64]
) -> ChainSweep:
    """Take note of a sweep; with a tally, keep the sample. From then on it cannot be taken back."""
    numbers = {name: float(getattr(record, name)) for name in NUMBERS}
    parameters = dict(chain.hyperparameters())
    if tally is not None:
        chain.keep()
        tally.add(*chain.classes(), word_counts)
    return ChainSweep(numbers, parameters)


def chain_member(
    text: Text, options: InduceOptions
) -> Callable[[ChainStep, tuple[int, dict[str, Any]]], ChainAnswer]:
    """Return what sweeps a chain from the state that it is given."""
    text = text_to_learn(text, options)
    word_counts = text.counts()

    def answer(step: ChainStep, task: tuple[int, dict[str, Any]]) -> ChainAnswer:
        number, state = task
        chain = make_chain(text, options, step.stage, np.zeros(len(text.tokens), np.int32), number)
        chain.restore(state)
        tally = ClassTally()
        swept = []
        for n in range(step.first + 1, step.first + step.count + 1):
            keep = is_kept(options, step.stage, n)
            swept.append(sweep_chain(chain, tally if keep else None, word_counts))
        return ChainAnswer(swept, tally, dict(chain.state()))

    return answer
