"""hiddenite induce report: the classes of a run as one HTML page that opens without a server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hiddenite.cli.common import Quiet
from hiddenite.cli.induce_options import read_run
from hiddenite.cli.induce_report_page import page
from hiddenite.files.output import atomic_output
from hiddenite.induction.report import make_report
from hiddenite.options import MISSING, RUNNING, argument, option


@dataclass(frozen=True, kw_only=True)
class ReportOptions(Quiet):
    """The options of induce report."""

    run: str = argument(MISSING, "Folder that `induce run --checkpoint` wrote.", "RUN")
    html: str = option(MISSING, "Page to write, whole or not at all.", metavar="FILE", section=RUNNING)
    words: int = option(
        60,
        "Typical words of a class that are listed, and at most as many dubious ones; the search finds all.",
        least=1,
    )
    sentences: int = option(8, "Sentences of a class.", least=0)


def report(options: ReportOptions) -> None:
    """Write a page about the classes of a run: words, sentences, confidence, similar classes.

    On the page classes can be renamed, merged and split; it saves a mapping file, which `induce label`
    applies to tagged text. The page is one file that opens without a server.
    """
    options.hush()
    run = read_run(options.run, options.quiet)
    found = make_report(run, most_words=options.words, most_sentences=options.sentences)
    with atomic_output(options.html) as out:
        out.write(page(found, Path(options.run).name or options.run).encode())


_EXAMPLE = "hiddenite induce report run1 --html classes.html"
COMMANDS = {"report": (report, ReportOptions, _EXAMPLE)}
