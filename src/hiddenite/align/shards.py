"""Training over shards: sentences shared out, counts put together.

An executor (:mod:`hiddenite.executor`) answers steps. EM asks for expected counts
of a range of sentences. They are whole units, so their sum is that of one machine whatever the shards, and
every member makes the same new parameters from it. Gibbs sampling asks for a chain's sweep over a range of
sentences, given all links as they were before the sweep. With one shard that is the sweep itself, and members
take a chain each. With more, the shards of a chain do not see what the others draw at the same time: another
result, the same for every executor, and near to Gibbs sampling where a sweep changes little of the counts.

Members depend on nothing but text, options and question: one that is lost can be replaced at any time. Each
holds the whole text and its word pairs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hiddenite._core import AlignmentEm, AlignmentModel, AlignmentTrainer, GibbsDirection
from hiddenite.align.bitext import Bitext
from hiddenite.align.options import AlignerOptions
from hiddenite.arrays import np
from hiddenite.executor import Executor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = tuple[NDArray[np.uint64], NDArray[np.uint64]]  # forward and reverse


@dataclass(frozen=True, slots=True)
class Shard:
    """The sentences from ``begin`` to before ``end``."""

    number: int
    begin: int
    end: int


def cut(num_sentences: int, count: int) -> list[Shard]:
    """Share sentences out, about equally many to each shard; none is empty if there is a sentence."""
    count = max(1, min(count, num_sentences))
    bounds = [num_sentences * n // count for n in range(count + 1)]
    return [Shard(n, bounds[n], bounds[n + 1]) for n in range(count)]


# ------------------------------------------------------------------------- EM


@dataclass(frozen=True, slots=True)
class EmStep:
    """An iteration: expected counts under the parameters that the last one's counts give."""

    number: int
    hmm: bool
    before: Counts | None  # None: the parameters of the beginning
    before_hmm: bool = False


def make_em(bitext: Bitext, options: AlignerOptions) -> AlignmentEm:
    """Return the core's EM over a text."""
    bitext = bitext.normalized() if options.normalize else bitext
    return AlignmentEm(bitext.source, bitext.target, bitext.source_name, bitext.target_name, options.core())


def em_member(
    bitext: Bitext, options: AlignerOptions
) -> Callable[[EmStep, Shard], tuple[float, NDArray[np.uint64], NDArray[np.uint64]]]:
    """Return what answers with a shard's share of the fit and its counts."""
    em = make_em(bitext, options)
    ready = -1

    def answer(step: EmStep, shard: Shard) -> tuple[float, NDArray[np.uint64], NDArray[np.uint64]]:
        nonlocal ready
        if step.before is not None and ready != step.number:
            set_counts(em, step.before)
            em.maximise(step.before_hmm)
        ready = step.number
        fit = em.expect(step.hmm, shard.begin, shard.end, 1)
        return fit, em.counts(0), em.counts(1)

    return answer


def set_counts(em: AlignmentEm, counts: Counts) -> None:
    """Give both directions' counts to the core."""
    for d, array in enumerate(counts):
        em.set_counts(d, array)


def em_step(executor: Executor, step: EmStep, shards: Sequence[Shard]) -> tuple[float, Counts]:
    """Return the fit and all counts of one iteration."""
    answers = executor.step(step, shards)
    forward = functools.reduce(np.add, (answer[1] for answer in answers))
    reverse = functools.reduce(np.add, (answer[2] for answer in answers))
    return sum(answer[0] for answer in answers), (forward, reverse)


# ---------------------------------------------------------------------- Gibbs


@dataclass(frozen=True, slots=True)
class GibbsStep:
    """A sweep: all links before it."""

    done: int  # sweeps before
    links: list[list[NDArray[np.uint32]]]  # [lane][direction]


@dataclass(frozen=True, slots=True)
class Swept:
    """What a shard's sweep has drawn and added up, of one direction."""

    links: NDArray[np.uint32]  # of its tokens
    cell_sums: NDArray[Any]  # of its cells; none before sweeps are collected
    jump_sums: list[NDArray[np.float64]]  # of the whole text, from the first shard only
    fertility_sums: NDArray[np.float32]


def make_trainer(
    bitext: Bitext,
    options: AlignerOptions,
    seed: int,
    earlier: AlignmentModel | None,
    lanes: int | None = None,
) -> AlignmentTrainer:
    """Return the core's chains over a text; so many lanes run beside each other, all chains if None."""
    assert options.chains is not None
    bitext = bitext.normalized() if options.normalize else bitext
    return AlignmentTrainer(
        bitext.source,
        bitext.target,
        bitext.source_name,
        bitext.target_name,
        options.core(),
        options.string_prior,
        seed,
        lanes or options.chains,
        earlier,
    )


def lanes_of(chains: int, threads: int) -> int:
    """Return how many chains run at once: each takes memory, so one unless threads ask for more."""
    return max(n for n in range(1, chains + 1) if chains % n == 0 and n <= max(threads, 1))


def gibbs_member(
    bitext: Bitext, options: AlignerOptions, seed: int, earlier: AlignmentModel | None = None
) -> Callable[[GibbsStep, tuple[int, Shard]], tuple[float, list[Swept]]]:
    """Return what sweeps a chain over a shard."""
    trainer = make_trainer(bitext, options, seed, earlier)
    layout = Layout(trainer)

    def answer(step: GibbsStep, task: tuple[int, Shard]) -> tuple[float, list[Swept]]:
        lane, shard = task
        collects = step.done > first_collected(options)
        zeros = np.zeros(layout.num_cells * layout.width if collects else 0, np.uint8)
        nothing = [np.zeros(0)] * 3
        before = [
            GibbsDirection(links, zeros, nothing, np.zeros(0, np.float32)) for links in step.links[lane]
        ]
        trainer.restore(lane, step.done, *before)
        fit = trainer.sweep_shard(lane, shard.begin, shard.end, shard.number)
        return fit, [layout.swept(trainer.direction(lane, d), d, shard) for d in (0, 1)]

    return answer


def first_collected(options: AlignerOptions) -> int:
    """Return the number of sweeps before the first whose probabilities are added up."""
    counts = options.model1_sweeps, options.hmm_sweeps, options.fertility_sweeps
    model1, hmm, fertility = (count or 0 for count in counts)
    return model1 + hmm + fertility // 2


class Layout:
    """Where the tokens and cells of a sentence are in a chain's arrays."""

    def __init__(self, trainer: AlignmentTrainer) -> None:
        source, target = trainer.tokens_before
        self._tokens = (target, source)  # [direction]: those that are generated
        self._cells = trainer.cells_before
        self.num_cells = int(self._cells[-1])
        self.width = trainer.cell_width
        self._kind: type[np.uint8] | type[np.uint16] = np.uint8 if self.width == 1 else np.uint16

    def tokens(self, d: int, shard: Shard) -> slice:
        """Return a shard's tokens of a direction."""
        return slice(int(self._tokens[d][shard.begin]), int(self._tokens[d][shard.end]))

    def cells(self, shard: Shard) -> slice:
        """Return a shard's cells."""
        return slice(int(self._cells[shard.begin]), int(self._cells[shard.end]))

    def swept(self, direction: GibbsDirection, d: int, shard: Shard) -> Swept:
        """Return a shard's part of a chain's direction after its sweep."""
        first = shard.number == 0
        return Swept(
            direction.links[self.tokens(d, shard)],
            direction.cell_sums.view(self._kind)[self.cells(shard)],
            list(direction.jump_sums) if first else [],
            direction.fertility_sums if first else np.zeros(0, np.float32),
        )

    def merged(
        self, before: GibbsDirection, d: int, shards: Sequence[Shard], swept: Sequence[Swept]
    ) -> GibbsDirection:
        """Return a chain's direction after all shards' sweep."""
        links = before.links
        cell_sums: NDArray[Any] = before.cell_sums.view(self._kind)
        if len(swept[0].cell_sums) and not len(cell_sums):
            cell_sums = np.zeros(self.num_cells, self._kind)
        for shard, one in zip(shards, swept, strict=True):
            links[self.tokens(d, shard)] = one.links
            if len(one.cell_sums):
                cell_sums[self.cells(shard)] += one.cell_sums
        jumps = [_sum(old, new) for old, new in zip(before.jump_sums, swept[0].jump_sums, strict=True)]
        fertilities = _sum(before.fertility_sums, swept[0].fertility_sums)
        return GibbsDirection(links, cell_sums.view(np.uint8), jumps, fertilities)


def _sum(old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    """Add up two arrays, each of which may be empty still."""
    if not len(old) or not len(new):
        return old if len(old) else new
    return np.asarray(old + new)


def sweep_step(executor: Executor, trainer: AlignmentTrainer, shards: Sequence[Shard]) -> float:
    """Sweep all chains over all shards, bring the trainer there, and return the mean fit."""
    done, chains = trainer.num_sweeps_done, range(trainer.num_lanes)
    before = [[trainer.direction(chain, d) for d in (0, 1)] for chain in chains]
    links = [[direction.links for direction in directions] for directions in before]
    tasks = [(chain, shard) for chain in chains for shard in shards]
    answers = executor.step(GibbsStep(done, links), tasks)
    layout = Layout(trainer)
    for chain in chains:
        mine = answers[chain * len(shards) : (chain + 1) * len(shards)]
        after = [layout.merged(before[chain][d], d, shards, [swept[d] for _, swept in mine]) for d in (0, 1)]
        trainer.restore(chain, done + 1, *after)
    return float(sum(fit for fit, _ in answers)) / len(chains)
