"""Lattices as finite-state machines in text: OpenFst's, and Kaldi's archives, compact or not.

OpenFst: a line ``from to input [output] [weight]`` for each arc and ``state [weight]`` for each final state;
the first line's state is the start; weights are costs, -ln. The words are the output labels. Kaldi: archives
of the same, each after a line with the name of the utterance and before an empty line; the weight is
``graph,acoustic`` in a lattice and ``graph,acoustic,transition-ids`` in a compact one. The graph cost is read
as that of the language model. Labels that are numbers need a symbol table.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping

from hiddenite.errors import ModelError
from hiddenite.lattice.lattice import Edge, Final, Lattice
from hiddenite.lattice.source import Source, format_number, plain_word

FRAME_SECONDS = 0.01  # of a Kaldi alignment, unless told otherwise
Symbols = Mapping[str, str]  # number as text: symbol


def read_symbols(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read a symbol table: a symbol and its number a line."""
    source = Source.open(path)
    table: dict[str, str] = {}
    for line, text in enumerate(source.lines, 1):
        fields = text.split()
        if not fields:
            continue
        if len(fields) != 2 or not fields[1].isdecimal():
            raise source.error(line, f"found '{text.strip():.40}', expected a symbol and its number")
        if table.setdefault(fields[1], fields[0]) != fields[0]:
            raise source.error(line, f"found number {fields[1]} again, expected each number once")
    if not table:
        raise source.error(1, "found no symbol, expected a symbol and its number a line")
    return table


class _Arcs:
    """Arcs and final states of one machine as they are read."""

    def __init__(self, source: Source, symbols: Symbols | None) -> None:
        self.source = source
        self.symbols = symbols
        self.edges: list[Edge] = []
        self.finals: dict[int, Final] = {}
        self.start: int | None = None
        self.lines: list[int] = []  # of the edges
        self.first_line = 0

    def word(self, line: int, label: str) -> str:
        if self.symbols is None:
            return "" if label == "0" else plain_word(label)
        if label in self.symbols:
            return plain_word(self.symbols[label])
        if label.isdecimal():
            raise self.source.error(line, f"found label {label}, which the symbol table does not have")
        return plain_word(label)

    def add(
        self, line: int, fields: list[str], label: str, scores: tuple[float, float], ids: str = ""
    ) -> None:
        start, end = self.source.node(line, fields[0]), self.source.node(line, fields[1])
        self._begin(line, start)
        acoustic, language = scores
        self.edges.append(Edge(start, end, self.word(line, label), acoustic, language, 0.0, ids))
        self.lines.append(line)

    def end(self, line: int, state: str, scores: tuple[float, float]) -> None:
        node = self.source.node(line, state)
        self._begin(line, node)
        if node in self.finals:
            raise self.source.error(line, f"found final state {node} again, expected it once")
        if max(scores) > -math.inf and min(scores) > -math.inf:
            self.finals[node] = Final(*scores)

    def _begin(self, line: int, node: int) -> None:
        if self.start is None:
            self.start, self.first_line = node, line

    def lattice(self, name: str | None, times: Mapping[int, float]) -> Lattice:
        if self.start is None or not self.finals:
            last = len(self.source.lines) if self.start is None else self.first_line
            raise self.source.error(last, "found no final state, expected one; the file may be cut short")
        self.source.found(self.first_line, self.lines)
        return Lattice(self.edges, self.finals, self.start, name, times)


# --------------------------------------------------------------------- OpenFst


def read_openfst(
    source: Source, symbols: Symbols | None = None, acceptor: bool | None = None
) -> Iterator[Lattice]:
    """Read the one machine of a file; None looks whether lines have one label or two."""
    rows = [(line, text.split()) for line, text in enumerate(source.lines, 1) if text.strip()]
    if acceptor is None:
        acceptor = _is_acceptor(source, rows)
    arcs = _Arcs(source, symbols)
    most = 4 if acceptor else 5
    for line, fields in rows:
        if len(fields) <= 2:
            cost = source.cost(line, fields[1], "weight") if len(fields) == 2 else 0.0
            arcs.end(line, fields[0], (cost, 0.0))
        elif most - 1 <= len(fields) <= most:
            cost = source.cost(line, fields[-1], "weight") if len(fields) == most else 0.0
            arcs.add(line, fields, fields[2 if acceptor else 3], (cost, 0.0))
        else:
            kind = "from to label [weight]" if acceptor else "from to input output [weight]"
            raise source.error(line, f"found {len(fields)} columns, expected {kind} or state [weight]")
    yield arcs.lattice(None, {})


def _is_acceptor(source: Source, rows: list[tuple[int, list[str]]]) -> bool:
    """Tell whether lines of four columns end in a weight; an error where both can be meant."""
    widths = {len(fields) for _, fields in rows}
    if 5 in widths:
        return False
    if 3 in widths or 4 not in widths:
        return True
    fourth = [(line, fields[3]) for line, fields in rows if len(fields) == 4]
    if any(_is_word(text) for _, text in fourth):
        return False
    if any("." in text or "e" in text.lower() or "inf" in text.lower() for _, text in fourth):
        return True
    message = (
        "the last of four columns can be a label or a weight; say openfst-acceptor or openfst-transducer"
    )
    raise source.error(fourth[0][0], message)


def _is_word(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return True
    return False


def write_openfst(lattice: Lattice) -> Iterator[str]:
    """Give the lines of an acceptor whose costs are those of the scaled scores."""
    for edge, weight in _start_first(lattice):
        yield f"{edge.start} {edge.end} {_label(edge.word)} {format_number(-weight or 0.0)}"
    scales = lattice.scales
    for node, final in lattice.finals.items():
        weight = scales.acoustic * final.acoustic + scales.language * final.language
        yield f"{node} {format_number(-weight or 0.0)}"


def _start_first(lattice: Lattice) -> Iterator[tuple[Edge, float]]:
    """Give the edges with their weights, one of the start first: OpenFst takes its state for the start."""
    rows = [(edge, scaled_weight(lattice, edge)) for edge in lattice.edges]
    rows = [(edge, weight) for edge, weight in rows if weight > -math.inf]
    if rows and rows[0][0].start != lattice.start:
        first = next((i for i, (edge, _) in enumerate(rows) if edge.start == lattice.start), None)
        if first is None:
            raise ModelError("no edge leaves the start, which OpenFst's text cannot say")
        rows.insert(0, rows.pop(first))
    yield from rows


def scaled_weight(lattice: Lattice, edge: Edge) -> float:
    """Return what an edge weighs by the lattice's own scores and scales."""
    scales = lattice.scales
    parts = (
        (scales.acoustic, edge.acoustic),
        (scales.language, edge.language),
        (scales.pronunciation, edge.pronunciation),
    )
    weight = sum(scale * score for scale, score in parts if scale)
    return weight + scales.word_penalty * len(edge.word.split())


def _label(word: str) -> str:
    if not word:
        return "<eps>"
    if len(word.split()) != 1 or word.strip() != word:
        raise ModelError(f"an edge has the words '{word:.40}', expected one word; convert to slf or json")
    return word


# ----------------------------------------------------------------------- Kaldi


def read_kaldi(
    source: Source, symbols: Symbols | None = None, frame_seconds: float = FRAME_SECONDS
) -> Iterator[Lattice]:
    """Read an archive of text lattices, compact or not."""
    name: str | None = None
    rows: list[tuple[int, list[str]]] = []
    for line, text in enumerate(source.lines, 1):
        fields = text.split()
        if fields and name is None:
            if len(fields) != 1:
                raise source.error(line, f"found '{text.strip():.40}', expected the name of an utterance")
            name = fields[0]
        elif fields:
            rows.append((line, fields))
        elif name is not None:
            if not rows:
                message = f"the lattice of {name} is empty, expected arcs and a final state"
                raise source.error(line, message)
            yield _kaldi_lattice(source, name, rows, symbols, frame_seconds)
            name, rows = None, []
    if name is not None:
        raise source.error(
            len(source.lines), f"the lattice of {name} has no empty line after it; the file may be cut short"
        )


def _kaldi_lattice(
    source: Source,
    name: str,
    rows: list[tuple[int, list[str]]],
    symbols: Symbols | None,
    frame_seconds: float,
) -> Lattice:
    arcs = _Arcs(source, symbols)
    for line, fields in rows:
        weighted = len(fields) in (2, 4, 5) and "," in fields[-1]
        scores, ids = _weight(source, line, fields[-1]) if weighted else ((0.0, 0.0), "")
        labels = fields[2:-1] if weighted else fields[2:]
        if len(fields) <= 2:
            if len(fields) == 2 and not weighted:
                raise source.error(line, f"found weight '{fields[1]:.40}', expected graph,acoustic costs")
            arcs.end(line, fields[0], scores)
        elif 1 <= len(labels) <= 2:
            arcs.add(line, fields, labels[-1], scores, ids)
        else:
            raise source.error(
                line, f"found {len(fields)} columns, expected from to word graph,acoustic,transitions"
            )
    lattice = arcs.lattice(name, {})
    return _with_times(lattice, frame_seconds)


def _weight(source: Source, line: int, text: str) -> tuple[tuple[float, float], str]:
    parts = text.split(",")
    if len(parts) not in (2, 3):
        raise source.error(line, f"found weight '{text:.40}', expected graph,acoustic or graph,acoustic,ids")
    graph, acoustic = (source.cost(line, part, "cost") for part in parts[:2])
    return (acoustic, graph), parts[2] if len(parts) == 3 else ""


def _with_times(lattice: Lattice, frame_seconds: float) -> Lattice:
    """Count the transition ids of compact lattices: as many as frames."""
    if not any(edge.alignment for edge in lattice.edges):
        return lattice
    leaving: dict[int, list[Edge]] = {}
    for edge in lattice.edges:
        leaving.setdefault(edge.start, []).append(edge)
    frames = {lattice.start: 0}
    try:
        order = lattice.order()
    except ModelError:
        return lattice  # said when the lattice is used, with its place
    for node in order:
        for edge in leaving.get(node, ()) if node in frames else ():
            count = edge.alignment.count("_") + 1 if edge.alignment else 0
            frames.setdefault(edge.end, frames[node] + count)
    times = {node: count * frame_seconds for node, count in frames.items()}
    return Lattice(
        lattice.edges, lattice.finals, lattice.start, lattice.id, times, num_nodes=lattice.num_nodes
    )


def write_kaldi(lattice: Lattice, *, compact: bool) -> Iterator[str]:
    """Give the lines of a lattice in an archive; scores of pronunciation go with the graph's."""
    if lattice.id is None or not str(lattice.id).split():
        raise ModelError("a lattice has no name, which Kaldi's archives need; give it an id")
    yield str(lattice.id)
    rows = sorted(lattice.edges, key=lambda edge: edge.start != lattice.start)  # the start's first
    for edge in rows:
        label = _label(edge.word)
        labels = label if compact else f"0 {label}"
        costs = _costs(edge.acoustic, edge.language + edge.pronunciation)
        yield f"{edge.start} {edge.end} {labels} {costs}{',' + edge.alignment if compact else ''}"
    for node, final in lattice.finals.items():
        yield f"{node} {_costs(final.acoustic, final.language)}{',' if compact else ''}"
    yield ""


def _costs(acoustic: float, graph: float) -> str:
    texts = (
        "Infinity" if value == -math.inf else format_number(-value or 0.0) for value in (graph, acoustic)
    )
    return ",".join(texts)
