"""Figure: error against processor time, one dot for each method, as an SVG written by hand."""

import math
from dataclasses import dataclass
from typing import Any, Self
from xml.sax.saxutils import escape

import numpy as np
import pyarrow as pa

from .datasets import OPEN
from .methods import METHODS
from .results import by_method, groups

_WIDTH, _HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 40, 52
_DRAWN = ("registry", *OPEN)
_OURS, _THEIRS, _GREY = "#c2410c", "#1d4ed8", "#6b7280"


@dataclass(frozen=True)
class Dot:
    """A method's mean cost and error."""

    method: str
    seconds: float
    error: float


def figures(table: pa.Table, measure: str = "tvd_3") -> dict[str, str]:
    """An SVG for each open data set and epsilon with at least two methods, by file name; the others have few methods."""
    found = {}
    for dataset, epsilon, rows in groups(table):
        if dataset not in _DRAWN:
            continue
        scored = [row for row in rows if row["status"] == "done" and row[measure] is not None]
        dots = [_dot(name, mine, measure) for name, mine in by_method(scored) if mine[0]["epsilon"] is not None]
        if len(dots) > 1:
            blind = [row[measure] for row in scored if row["method"] == "shuffled"]
            title = f"{dataset}, ε = {epsilon:g}: 3-way error against processor time"
            found[f"{dataset}-epsilon{epsilon:g}.svg"] = draw(title, dots, blind[0] if blind else None)
    return found


def _dot(name: str, rows: list[dict[str, Any]], measure: str) -> Dot:
    cost = float(np.mean([row["cpu_seconds"] for row in rows]))
    error = float(np.mean([row[measure] for row in rows]))
    return Dot(name, max(cost, 0.1), max(error, 1e-6))


def draw(title: str, dots: list[Dot], blind: float | None) -> str:
    """The figure; `blind` is the error of the real columns shuffled, drawn as a line."""
    across = Axis.over([dot.seconds for dot in dots], _LEFT, _WIDTH - _RIGHT)
    up = Axis.over([dot.error for dot in dots] + ([blind] if blind else []), _HEIGHT - _BOTTOM, _TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
        f'font-size="12" role="img"><title>{escape(title)}</title>',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_LEFT, 22, title, size=14),
        _text(
            (_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 12, "CPU seconds (both scales are logarithmic)", anchor="middle"
        ),
    ]
    for value in across.ticks:
        parts.append(_line(across(value), _HEIGHT - _BOTTOM, across(value), _TOP, "#e5e7eb"))
        parts.append(_text(across(value), _HEIGHT - _BOTTOM + 18, f"{value:,g}", anchor="middle"))
    for value in up.ticks:
        parts.append(_line(_LEFT, up(value), _WIDTH - _RIGHT, up(value), "#e5e7eb"))
        parts.append(_text(_LEFT - 8, up(value) + 4, f"{value:g}", anchor="end"))
    if blind:
        parts.append(_line(_LEFT, up(blind), _WIDTH - _RIGHT, up(blind), _GREY, dash=True))
        parts.append(_text(_LEFT + 6, up(blind) - 6, "columns shuffled", colour=_GREY))
    taken: list[tuple[float, float, float]] = []
    for dot in sorted(dots, key=lambda each: each.error):
        x, y = across(dot.seconds), up(dot.error)
        ours = dot.method in METHODS and METHODS[dot.method].environment is None
        label = METHODS[dot.method].label if dot.method in METHODS else dot.method
        width = 7.0 * len(label)
        left = x - 10 - width if x > 0.65 * _WIDTH else x + 10
        height = _free(left, y + 4, width, taken)
        taken.append((left, height, width))
        colour = _OURS if ours else _THEIRS
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>')
        anchor = ("end", left + width) if left < x else ("start", left)
        parts.append(_text(anchor[1], height, label, anchor=anchor[0], colour=colour))
    return "\n".join([*parts, "</svg>"]) + "\n"


def draw_ratios(title: str, names: list[str], marks: dict[str, list[Dot]]) -> str:
    """A line for each data set, a mark for each measure, at what `seconds` says; the rival stands at 1."""
    height = _TOP + 34 * len(names) + 70
    most = max(1.2, *(dot.seconds for dots in marks.values() for dot in dots)) * 1.05

    def across(value: float) -> float:
        return 100 + max(value, 0.0) / most * (_WIDTH - 100 - _RIGHT)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" '
        f'font-size="12" role="img"><title>{escape(title)}</title>',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        _text(16, 22, title, size=13),
    ]
    foot = _TOP + 34 * len(names)
    for tenth in range(0, int(most * 10) + 1, 2):
        x = across(tenth / 10)
        parts.append(_line(x, foot, x, _TOP, _GREY if tenth == 10 else "#e5e7eb", dash=tenth == 10))
        parts.append(_text(x, foot + 16, f"{tenth / 10:g}", anchor="middle"))
    for number, name in enumerate(names):
        y = _TOP + 34 * number + 17
        parts.append(_line(100, y, _WIDTH - _RIGHT, y, "#f3f4f6"))
        parts.append(_text(92, y + 4, name, anchor="end"))
    left = 16.0
    for (label, dots), colour in zip(
        marks.items(), ("#fdba74", "#f97316", "#c2410c", "#7c3aed", "#1d4ed8"), strict=False
    ):
        for dot in dots:
            y = _TOP + 34 * names.index(dot.method) + 17
            parts.append(f'<circle cx="{across(dot.seconds):.1f}" cy="{y:.1f}" r="6" fill="{colour}"/>')
        parts.append(f'<circle cx="{left:.1f}" cy="{foot + 40}" r="6" fill="{colour}"/>')
        parts.append(_text(left + 10, foot + 44, label))
        left += 34 + 7.0 * len(label)
    return "\n".join([*parts, "</svg>"]) + "\n"


@dataclass(frozen=True)
class Axis:
    """A logarithmic scale with round numbers at its ends, from one place of the figure to another."""

    ticks: tuple[float, ...]
    start: float
    end: float

    @classmethod
    def over(cls, values: list[float], start: float, end: float) -> Self:
        powers = range(math.floor(math.log10(min(values))) - 1, math.ceil(math.log10(max(values))) + 2)
        grid = [unit * 10.0**power for power in powers for unit in (1, 2, 5)]
        below = max(number for number, value in enumerate(grid) if value <= min(values))
        above = min(number for number, value in enumerate(grid) if value >= max(values))
        return cls(tuple(grid[below : max(above, below + 1) + 1]), start, end)

    def __call__(self, value: float) -> float:
        low, high = math.log(self.ticks[0]), math.log(self.ticks[-1])
        return self.start + (math.log(value) - low) / (high - low) * (self.end - self.start)


def _free(left: float, y: float, width: float, taken: list[tuple[float, float, float]]) -> float:
    """The nearest height from `y` upwards at which a label covers no other."""
    while any(abs(y - other) < 14 and left < x + w and x < left + width for x, other, w in taken):
        y -= 2
    return y


def _text(x: float, y: float, text: str, *, size: int = 12, anchor: str = "start", colour: str = "#111827") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, *, dash: bool = False) -> str:
    dashes = ' stroke-dasharray="5 4"' if dash else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{dashes}/>'
