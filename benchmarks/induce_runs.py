"""Inductions as benchmarks take them: run once, kept under ``build/bench/induce``, gone on with after a stop.

A run in progress is a checkpoint; a finished one is a record of its scores and log joints, with its tagger
beside it. Both are named by what was asked, so another question is another run.
"""

from __future__ import annotations

import contextlib
import functools
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sms import BUILD, DATA

from hiddenite.induction import Induction, compare
from hiddenite.induction.options import InduceOptions
from hiddenite.induction.text import Text
from hiddenite.tag import Tagger, read_tagged

RUNS = BUILD / "induce"
Tagged = list[tuple[str, str]]
FILES: dict[str, tuple[str, ...]] = {
    "wsj": ("wsj-sample.tsv",),
    "brown": ("brown.tsv",),
    "ewt": ("en_ewt-ud-train.conllu",),
    "ewt-dev": ("en_ewt-ud-dev.conllu",),
    "danish": ("ud/da_pos-all.tsv",),
    "dutch": ("ud/nl_alpino-all.tsv",),
    "portuguese": ("ud/pt_floresta-all.tsv",),
    "spanish": ("ud/conll07_esp-train.tsv", "ud/conll07_esp-test.tsv"),
    "swedish": ("ud/sv_upos-train.tsv", "ud/sv_upos-test.tsv"),
    "basque": ("ud/eu_upos-train.tsv", "ud/eu_upos-test.tsv"),
    "arabic": ("ud/ar_padt-train.tsv", "ud/ar_padt-test.tsv"),
    "turkish": ("ud/tr_upos-train.tsv", "ud/tr_upos-test.tsv"),
    "yoruba": ("ud/mas_yor-train.tsv", "ud/mas_yor-test.tsv"),
    "yoruba-20k": ("ud/mas_yor-train.tsv",),
    "tweets-20k": ("ud/tweet_upos-train.tsv",),
    "faroese": ("ud/fo_xpos-train.tsv", "ud/fo_xpos-test.tsv"),
    "german-20k": ("pud/de_pud.conllu",),
}
NUM_TAGS = {  # as many as the gold standard has; Brown as many as the papers' WSJ
    "wsj": 45,
    "brown": 45,
    "ewt": 49,
    "danish": 25,
    "dutch": 17,
    "portuguese": 38,
    "spanish": 47,
    "swedish": 16,
    "basque": 16,
    "arabic": 17,
    "turkish": 14,
    "yoruba": 17,
    "yoruba-20k": 16,
    "tweets-20k": 17,
    "faroese": 127,
    "german-20k": 39,
}


@functools.cache
def sentences(corpus: str) -> list[Tagged]:
    """Return the tagged sentences of a corpus."""
    paths = [str(DATA / "tagged" / name) for name in FILES[corpus]]
    records = (record for path in paths for record in read_tagged(path, column="xpos"))
    return [record.pairs() for record in records if record.words]


@functools.cache
def text(corpus: str, limit: int | None = None) -> Text:
    """Return the words of a corpus, or of its first sentences."""
    return Text.of([word for word, _ in sentence] for sentence in sentences(corpus)[:limit])


@dataclass(frozen=True)
class Question:
    """A run: which text, which model, which seed."""

    corpus: str
    model: str
    seed: int = 1
    iterations: int = 200
    sampler: str = ""
    variant: str = ""
    limit: int | None = None  # sentences
    more: tuple[tuple[str, Any], ...] = field(default=())  # further options

    def options(self) -> InduceOptions:
        """Return the options of the run."""
        return InduceOptions(
            tags=NUM_TAGS[self.corpus],
            model=self.model,
            sampler=self.sampler,
            variant=self.variant,
            iterations=self.iterations,
            seed=self.seed,
            **dict(self.more),
        )

    @property
    def name(self) -> str:
        """Return what tells it from other runs."""
        parts = [self.corpus, self.model, self.sampler, self.variant, f"n{self.iterations}", f"s{self.seed}"]
        parts += [f"first{self.limit}"] * (self.limit is not None) + [f"{k}{v}" for k, v in self.more]
        return "-".join(part for part in parts if part)


@dataclass(frozen=True)
class Finished:
    """What is kept of a run."""

    many_to_one: float
    one_to_one: float
    v_measure: float
    log_joint: float  # mean over the kept sweeps
    log_joints: list[float]  # of the best chain, after each sweep
    seconds: list[float]  # of each sweep, those of a start included
    mapping: dict[str, str]  # induced tag to gold tag


def finished(question: Question) -> Finished:
    """Return the run's record, running it or what is left of it if need be."""
    record = RUNS / f"{question.name}.json"
    if record.exists():
        return Finished(**json.loads(record.read_text(encoding="utf-8")))
    RUNS.mkdir(parents=True, exist_ok=True)
    folder = RUNS / question.name
    run = Induction(text(question.corpus, question.limit), question.options(), checkpoint=folder)
    _announce(run, question)
    found = _finish(run, question)
    run.export().save(RUNS / f"{question.name}.tagger")
    record.write_text(json.dumps(vars(found)), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    return found


def _announce(run: Induction, question: Question) -> None:
    done = len(run.history)
    print(f"   running {question.name}" + f", {done} sweeps are done" * (done > 0), flush=True)
    with contextlib.closing(iter(run)) as sweeps:
        for sweep in sweeps:
            if sweep.stage == "main" and sweep.index % 50 == 0:
                print(
                    f"      {sweep.index}: log joint {sweep.log_joint:.0f}, {sweep.seconds:.2f} s", flush=True
                )


def _finish(run: Induction, question: Question) -> Finished:
    gold = [[tag for _, tag in sentence] for sentence in sentences(question.corpus)[: question.limit]]
    found = compare(gold, run.tags())
    return Finished(
        found.many_to_one,
        found.one_to_one,
        found.v_measure,
        max(run.diagnostics().mean_log_joint),
        run.log_joints()[run.best_chain].tolist(),
        [sweeps.seconds for sweeps in run.history],
        found.mapping(),
    )


def tagger(question: Question) -> Tagger:
    """Return the tagger of a finished run."""
    finished(question)
    return Tagger.load(RUNS / f"{question.name}.tagger")


def tag_all(model: Tagger, gold: Sequence[Tagged]) -> list[list[str]]:
    """Return the tagger's tags of sentences."""
    answers = model.tag_many([word for word, _ in sentence] for sentence in gold)
    return [list(answer.tags) for answer in answers]  # type: ignore[union-attr]
