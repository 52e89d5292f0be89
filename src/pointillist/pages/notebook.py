"""Notebook boxes: what a value looks like where a notebook shows it. Small, themed, and every text in it escaped.

A noun says what stands in its box, with `_repr_html_`; how boxes are drawn is said here alone. Notebooks keep what they
show, and are passed on: nothing that was read from private rows may stand in a box, unless `private` says so above it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from pointillist.pages import render

ROWS = 20
"""Rows of a table that are shown: a screenful."""
_LONGEST = 160
"""Letters of a text in a cell."""


@dataclass(frozen=True)
class Rows:
    """A table in a box."""

    headings: Sequence[str]
    rows: Sequence[Sequence[Any]]
    numbers: Sequence[str] = ()
    """Headings of columns that hold figures: those stand to the right."""

    grades = ("good", "fair", "poor")
    """Words that are coloured."""

    @property
    def shown(self) -> list[list[Any]]:
        """The first rows, with texts cut that would fill the screen."""
        return [[_short(cell) for cell in row] for row in self.rows[:ROWS]]

    @property
    def more(self) -> int:
        """How many rows are not shown."""
        return max(0, len(self.rows) - ROWS)


@dataclass(frozen=True)
class Box:
    """A heading, sentences, tables and notes."""

    heading: str
    beside: str = ""
    """Beside the heading, in a lighter colour."""
    lines: Sequence[str | Markup] = ()
    tables: Sequence[Rows] = ()
    notes: Sequence[str] = ()
    private: str = ""
    """Why the notebook must not be passed on with it."""

    def to_html(self) -> str:
        """The box, for the output of a cell."""
        return render("box.html", box=self)


def interval(value: float, low: float, high: float, *others: float) -> Markup:
    """A line from low to high with a dot at the value, on a scale that has room for other figures of its kind, too."""
    first, last = min(value, low, *others), max(value, high, *others)
    left, right, dot = (4 + 152 * (each - first) / ((last - first) or 1.0) for each in (low, high, value))
    return Markup(
        f'<svg class="range" width="160" height="12" role="img" aria-label="interval">'
        f'<path d="M{left:.1f} 6H{right:.1f}M{left:.1f} 2v8M{right:.1f} 2v8" stroke-width="1.5"/>'
        f'<circle cx="{dot:.1f}" cy="6" r="3.5" stroke="none"/></svg>'
    )


def _short(cell: Any) -> Any:
    if hasattr(cell, "__html__"):
        return cell
    text = str(cell)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
