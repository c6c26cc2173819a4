"""hiddenite induce score and plot: induced tags against gold ones, and pictures of runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hiddenite.cli.common import OnlyJson, Output, json_line
from hiddenite.cli.induce_options import FILES, TAGGED_FORMATS, Column, read_run
from hiddenite.errors import FormatError, OptionError, shorten
from hiddenite.files.corpus import input_name
from hiddenite.files.output import atomic_output
from hiddenite.induction.evaluation import Comparison, compare
from hiddenite.induction.induction import Induction
from hiddenite.induction.plots import class_table, plot_classes, plot_log_joint
from hiddenite.options import MISSING, argument, option
from hiddenite.tag.formats import NOT_ANNOTATED, Record, read_tagged, untagged

KINDS = ("log-joint", "classes", "table")


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(Column, Output, OnlyJson):
    """The options of induce score."""

    gold: str = argument(MISSING, "Gold tags, TSV or CoNLL-U.", "GOLD")
    tagged: str = argument(MISSING, "Induced tags of the same words.", "PRED")
    format: str = option(
        "auto", "Of GOLD; auto goes by the file's name.", choices=TAGGED_FORMATS, section=FILES
    )
    tagged_format: str = option(
        "auto", "Of PRED; auto goes by the file's name.", choices=TAGGED_FORMATS, section=FILES
    )
    tables: bool = option(False, "Add what each induced tag consists of.")
    learn: tuple[str, str] | None = option(
        None, "Learn the many-to-one names on these files: adds learnt_many_to_one.", metavar="GOLD PRED"
    )


def score_command(options: ScoreOptions) -> None:
    """Compare induced tags with gold ones: one JSON object.

    many_to_one, one_to_one and v_measure are fractions.
    """
    options.hush()
    found = _compare(options.gold, options.tagged, options.format, options.tagged_format, options.column)
    record = found.to_dict(options.tables)
    if options.learn is not None:
        names = _compare(*options.learn, "auto", "auto", options.column).mapping()
        record["learnt_many_to_one"] = found.accuracy_of(names)
    with atomic_output(options.output) as out:
        out.write(json_line(record).encode())


def _compare(gold: str, tagged: str, gold_format: str, tagged_format: str, column: str) -> Comparison:
    """Compare two files, which must hold the same words."""
    if gold == tagged == "-":
        raise FormatError("<stdin>", None, "is given for both texts; name a file for one of them")
    pairs = []
    left, right = _with_words(gold, gold_format, column), _with_words(tagged, tagged_format, column)
    gold, tagged = input_name(gold), input_name(tagged)
    last = 0
    for a in left:
        b = next(right, None)
        if b is None:
            raise FormatError(
                tagged, None, f"ends before the sentence of {gold}:{a.line}, expected the same sentences"
            )
        if a.words != b.words:
            found, expected = _first_difference(a, b)
            raise FormatError(
                tagged,
                b.line,
                f"found {found}, expected {expected} as in the sentence of {gold}:{a.line}",
            )
        pairs.append((a.tags, b.tags))
        last = a.line
    more = next(right, None)
    if more is not None:
        raise FormatError(
            tagged, more.line, f"found a sentence more than in {gold}, which ends at line {last}"
        )
    if not pairs:
        raise FormatError(gold, None, "has no tagged word, expected word TAB tag or CoNLL-U")
    for place, name in enumerate((gold, tagged)):
        if all(tag == NOT_ANNOTATED for pair in pairs for tag in pair[place]):
            raise FormatError(name, None, untagged(column))
    return compare([a for a, _ in pairs], [b for _, b in pairs])


def _with_words(path: str, file_format: str, column: str) -> Iterator[Record]:
    records = read_tagged(path, file_format, column)  # type: ignore[arg-type]
    return (record for record in records if record.words)


def _first_difference(gold: Record, tagged: Record) -> tuple[str, str]:
    """Return what is found and what is expected, as a message says it."""
    rows = itertools.zip_longest(tagged.words, gold.words)
    found, expected = next((b, a) for b, a in rows if a != b)
    return _shown(found), _shown(expected)


def _shown(word: str | None) -> str:
    return "the end of the sentence" if word is None else f"'{shorten(word)}'"


# ----------------------------------------------------------------------- plot


@dataclass(frozen=True, kw_only=True)
class PlotOptions(Output):
    """The options of induce plot."""

    runs: tuple[str, ...] = argument(MISSING, "Folders that `induce run --checkpoint` wrote.", "RUN...")
    kind: str = option(
        "log-joint",
        "log-joint: of each chain, over sweeps; classes: words of each ambiguity class, the largest first; "
        "table: the largest ambiguity classes.",
        choices=KINDS,
    )
    seconds: bool = option(False, "Over time instead of sweeps.", when={"kind": ("log-joint",)})
    number: int = option(20, "How many classes.", least=1, when={"kind": ("table",)})


def plot_command(options: PlotOptions) -> None:
    """Draw runs: a picture in the format of the output's ending (.png, .svg, .pdf), or a table as text.

    log-joint shows whether the chains have settled: their lines are level. classes and table show how many
    words have the same ambiguity class, the set of tags that a word may have. A picture needs matplotlib and
    an --output that is a file.
    """
    options.hush()
    if options.kind != "table" and options.output == "-":
        raise OptionError("output", "is required: name a file for the picture, for example run.png")
    read = Induction.load if options.kind == "log-joint" else partial(read_run, quiet=options.quiet)
    loaded = [(Path(run).name or run, read(run)) for run in options.runs]
    if options.kind == "log-joint":
        plot_log_joint(loaded, options.output, seconds=options.seconds)
    elif options.kind == "classes":
        plot_classes(loaded, options.output)
    else:
        with atomic_output(options.output) as out:
            for name, run in loaded:
                head = f"# {name}\n" if len(loaded) > 1 else ""
                out.write((head + class_table(run.lexicon(), options.number)).encode())


COMMANDS = {
    "score": (score_command, ScoreOptions, "hiddenite induce score gold.tsv tagged.tsv"),
    "plot": (plot_command, PlotOptions, "hiddenite induce plot run1 run2 --output runs.png"),
}
