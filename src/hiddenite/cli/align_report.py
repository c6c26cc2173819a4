"""hiddenite align report: the links of a text as one HTML page that opens without a server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hiddenite.align.bitext import Bitext
from hiddenite.align.report import make_report
from hiddenite.align.report_page import page
from hiddenite.cli.align_evidence import LinkSource
from hiddenite.cli.align_options import Bitexts
from hiddenite.cli.common import Quiet
from hiddenite.files.corpus import decode_part, tokenize
from hiddenite.files.output import atomic_output
from hiddenite.options import MISSING, RUNNING, option


@dataclass(frozen=True, kw_only=True)
class ReportOptions(Bitexts, LinkSource, Quiet):
    """The options of align report."""

    html: str = option(MISSING, "Page to write, whole or not at all.", metavar="FILE", section=RUNNING)
    threshold: float = option(0.5, "Least probability of what is drawn as a link.", least=0, most=1)
    pairs: int = option(1000, "Sentence pairs on the page, the most dubious ones.", least=1)
    words: int = option(5000, "Words of the lexicon, the most frequent ones.", least=0)


def report(options: ReportOptions) -> None:
    """Write a page about the links of a parallel text: matrices, dubious links first, search, the lexicon.

    The page is one file that opens without a server. The links come from --links, from --model, or, without
    both, from training on the text.
    """
    options.hush()
    bitext = Bitext.read(options.source, options.target)
    pairs = list(_pairs(bitext))
    links = options.probabilities(pairs, bitext.source_name, options.quiet)
    found = make_report(
        pairs,
        links,
        threshold=options.threshold,
        most_pairs=options.pairs,
        most_links=options.pairs,
        most_words=options.words,
    )
    with atomic_output(options.html) as out:
        out.write(page(found, bitext.source_name, bitext.target_name).encode())


def _pairs(bitext: Bitext) -> Iterator[tuple[list[str], list[str]]]:
    sides = (
        decode_part(text, name).split("\n")[:-1]
        for text, name in ((bitext.source, bitext.source_name), (bitext.target, bitext.target_name))
    )
    for e, f in zip(*sides, strict=True):
        yield tokenize(e), tokenize(f)


_EXAMPLE = "hiddenite align report en.txt fr.txt --model en-fr.model --html links.html"
COMMANDS = {"report": (report, ReportOptions, _EXAMPLE)}
