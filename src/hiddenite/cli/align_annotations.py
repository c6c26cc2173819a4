"""Annotated text for align project: read with its labels, written with those that were carried over.

======  ==================================================================================
plain   one sentence a line, words between blanks: no labels
slash   the same with labels, ``word/LABEL``
tsv     ``word TAB label``, an empty line after each sentence
conllu  ten columns; labels are column 4 (upos), 5 (xpos) or 6 (feats)
======  ==================================================================================

What is written is CoNLL-U where the target is, and else ``word TAB label TAB probability``: tag train reads
both. «_» stands for «not annotated»; in the column feats it also means «no features», which is a label like
others.
"""

from __future__ import annotations

from collections.abc import Iterator

from hiddenite.align.links import read_lines
from hiddenite.align.projection import NOT_ANNOTATED, Projection
from hiddenite.errors import FormatError
from hiddenite.files.corpus import ChunkReader, tokenize
from hiddenite.tag.formats import FormatName, Record, format_of, read_records

SOURCE_FORMATS = ("auto", "slash", "tsv", "conllu")
TARGET_FORMATS = ("auto", "plain", "tsv", "conllu")
COLUMNS = {"upos": 3, "xpos": 4, "feats": 5}
NO_FEATURES = "no features"  # a label with a blank, which no column can hold
_MISC = 9
_PROBABILITY = "Projected"


def read_source(path: str, file_format: str, column: str) -> Iterator[tuple[tuple[str, str], ...]]:
    """Give the sentences of an annotated file as (word, label) pairs."""
    chosen = format_of(path, "tsv") if file_format == "auto" else file_format
    if chosen in ("slash", "plain"):
        yield from _read_slashes(path)
        return
    name: FormatName = "conllu" if chosen == "conllu" else "tsv"
    with ChunkReader(path) as reader:
        for record in read_records(reader, name, "upos", with_tags=name == "tsv"):
            labels = _column(record, column) if name == "conllu" else record.tags
            yield tuple(zip(record.words, labels, strict=True))


def _read_slashes(path: str) -> Iterator[tuple[tuple[str, str], ...]]:
    for number, line in read_lines(path):
        pairs = [word.rpartition("/") for word in tokenize(line)]
        for word, slash, label in pairs:
            if not slash or not word or not label:
                found = word + slash + label
                raise FormatError(
                    _name(path), number, f"found '{found[:40]}', expected word/LABEL; see --format"
                )
        yield tuple((word, label) for word, _, label in pairs)


def _name(path: str) -> str:
    return "<stdin>" if path == "-" else path


def _column(record: Record, column: str) -> list[str]:
    fields = [line.split("\t") for line in record.lines if line.partition("\t")[0].isdigit()]
    labels = [row[COLUMNS[column]] for row in fields]
    return [NO_FEATURES if label == "_" else label for label in labels] if column == "feats" else labels


def read_target(path: str, file_format: str) -> tuple[list[Record], FormatName]:
    """Return the sentences of the target side, whose labels are not looked at, and the file's format."""
    chosen: FormatName = format_of(path, "plain") if file_format == "auto" else file_format  # type: ignore[assignment]
    with ChunkReader(path) as reader:
        records = list(read_records(reader, chosen, "upos"))
    for record in records:
        if record.fault is not None:
            raise FormatError(_name(path), record.line, record.fault)
    return records, chosen


def write_projection(record: Record, found: Projection, file_format: FormatName, column: str) -> str:
    """Return a sentence with its labels as text, its end included."""
    labels = [NOT_ANNOTATED if one in (None, NO_FEATURES) else str(one) for one in found.labels]
    if file_format != "conllu":
        rows = zip(record.words, labels, found.probabilities, strict=True)
        return "".join(f"{word}\t{label}\t{p:.4f}\n" for word, label, p in rows) + "\n"
    left = iter(zip(labels, found.probabilities, strict=True))
    lines = []
    for line in record.lines:
        if line.startswith("#") or not line.partition("\t")[0].isdigit():
            lines.append(line)
            continue
        fields = line.split("\t")
        fields[COLUMNS[column]], p = next(left)
        others = [] if fields[_MISC] == "_" else fields[_MISC].split("|")
        kept = [one for one in others if not one.startswith(f"{_PROBABILITY}=")]
        fields[_MISC] = "|".join([*kept, f"{_PROBABILITY}={p:.4f}"])
        lines.append("\t".join(fields))
    return "\n".join([*lines, "", ""])
