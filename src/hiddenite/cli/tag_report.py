"""hiddenite tag report: how a tagger does on a text, as one HTML page that opens without a server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hiddenite.cli.common import Quiet, Threads
from hiddenite.cli.progress import progress
from hiddenite.cli.tag_score import Gold
from hiddenite.cli.tag_train import read_all
from hiddenite.errors import OptionError
from hiddenite.files.corpus import file_bytes
from hiddenite.files.output import atomic_output
from hiddenite.options import MISSING, RUNNING, option
from hiddenite.tag.options import INDUCED
from hiddenite.tag.report import CurvePoint, learning_curve, make_report
from hiddenite.tag.report_page import page


@dataclass(frozen=True, kw_only=True)
class ReportOptions(Gold, Quiet, Threads):
    """The options of tag report."""

    html: str = option(MISSING, "Page to write, whole or not at all.", metavar="FILE", section=RUNNING)
    train: tuple[str, ...] = option(
        (),
        "The training text: adds a learning curve, which takes about two trainings; again for more files.",
        metavar="TAGGED",
    )
    sentences: int = option(200, "Sentences on the page, the least certain ones.", least=0)
    confusions: int = option(30, "Confusions, the most frequent ones.", least=0)
    examples: int = option(5, "Examples of each confusion.", least=0)


def report_command(options: ReportOptions) -> None:
    """Write a page about a tagger on a text with gold tags.

    Accuracy, confusions with examples in context, calibration, how well each tag is found, and the least
    certain sentences, which may be worth a second look or more annotation of their kind. The page is one
    file that opens without a server. Words whose gold tag is _ are not compared.
    """
    options.hush()
    tagger = options.load_tagger()
    with progress("reading", file_bytes([options.gold]), options.quiet) as report:
        records = [record for record in options.read_gold(report) if record.words]
    curve: list[CurvePoint] = []
    if options.train:
        if tagger.model.options.guesser == INDUCED:
            raise OptionError("train", f"has no effect: {options.model} was not trained on tagged text")
        text = list(read_all(options.train, options.format, options.column, options.quiet))
        gold = [record.pairs() for record in records]
        curve += learning_curve(text, gold, tagger.model.options, options.threads)
    found = make_report(
        tagger,
        records,
        most_sentences=options.sentences,
        most_confusions=options.confusions,
        most_examples=options.examples,
        curve=curve,
        threads=options.threads,
    )
    options.check_score(found.score, tagger)
    with atomic_output(options.html) as out:
        out.write(page(found, Path(options.model).name, Path(options.gold).name).encode())
