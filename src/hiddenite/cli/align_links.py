"""hiddenite align symmetrize and score: what is done with links that are there already."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Annotated, TypeVar

import typer

from hiddenite.align.bitext import bitext_blocks
from hiddenite.align.evaluation import ALPHA
from hiddenite.align.evaluation import score as score_links
from hiddenite.align.links import check_gold, check_range, format_links, read_gold, read_links
from hiddenite.align.symmetrize import DEFAULT, METHODS
from hiddenite.align.symmetrize import symmetrize as symmetrize_links
from hiddenite.cli.align_options import usage
from hiddenite.cli.common import AsJson, Output, Quiet, hush, json_line
from hiddenite.corpus import atomic_output, tokenize
from hiddenite.errors import FormatError

SYMMETRIZE_EPILOG = "Example: hiddenite align symmetrize --method intersection forward.txt reverse.txt"
SCORE_EPILOG = "Example: hiddenite align score gold.txt links.txt"
_T = TypeVar("_T")


def symmetrize(
    forward: Annotated[str, typer.Argument(metavar="FORWARD", help="Links, one line a sentence pair.")],
    reverse: Annotated[str, typer.Argument(metavar="REVERSE", help="Those of the other direction.")],
    *,
    method: Annotated[str, typer.Option("--method", help=f"One of {', '.join(METHODS)}.")] = DEFAULT,
    output: Output = "-",
    quiet: Quiet = False,
) -> None:
    """Make one set of links from those of the two directions, both written source-target."""
    hush(quiet)
    usage(lambda: symmetrize_links((), (), method))
    if forward == reverse == "-":
        raise typer.BadParameter("both directions are standard input; give one as a file")
    with atomic_output(output) as out:
        for a, b in _both(read_links(forward), read_links(reverse), forward, reverse):
            out.write((format_links(symmetrize_links(a, b, method)) + "\n").encode())


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


def score(
    gold: Annotated[
        str, typer.Argument(metavar="GOLD", help="Gold links: i-j sure, ipj or i?j possible; or NAACL lines.")
    ],
    links: Annotated[str, typer.Argument(metavar="LINKS", help="Links to score, one line a pair.")] = "-",
    *,
    alpha: Annotated[float, typer.Option(min=0.0, max=1.0, help="Weight of precision in F.")] = ALPHA,
    source: Annotated[
        str | None, typer.Option("--source", metavar="SRC", help="Source text, to check positions against.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="TGT", help="Target text; 'source ||| target' if left out."),
    ] = None,
    output: Output = "-",
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Score links against gold ones: one JSON object with precision, recall, aer and f, as fractions.

    With the texts, a link outside its sentence pair, in either file, is an error that names its line.
    """
    del json
    hush(quiet)
    if target is not None and source is None:
        raise typer.BadParameter("--target without --source")
    expected = read_gold(gold)
    found = [*read_links(links)]
    if len(expected) != len(found):
        raise FormatError(
            links, None, f"found {len(found)} lines, expected {len(expected)}, as many as {gold} has"
        )
    if source is not None:
        lengths = list(_lengths(source, target))
        if len(lengths) != len(expected):
            raise FormatError(
                source, None, f"found {len(lengths)} lines, expected {len(expected)}, as many as {gold} has"
            )
        check_gold(expected, lengths, gold)
        for number, (one, size) in enumerate(zip(found, lengths, strict=True), 1):
            check_range(one, size, links, number)
    with atomic_output(output) as out:
        out.write(json_line(score_links(expected, found, alpha=alpha).to_dict()).encode())


def _lengths(source: str, target: str | None) -> Iterator[tuple[int, int]]:
    for block in bitext_blocks(source, target):
        block.check(source)
        sides = (text.decode(errors="replace").split("\n")[:-1] for text in (block.source, block.target))
        for e, f in zip(*sides, strict=True):
            yield len(tokenize(e)), len(tokenize(f))
