"""hiddenite align symmetrize and score: what is done with links that are there already."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from hiddenite.align.bitext import bitext_blocks
from hiddenite.align.evaluation import ALPHA
from hiddenite.align.evaluation import score as score_links
from hiddenite.align.links import check_gold, check_range, format_links, read_gold, read_links
from hiddenite.align.symmetrize import DEFAULT, METHODS
from hiddenite.align.symmetrize import symmetrize as symmetrize_links
from hiddenite.cli.common import OnlyJson, Output, json_line
from hiddenite.errors import FormatError, OptionError
from hiddenite.files.corpus import tokenize
from hiddenite.files.output import atomic_output
from hiddenite.options import MISSING, argument, option

_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True)
class SymmetrizeOptions(Output):
    """The options of align symmetrize."""

    forward: str = argument(MISSING, "Links, one line a sentence pair.", "FORWARD")
    reverse: str = argument(MISSING, "Those of the other direction.", "REVERSE")
    method: str = option(DEFAULT, "How both become one.", choices=tuple(METHODS))


def symmetrize(options: SymmetrizeOptions) -> None:
    """Make one set of links from those of the two directions, both written source-target."""
    options.hush()
    forward, reverse = options.forward, options.reverse
    if forward == reverse == "-":
        raise OptionError("reverse", "is standard input like FORWARD; give one of them as a file")
    with atomic_output(options.output) as out:
        for a, b in _both(read_links(forward), read_links(reverse), forward, reverse):
            out.write((format_links(symmetrize_links(a, b, options.method)) + "\n").encode())


def _both(a: Iterable[_T], b: Iterable[_T], first: str, second: str) -> Iterator[tuple[_T, _T]]:
    """Give lines that belong together; files of different lengths are an error with both counts."""
    missing = object()
    counts = [0, 0]
    for pair in itertools.zip_longest(a, b, fillvalue=missing):
        for place, item in enumerate(pair):
            counts[place] += item is not missing
        if counts[0] == counts[1]:
            yield pair  # type: ignore[misc]
    if counts[0] != counts[1]:
        raise FormatError(
            second, None, f"found {counts[1]} lines, expected {counts[0]}, as many as {first} has"
        )


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(Output, OnlyJson):
    """The options of align score."""

    gold: str = argument(MISSING, "Gold links: i-j sure, ipj or i?j possible; or NAACL lines.", "GOLD")
    links: str = argument("-", "Links to score, one line a pair.", "[LINKS]")
    alpha: float = option(ALPHA, "Weight of precision in F.", least=0, most=1)
    source: str | None = option(None, "Source text, to check positions against.", metavar="SRC")
    target: str | None = option(None, "Target text; 'source ||| target' if left out.", metavar="TGT")


def score(options: ScoreOptions) -> None:
    """Score links against gold ones: one JSON object with precision, recall, aer and f, as fractions.

    With the texts, a link outside its sentence pair, in either file, is an error that names its line.
    """
    options.hush()
    gold, links, source = options.gold, options.links, options.source
    if options.target is not None and source is None:
        raise OptionError("target", "needs --source")
    expected = read_gold(gold)
    found = [*read_links(links)]
    if len(expected) != len(found):
        raise FormatError(
            links, None, f"found {len(found)} lines, expected {len(expected)}, as many as {gold} has"
        )
    if source is not None:
        lengths = list(_lengths(source, options.target))
        if len(lengths) != len(expected):
            raise FormatError(
                source, None, f"found {len(lengths)} lines, expected {len(expected)}, as many as {gold} has"
            )
        check_gold(expected, lengths, gold)
        for number, (one, size) in enumerate(zip(found, lengths, strict=True), 1):
            check_range(one, size, links, number)
    with atomic_output(options.output) as out:
        out.write(json_line(score_links(expected, found, alpha=options.alpha).to_dict()).encode())


def _lengths(source: str, target: str | None) -> Iterator[tuple[int, int]]:
    for block in bitext_blocks(source, target):
        block.check(source)
        sides = (text.decode(errors="replace").split("\n")[:-1] for text in (block.source, block.target))
        for e, f in zip(*sides, strict=True):
            yield len(tokenize(e)), len(tokenize(f))


COMMANDS = {
    "symmetrize": (
        symmetrize,
        SymmetrizeOptions,
        "hiddenite align symmetrize --method intersection forward.txt reverse.txt",
    ),
    "score": (score, ScoreOptions, "hiddenite align score gold.txt links.txt"),
}
