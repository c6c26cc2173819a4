"""hiddenite tag suggest: the sentences of a raw text whose annotation helps most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hiddenite.cli.common import Output, Threads
from hiddenite.cli.progress import progress
from hiddenite.cli.tag_run import Model, warned_of_glue
from hiddenite.errors import FormatError
from hiddenite.files.corpus import ChunkReader, file_bytes
from hiddenite.files.output import atomic_output
from hiddenite.options import argument, option
from hiddenite.segments import Segmenter
from hiddenite.tag.archive import model_column
from hiddenite.tag.formats import COLUMNS, FORMATS, FormatName, Record, format_of, read_records
from hiddenite.tag.plain_text import read_plain_text
from hiddenite.tag.suggestion import Suggestion, suggest
from hiddenite.tag.tagger import Tagger


@dataclass(frozen=True, kw_only=True)
class SuggestOptions(Model, Output, Threads):
    """The options of tag suggest."""

    text: str = argument("-", "Text to choose from: plain, TSV or CoNLL-U; - is stdin.", "[TEXT]")
    count: int = option(100, "So many sentences.", "-n", "--count", least=1)
    raw_text: bool = option(False, "TEXT is running text: find its words and sentences.")
    format: str = option(
        "auto", "Of TEXT; auto goes by the file's name.", choices=FORMATS, when={"raw_text": (False,)}
    )


def suggest_command(options: SuggestOptions) -> None:
    """Choose the sentences whose annotation would help the tagger most.

    Written as CoNLL-U with the tags that the tagger would give, to be corrected: the last column says how
    sure it is of each, comments how many errors it expects. Train again on the corrected file.
    """
    options.hush()
    column = COLUMNS[model_column(options.model) or "xpos"]
    tagger = Tagger.load(options.model)
    with (
        progress("reading", file_bytes([options.text]), options.quiet) as report,
        ChunkReader(options.text, report) as reader,
    ):
        records = [record for record in _records(reader, options, tagger) if record.words]
    if not records:
        raise FormatError(options.text, None, "has no word to annotate")
    found = suggest(tagger, [record.words for record in records], options.count, options.threads)
    with atomic_output(options.output) as out:
        for one in found:
            out.write(_conllu(records[one.number], one, column).encode())


def _records(reader: ChunkReader, options: SuggestOptions, tagger: Tagger) -> Iterator[Record]:
    known = frozenset(tagger.model.lexicon.words)
    if options.raw_text:
        yield from read_plain_text(reader, Segmenter(known))
        return
    chosen = format_of(options.text, "plain") if options.format == "auto" else options.format
    name: FormatName = chosen  # type: ignore[assignment]
    records = read_records(reader, name)
    if name == "plain":
        records = warned_of_glue(records, known, reader.name, "say --raw-text if it is running text")
    yield from records


def _conllu(record: Record, one: Suggestion, column: int) -> str:
    """Return a sentence with its tags, and how sure they are."""
    rows = []
    for number, (word, tag, p) in enumerate(zip(one.words, one.tags, one.probabilities, strict=True), 1):
        fields = [str(number), word, *["_"] * 7, f"Confidence={p:.3f}"]
        fields[column] = tag
        rows.append("\t".join(fields))
    head = [
        f"# sent_id = {record.id}",
        f"# text = {' '.join(one.words)}",
        f"# expected_errors = {one.expected_errors:.2f}",
        f"# gain = {one.gain:.2f}",
    ]
    return "\n".join([*head, *rows, "", ""])
