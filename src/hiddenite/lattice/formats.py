"""Formats of lattice files: which one a file has, reading and writing by name."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hiddenite.errors import ModelError, OptionError, UnknownSymbolError, near_spellings
from hiddenite.lattice import fst, nbest, slf, srilm
from hiddenite.lattice.fst import Symbols, scaled_weight
from hiddenite.lattice.lattice import CycleError, Edge, Final, Lattice, NoPathError
from hiddenite.lattice.source import Source, plain_word

FORMATS = (
    "slf",
    "kaldi",
    "kaldi-compact",
    "openfst",
    "openfst-acceptor",
    "openfst-transducer",
    "pfsg",
    "mesh",
    "nbest",
    "json",
)
NUMBERED = ("kaldi", "kaldi-compact", "openfst", "openfst-acceptor", "openfst-transducer")  # labels
WRITTEN = ("slf", "kaldi", "kaldi-compact", "openfst", "pfsg", "mesh", "json")


def read_lattices(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    symbols: Symbols | None = None,
    frame_seconds: float = fst.FRAME_SECONDS,
) -> Iterator[Lattice]:
    """Read the lattices of a file, plain or compressed; without a format, its first lines tell which.

    ``symbols`` are the words of label numbers (OpenFst, Kaldi), see
    :func:`hiddenite.lattice.fst.read_symbols`; ``frame_seconds`` is the length of a frame of Kaldi's compact
    lattices. A lattice with a cycle or without a path is a FormatError that names the line.
    """
    source = Source.open(path)
    name = _guessed(source) if format is None else format
    if name not in FORMATS:
        raise UnknownSymbolError("format", name, near_spellings(name, FORMATS))
    for option, is_given, formats in (
        ("symbols", symbols is not None, NUMBERED),
        ("frame_seconds", frame_seconds != fst.FRAME_SECONDS, NUMBERED[:2]),
    ):
        if is_given and name not in formats:
            raise OptionError(option, f"has no effect: {source.name} is {name}; it needs {formats[0]}")
    readers: dict[str, Callable[[], Iterator[Lattice]]] = {
        "slf": lambda: slf.read_slf(source),
        "kaldi": lambda: fst.read_kaldi(source, symbols, frame_seconds),
        "kaldi-compact": lambda: fst.read_kaldi(source, symbols, frame_seconds),
        "openfst": lambda: fst.read_openfst(source, symbols),
        "openfst-acceptor": lambda: fst.read_openfst(source, symbols, acceptor=True),
        "openfst-transducer": lambda: fst.read_openfst(source, symbols, acceptor=False),
        "pfsg": lambda: srilm.read_pfsg(source),
        "mesh": lambda: srilm.read_mesh(source),
        "nbest": lambda: nbest.read_nbest(source),
        "json": lambda: _read_json(source),
    }
    found = False
    for lattice in readers[name]():
        found = True
        yield _checked(source, lattice)
    if not found:
        raise source.error(len(source.lines), f"found no lattice, expected one in the format {name}")


def _checked(source: Source, lattice: Lattice) -> Lattice:
    try:
        lattice.trimmed()
    except CycleError as error:
        place = error.edge if error.edge < len(source.edge_lines) else None
        line = source.first_line if place is None else source.edge_lines[place]
        raise source.error(line, str(error)) from None
    except NoPathError as error:
        raise source.error(source.first_line, str(error)) from None
    return lattice


def _guessed(source: Source) -> str:
    """Return the format that the first lines have."""
    lines = [text.strip() for text in source.lines if text.strip() and not text.lstrip().startswith("#")][:3]
    first = lines[0] if lines else ""
    fields = first.split()
    if first.startswith("{"):
        return "json"
    if "=" in first and first.split("=")[0].isidentifier():
        return "slf"
    if " ||| " in first or first in nbest.DECIPHER:
        return "nbest"
    second = lines[1].split() if len(lines) > 1 else []
    if fields[:1] == ["name"]:
        return "pfsg" if second[:1] == ["nodes"] else "mesh"
    if fields[:1] in (["nodes"], ["numaligns"]):
        return "pfsg" if fields[0] == "nodes" else "mesh"
    if len(fields) == 1 and len(second) in (3, 4, 5) and ("," in second[-1] or len(second) == 5):
        return "kaldi"
    if len(fields) >= 3 and all(text.isdecimal() for text in fields[:2]):
        return "openfst"
    if len(fields) >= 3 and fields[2].isdecimal() and len(fields) == int(fields[2][:9]) + 3:
        return "nbest"
    line = next((i for i, text in enumerate(source.lines, 1) if text.strip()), None)
    if line is None:
        raise source.error(1, "the file is empty, expected a lattice")
    raise source.error(line, "the format is not clear; say which with --format: " + ", ".join(FORMATS))


# ------------------------------------------------------------------------ JSON


def _no_constant(text: str) -> float:
    raise ValueError(f"found {text}, expected a finite number or null")


def _read_json(source: Source) -> Iterator[Lattice]:
    """Read lines as `hiddenite decode --channel slots` has them; a word "" is an edge without a word."""
    for line, text in enumerate(source.lines, 1):
        if not text.strip():
            continue
        try:
            record = json.loads(text, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise source.error(line, f"is no JSON: {error}") from None
        if not isinstance(record, dict) or ("lattice" in record) == ("slots" in record):
            raise source.error(line, 'expected {"lattice": [[0, 1, "word", -0.5], ...]} or {"slots": ...}')
        source.found(line, [])
        name = record.get("id")
        if not isinstance(name, str | int | None) or isinstance(name, bool):
            raise source.error(line, "expected a string or an integer as id")
        try:
            edges = _json_edges(record)
        except (TypeError, ValueError) as error:
            raise source.error(line, str(error)) from None
        last = max((edge.end for edge in edges), default=0)
        yield Lattice(edges, {last: Final()}, id=name)


def _json_edges(record: dict[str, Any]) -> list[Edge]:
    if "slots" in record:
        rows: list[Any] = [[i, i + 1, *pair] for i, slot in enumerate(record["slots"]) for pair in slot]
    else:
        rows = record["lattice"]
    edges = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, list) or len(row) != 4 or not isinstance(row[2], str):
            raise ValueError(f'edge {number}: expected [from, to, "word", weight]')
        start, end, word, weight = row
        for node in (start, end):
            if type(node) is not int or not 0 <= node < 1000 + 16 * len(rows):
                raise ValueError(f"edge {number}: found node {node!r:.20}, expected nodes 0, 1, 2 and so on")
        if weight is not None and (isinstance(weight, bool) or not isinstance(weight, int | float)):
            raise ValueError(f"edge {number}: found weight {weight!r:.20}, expected a number or null")
        edges.append(Edge(start, end, plain_word(word), -math.inf if weight is None else float(weight)))
    return edges


def _json_lines(lattice: Lattice) -> Iterator[str]:
    """Give the lattice as one line; scores are added up by its scales, nodes numbered in order."""
    lattice = lattice.trimmed()
    if list(lattice.finals.items()) != [(lattice.num_nodes - 1, Final())]:
        lattice = slf.with_one_final(lattice)
    weights = ((edge, scaled_weight(lattice, edge)) for edge in lattice.edges)
    edges = [
        [edge.start, edge.end, edge.word, weight if math.isfinite(weight) else None]
        for edge, weight in weights
    ]
    yield json.dumps({"id": lattice.id, "lattice": edges}, ensure_ascii=False)


# ----------------------------------------------------------------------- write


def write_lattices(lattices: Iterable[Lattice], format: str) -> Iterator[str]:
    """Give the lines of a file; ModelError for what the format cannot hold.

    SLF and Kaldi's formats keep scores apart. The others add them up by the lattice's scales.
    """
    writers: dict[str, Callable[[Lattice], Iterator[str]]] = {
        "slf": slf.write_slf,
        "kaldi": lambda lattice: fst.write_kaldi(lattice, compact=False),
        "kaldi-compact": lambda lattice: fst.write_kaldi(lattice, compact=True),
        "openfst": fst.write_openfst,
        "pfsg": srilm.write_pfsg,
        "mesh": lambda lattice: srilm.write_mesh(srilm.as_mesh(lattice), lattice.id),
        "json": _json_lines,
    }
    if format not in writers:
        raise UnknownSymbolError("format", format, near_spellings(format, writers))
    for number, lattice in enumerate(lattices):
        if number and format in ("slf", "openfst"):
            raise ModelError(f"{format} holds one lattice a file, found more; convert to kaldi or json")
        yield from writers[format](lattice)
