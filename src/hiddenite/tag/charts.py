"""Small charts as SVG inside a page: points and lines between two axes, in the colours of the page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

_WIDTH, _HEIGHT = 340, 270
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 12, 40
_LARGEST = 11.0  # radius of a point


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a chart."""

    x: float
    y: float
    says: str  # when the pointer rests on it
    size: float = 0.1  # share of the largest area


@dataclass(frozen=True, slots=True)
class Axis:
    """One direction: its ends and what is written along it."""

    label: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]


def chart(
    x: Axis,
    y: Axis,
    lines: Sequence[Sequence[Point]],
    *,
    title: str,
    names: Sequence[str] = (),
    diagonal: bool = False,
) -> str:
    """Return a chart of some lines; ``diagonal`` draws the one from corner to corner."""
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{html.escape(title)}">',
        *_frame(x, y),
    ]
    if diagonal:
        parts.append(_line([(_LEFT, _HEIGHT - _BOTTOM), (_WIDTH - _RIGHT, _TOP)], "diagonal"))
    for number, points in enumerate(lines):
        places = [(_place_x(p.x, x), _place_y(p.y, y)) for p in points]
        parts.append(f'<g class="series{number}">')
        parts.append(_line(places, "line"))
        for (px, py), point in zip(places, points, strict=True):
            radius = max(2.0, _LARGEST * point.size**0.5)
            parts.append(
                f'<circle cx="{px:.1f}" cy="{py:.1f}" r="{radius:.1f}">'
                f"<title>{html.escape(point.says)}</title></circle>"
            )
        if names:
            place = _HEIGHT - _BOTTOM - 8 - 15 * (len(lines) - 1 - number)
            name = html.escape(names[number])
            parts.append(f'<text x="{_WIDTH - _RIGHT - 8}" y="{place}" class="end">{name}</text>')
        parts.append("</g>")
    return "".join([*parts, "</svg>"])


def _place_x(value: float, axis: Axis) -> float:
    return _LEFT + (value - axis.low) / (axis.high - axis.low) * (_WIDTH - _LEFT - _RIGHT)


def _place_y(value: float, axis: Axis) -> float:
    return _HEIGHT - _BOTTOM - (value - axis.low) / (axis.high - axis.low) * (_HEIGHT - _TOP - _BOTTOM)


def _line(places: Sequence[tuple[float, float]], kind: str) -> str:
    points = " ".join(f"{px:.1f},{py:.1f}" for px, py in places)
    return f'<polyline class="{kind}" points="{points}"/>'


def _frame(x: Axis, y: Axis) -> list[str]:
    """Return the grid, the numbers along it, and the names of the axes."""
    base = _HEIGHT - _BOTTOM
    parts = []
    for value, text in x.ticks:
        px = _place_x(value, x)
        parts.append(_line([(px, _TOP), (px, base)], "grid"))
        parts.append(f'<text x="{px:.1f}" y="{base + 15}" class="middle">{html.escape(text)}</text>')
    for value, text in y.ticks:
        py = _place_y(value, y)
        parts.append(_line([(_LEFT, py), (_WIDTH - _RIGHT, py)], "grid"))
        parts.append(f'<text x="{_LEFT - 6}" y="{py + 4:.1f}" class="end">{html.escape(text)}</text>')
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 6}" class="middle">{html.escape(x.label)}</text>')
    height = (_TOP + base) / 2
    parts.append(
        f'<text transform="translate(11 {height}) rotate(-90)" class="middle">{html.escape(y.label)}</text>'
    )
    return parts
