"""What several ``induce`` commands share: sections of the help, formats, the CoNLL-U column."""

from __future__ import annotations

from dataclasses import dataclass

from hiddenite.cli.progress import progress
from hiddenite.induction.induction import Induction
from hiddenite.options import Options, option
from hiddenite.tag.formats import COLUMNS, FORMATS

MODEL, FILES = "Model and sampler", "Files"
TAGGED_FORMATS = tuple(name for name in FORMATS if name != "plain")


@dataclass(frozen=True, kw_only=True)
class Column(Options):
    """A command that reads CoNLL-U."""

    column: str = option("xpos", "CoNLL-U column of the tags.", choices=COLUMNS, section=FILES)


def read_run(folder: str, quiet: bool) -> Induction:
    """Return the run that a folder keeps, its chains combined, which takes a while on a large text."""
    with progress("reading the run", None, quiet) as report:
        run = Induction.load(folder)
        if run.options.is_consensus and run.num_chains > 1:
            report(0, stage="combining the chains")
            run.consensus()
    return run
