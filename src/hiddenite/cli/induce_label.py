"""hiddenite induce label: names given to induced classes, in tagged text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from hiddenite.cli.common import Output
from hiddenite.cli.induce_options import FILES, TAGGED_FORMATS, Column
from hiddenite.errors import FormatError
from hiddenite.files.output import atomic_output
from hiddenite.induction.naming import ClassNames
from hiddenite.options import MISSING, argument, option
from hiddenite.tag.formats import FormatName, read_tagged, write_record

_TARGETS = ("conllu", "tsv", "plain")


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
    column XPOS, or UPOS by --column upos.
    """
    options.hush()
    names = ClassNames.load(options.mapping)
    file_format = cast(FormatName, options.format)
    known, tagged = False, False
    with atomic_output(options.output) as out:
        for record in read_tagged(options.tagged, file_format, options.column):
            tagged |= bool(record.tags)
            known |= any(map(names.knows, record.tags))
            found = names.label(record.words, record.tags)
            out.write(write_record(record, found, cast(FormatName, options.to), options.column).encode())
        if not tagged:
            raise FormatError(options.tagged, None, "has no tagged word, expected word TAB tag or CoNLL-U")
        if not known:
            raise FormatError(
                options.mapping,
                None,
                f"names none of the classes of {options.tagged}; name some on the page, or give the mapping "
                "of the same run",
            )


_EXAMPLE = "hiddenite induce label tagged.tsv --mapping names.json --output labelled.conllu"
COMMANDS = {"label": (label, LabelOptions, _EXAMPLE)}
