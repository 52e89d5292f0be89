"""Figure: error against processor time, one dot for each method, as an SVG written by hand."""

import math
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import pyarrow as pa

from .methods import METHODS
from .results import by_method, groups

_WIDTH, _HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 40, 52
_OURS, _THEIRS, _GREY = "#c2410c", "#1d4ed8", "#6b7280"


@dataclass(frozen=True)
class Dot:
    """A method's mean cost and error."""

    method: str
    seconds: float
    error: float


def figures(table: pa.Table, measure: str = "tvd_3") -> dict[str, str]:
    """An SVG for each data set and epsilon with at least two methods, by file name."""
    found = {}
    for dataset, epsilon, rows in groups(table):
        scored = [row for row in rows if row["status"] == "done" and row[measure] is not None]
        dots = [_dot(name, mine, measure) for name, mine in by_method(scored) if mine[0]["epsilon"] is not None]
        if len(dots) > 1:
            blind = [row[measure] for row in scored if row["method"] == "shuffled"]
            title = f"{dataset}, ε = {epsilon:g}: 3-way error against processor time"
            found[f"{dataset}-epsilon{epsilon:g}.svg"] = draw(title, dots, blind[0] if blind else None)
    return found


def _dot(name: str, rows: list[dict[str, Any]], measure: str) -> Dot:
    cost = float(np.mean([row["cpu_seconds"] for row in rows]))
    return Dot(name, max(cost, 0.1), float(np.mean([row[measure] for row in rows])))


def draw(title: str, dots: list[Dot], blind: float | None) -> str:
    """The figure; `blind` is the error of the real columns shuffled, drawn as a line."""
    first = math.floor(math.log10(min(dot.seconds for dot in dots)))
    last = max(first + 1, math.ceil(math.log10(max(dot.seconds for dot in dots))))
    step = _step(max([dot.error for dot in dots] + ([blind] if blind else [])))
    top = step * math.ceil(max([dot.error for dot in dots] + ([blind] if blind else [])) / step)

    def x(seconds: float) -> float:
        return _LEFT + (math.log10(seconds) - first) / (last - first) * (_WIDTH - _LEFT - _RIGHT)

    def y(error: float) -> float:
        return _HEIGHT - _BOTTOM - error / top * (_HEIGHT - _TOP - _BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
        f'font-size="12" role="img"><title>{escape(title)}</title>',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_LEFT, 22, title, size=14),
        _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 12, "CPU seconds (log scale)", anchor="middle"),
    ]
    for power in range(first, last + 1):
        at = x(10.0**power)
        parts.append(_line(at, y(0), at, y(top), "#e5e7eb"))
        parts.append(_text(at, _HEIGHT - _BOTTOM + 18, f"{10.0**power:,g}", anchor="middle"))
    for number in range(round(top / step) + 1):
        at = y(number * step)
        parts.append(_line(_LEFT, at, _WIDTH - _RIGHT, at, "#e5e7eb"))
        parts.append(_text(_LEFT - 8, at + 4, f"{number * step:g}", anchor="end"))
    if blind is not None:
        parts.append(_line(_LEFT, y(blind), _WIDTH - _RIGHT, y(blind), _GREY, dash=True))
        parts.append(_text(_LEFT + 6, y(blind) - 6, "columns shuffled", colour=_GREY))
    for dot in dots:
        colour = _OURS if dot.method in METHODS and METHODS[dot.method].environment is None else _THEIRS
        right = x(dot.seconds) > _WIDTH * 0.7
        parts.append(f'<circle cx="{x(dot.seconds):.1f}" cy="{y(dot.error):.1f}" r="5" fill="{colour}"/>')
        place = x(dot.seconds) + (-10 if right else 10)
        label = METHODS[dot.method].label if dot.method in METHODS else dot.method
        parts.append(_text(place, y(dot.error) - 8, label, anchor="end" if right else "start", colour=colour))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _step(most: float) -> float:
    """A round distance between lines, for about five of them."""
    rough = max(most, 1e-6) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * unit for unit in (1, 2, 5, 10) if power * unit >= rough)


def _text(x: float, y: float, text: str, *, size: int = 12, anchor: str = "start", colour: str = "#111827") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, *, dash: bool = False) -> str:
    dashes = ' stroke-dasharray="5 4"' if dash else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{dashes}/>'
