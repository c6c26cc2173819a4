"""What several ``induce`` commands share: sections of the help, formats, the CoNLL-U column."""

from __future__ import annotations

from dataclasses import dataclass

from hiddenite.options import Options, option
from hiddenite.tag.formats import COLUMNS, FORMATS

MODEL, FILES = "Model and sampler", "Files"
TAGGED_FORMATS = tuple(name for name in FORMATS if name != "plain")


@dataclass(frozen=True, kw_only=True)
class Column(Options):
    """A command that reads CoNLL-U."""

    column: str = option("xpos", "CoNLL-U column of the tags.", choices=COLUMNS, section=FILES)
