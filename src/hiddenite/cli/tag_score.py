"""hiddenite tag score: a tagger against gold tags, and what gold text must be for that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hiddenite.cli.common import OnlyJson, Output, Threads, json_line
from hiddenite.cli.progress import progress
from hiddenite.cli.tag_run import OBJECTIVES, Model, check_model_column
from hiddenite.errors import FormatError
from hiddenite.files.corpus import file_bytes
from hiddenite.files.output import atomic_output
from hiddenite.options import argument, option
from hiddenite.tag.evaluation import TagScore, plot_reliability, score
from hiddenite.tag.formats import COLUMNS, FORMATS, Record, format_of, read_tagged, untagged
from hiddenite.tag.tagger import Tagger


@dataclass(frozen=True, kw_only=True)
class Gold(Model):
    """A command that compares a tagger with gold tags."""

    gold: str = argument("-", "Tagged text, TSV or CoNLL-U.", "[GOLD]")
    column: str = option("xpos", "CoNLL-U column of the tags.", choices=COLUMNS)
    format: str = option("auto", "Of GOLD; auto goes by the file's name.", choices=FORMATS)

    def load_tagger(self) -> Tagger:
        """Return the tagger; an error if it was trained on another column."""
        source = format_of(self.gold, "tsv") if self.format == "auto" else self.format
        check_model_column(self.model, self.column, {source})
        return Tagger.load(self.model)

    def read_gold(self, on_progress: Callable[[int], None]) -> Iterator[Record]:
        """Give the sentences; an error at the end if none had a word."""
        is_empty = True
        for record in read_tagged(self.gold, self.format, self.column, on_progress):  # type: ignore[arg-type]
            is_empty = is_empty and not record.words
            yield record
        if is_empty:
            raise FormatError(self.gold, None, "has no tagged word, expected word TAB tag or CoNLL-U")

    def check_score(self, result: TagScore, tagger: Tagger) -> None:
        """Refuse gold tags that are all missing, or of another tagset."""
        if result.tokens == 0:
            raise FormatError(self.gold, None, untagged(self.column))
        if result.unseen_tags == result.tokens:
            found = sorted({gold for gold, _, _ in result.confusions})
            raise FormatError(
                self.gold,
                None,
                f"has the tags {', '.join(found[:3])}, none of which the model knows; it has"
                f" {', '.join(tagger.tags[:3])}. Score with the column and tagset that it was trained on",
            )


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(Gold, Output, Threads, OnlyJson):
    """The options of tag score."""

    objective: str = option("map", "As for `tag run`.", choices=tuple(OBJECTIVES))
    confusions: int = option(10, "So many of the most frequent confusions.", least=0)
    calibration: bool = option(
        True,
        "Measure whether the posterior probabilities can be trusted.",
        "--calibration/--no-calibration",
    )
    plot: str | None = option(
        None, "Reliability diagram; needs matplotlib.", metavar="FILE", when={"calibration": (True,)}
    )


def score_command(options: ScoreOptions) -> None:
    """Compare a tagger with gold tags: one JSON object.

    accuracy, known, unknown (words not seen in training) and sentence are fractions; confusions are gold tag,
    tag found and tokens; unseen_tags counts gold tags that training never saw, which no answer can match.
    Words whose gold tag is _ are not compared.
    """
    options.hush()
    tagger = options.load_tagger()
    with progress("scoring", file_bytes([options.gold]), options.quiet) as report:
        result = score(
            tagger,
            (record.pairs() for record in options.read_gold(report)),
            objective=options.objective,  # type: ignore[arg-type]
            calibration=options.calibration,
            threads=options.threads,
        )
    options.check_score(result, tagger)
    if options.plot is not None:
        plot_reliability(result, options.plot)
    record = result.to_dict() | {"objective": options.objective}
    record["confusions"] = record["confusions"][: options.confusions]
    with atomic_output(options.output) as out:
        out.write(json_line(record).encode())
