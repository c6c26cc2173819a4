"""hiddenite induce label: names given to induced classes, in tagged text.

Whether the mapping fits is known at the end of the text, which may be standard input; what is to be written
is held until then, on the disk if it is long.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import cast

from hiddenite.cli.common import Output, say
from hiddenite.cli.induce_options import FILES, TAGGED_FORMATS, Column
from hiddenite.errors import FormatError
from hiddenite.files.corpus import input_name
from hiddenite.files.output import atomic_output
from hiddenite.induction.naming import ClassNames
from hiddenite.options import MISSING, argument, option
from hiddenite.tag.formats import NOT_ANNOTATED, FormatName, read_tagged, untagged, write_record

_TARGETS = ("conllu", "tsv", "plain")
_HELD_BYTES = 64 << 20  # in memory, before they go to the disk


@dataclass(frozen=True, kw_only=True)
class LabelOptions(Column, Output):
    """The options of induce label."""

    tagged: str = argument(MISSING, "Text with induced tags, TSV or CoNLL-U.", "TAGGED")
    mapping: str = option(MISSING, "Names, as the page of `induce report` saves them.", metavar="FILE")
    format: str = option(
        "auto", "Of TAGGED; auto goes by the file's name.", choices=TAGGED_FORMATS, section=FILES
    )
    to: str = option("conllu", "Of the output.", choices=_TARGETS, section=FILES)


def label(options: LabelOptions) -> None:
    """Put names in place of induced tags, by a mapping that was made on the page of `induce report`.

    Classes that the mapping does not name keep their numbers. The output is CoNLL-U, with the names in
    column XPOS, or UPOS by --column upos. A mapping of another run is an error.
    """
    options.hush()
    names = ClassNames.load(options.mapping)
    counts: Counter[tuple[str, str]] = Counter()
    with atomic_output(options.output) as out, SpooledTemporaryFile(_HELD_BYTES) as held:
        for record in read_tagged(options.tagged, cast(FormatName, options.format), options.column):
            counts.update(record.pairs())
            found = names.label(record.words, record.tags)
            held.write(write_record(record, found, cast(FormatName, options.to), options.column).encode())
        _check(options, names, counts)
        held.seek(0)
        shutil.copyfileobj(held, out)


def _check(options: LabelOptions, names: ClassNames, counts: Mapping[tuple[str, str], int]) -> None:
    """Raise FormatError if the mapping does not fit the text, whose tokens are counted by (word, tag)."""
    text, tags = input_name(options.tagged), {tag for _, tag in counts}
    if not tags:
        raise FormatError(text, None, "has no tagged word, expected word TAB tag or CoNLL-U")
    if tags == {NOT_ANNOTATED}:
        raise FormatError(text, None, untagged(options.column))
    fit = names.fit(counts)
    if fit.is_refuted:
        raise FormatError(
            options.mapping,
            None,
            f"was saved for another run: of its {fit.words} typical words in {text}, {fit.fitting} "
            "have the class that it says; give the mapping of the same run, or delete «typical» from it to "
            "apply it all the same",
        )
    if not any(map(names.knows, tags)):
        raise FormatError(
            options.mapping,
            None,
            f"names none of the classes of {text}; name some on the page, or give the mapping "
            "of the same run",
        )
    strange = sorted({*names.names, *names.words} - tags - set(names.typical))
    if strange:
        found = ", ".join(strange[:3])
        say(f"{options.mapping} names {found}, which no word of {text} has", options.quiet)


_EXAMPLE = "hiddenite induce label tagged.tsv --mapping names.json --output labelled.conllu"
COMMANDS = {"label": (label, LabelOptions, _EXAMPLE)}
