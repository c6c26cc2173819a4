"""Small lattices as pictures: SVG with nodes from left to right, without any other program.

A node's column is the most words that a path to it has; its row is chosen near the rows of the nodes before
it. Edges are curves with their word and, if given, their probability, which also sets the width of the line.
Colours follow the reader's preference of light or dark.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from hiddenite.errors import ModelError
from hiddenite.lattice.lattice import Lattice

MOST_EDGES = 400  # more cannot be read
_COLUMN, _ROW, _MARGIN, _RADIUS = 120, 64, 40, 13
_STYLE = (
    "svg{background:#fff;color:#222;font:13px sans-serif}"
    "@media(prefers-color-scheme:dark){svg{background:#181818;"
    "color:#ddd}}path{fill:none;stroke:currentColor}circle{fill:none;stroke:currentColor}"
    "text{fill:currentColor;text-anchor:middle}"
)


def draw_svg(lattice: Lattice, probabilities: Sequence[float] | None = None) -> str:
    """Return a picture; ModelError for a lattice too large to be read."""
    if len(lattice.edges) > MOST_EDGES:
        raise ModelError(
            f"the lattice has {len(lattice.edges):,} edges, expected at most {MOST_EDGES}; prune it first"
        )
    places = _places(lattice)
    width = max(x for x, _ in places) + _MARGIN
    height = max(y for _, y in places) + _MARGIN + _ROW
    title = "lattice" if lattice.id is None else f"lattice {lattice.id}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" width="{width}">',
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style>",
        *_edges(lattice, places, probabilities),
        *_nodes(lattice, places),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _places(lattice: Lattice) -> list[tuple[int, int]]:
    column = [0] * lattice.num_nodes
    before: list[list[int]] = [[] for _ in range(lattice.num_nodes)]
    order = lattice.order()
    for edge in lattice.edges:
        before[edge.end].append(edge.start)
    for node in order:
        column[node] = max((column[start] + 1 for start in before[node]), default=0)
    used: dict[int, set[int]] = {}
    row = [0] * lattice.num_nodes
    for node in order:
        wanted = round(sum(row[start] for start in before[node]) / len(before[node])) if before[node] else 0
        taken = used.setdefault(column[node], set())
        row[node] = next(r for r in _near(wanted) if r >= 0 and r not in taken)
        taken.add(row[node])
    return [
        (_MARGIN + column[node] * _COLUMN, _MARGIN + row[node] * _ROW) for node in range(lattice.num_nodes)
    ]


def _near(wanted: int) -> Iterator[int]:
    step = 0
    while True:
        yield wanted + step
        if step:
            yield wanted - step
        step += 1


def _edges(
    lattice: Lattice, places: list[tuple[int, int]], probabilities: Sequence[float] | None
) -> Iterator[str]:
    parallel: dict[tuple[int, int], int] = {}
    for number, edge in enumerate(lattice.edges):
        bend = parallel.get((edge.start, edge.end), 0)
        parallel[edge.start, edge.end] = bend + 1
        (x1, y1), (x2, y2) = places[edge.start], places[edge.end]
        far = (x2 - x1) // _COLUMN > 1
        lift = (-1 if bend % 2 else 1) * ((bend + 1) // 2) * 22 + (18 if far and y1 == y2 else 0)
        middle, top = (x1 + x2) / 2, (y1 + y2) / 2 + lift
        prob = None if probabilities is None else probabilities[number]
        stroke = 1.0 if prob is None else 0.5 + 3.0 * prob
        shown = html.escape(edge.word or "ε") + ("" if prob is None else f" {prob:.2f}")
        control = 2 * top - (y1 + y2) / 2
        yield (
            f'<path d="M{x1 + _RADIUS},{y1} Q{middle:g},{control:g} {x2 - _RADIUS},{y2}" '
            f'stroke-width="{stroke:.2f}"/><text x="{middle:g}" y="{top - 4:g}">{shown}</text>'
        )


def _nodes(lattice: Lattice, places: list[tuple[int, int]]) -> Iterator[str]:
    for node, (x, y) in enumerate(places):
        yield f'<circle cx="{x}" cy="{y}" r="{_RADIUS}"/><text x="{x}" y="{y + 4}">{node}</text>'
        if node in lattice.finals:
            yield f'<circle cx="{x}" cy="{y}" r="{_RADIUS - 3}"/>'
