"""Drafting: what a draft asks about the values of one private column, in SQL; the room that looks at the rows answers.

The answers are secret until the owner vouches for what was made of them, so every drafted fact is named as read from the
data, and bounds are rounded outwards.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from pointillist.schema.scale import ScaleName

MOST_CATEGORIES = 60
"""A column of more different texts is rather one of names than of categories."""

MOST_VALUES = 1024
"""A linear column with at most so many values has a level for each."""
_FEW, _ZERO, _OFTEN, _MOST_FREQUENT = 32, 0.05, 0.1, 8
"""Of more than so many different values, zero and others that are over such a part of all keep a level of their own: up to
so many of them."""
_TAIL = 30.0
"""A tail is long if it reaches so many times as far as half of the values."""


class Found(Protocol):
    """The values of one column `x`, without those that are missing."""

    @property
    def type(self) -> str:
        """Their type, as DuckDB calls it."""

    @property
    def format(self) -> str | None:
        """How they were written, if they were read from texts by a `Reading` that says so."""

    @property
    def filled(self) -> int:
        """How many there are."""

    @property
    def distinct(self) -> int:
        """How many different ones."""

    @property
    def missing(self) -> bool:
        """Whether some row has none."""

    def ask(self, aggregates: str) -> tuple[Any, ...]:
        """Aggregates of the values."""

    def often(self, expression: str) -> Any:
        """What comes most often of an expression of the values; of those alike the first. None if there are none."""

    def where(self, test: str) -> "Found":
        """Those values that meet a test."""

    def cast(self, expression: str, type: str) -> "Found":
        """An expression of the values in their place."""

    def some(self) -> Any:
        """Any one of the values; none if there is none."""

    def values(self) -> list[Any]:
        """All different values."""


@dataclass(frozen=True)
class Reading:
    """How the texts `x` of a file are read as values of a type."""

    type: str
    """As DuckDB calls it."""
    expression: str
    """SQL that makes such a value of a text."""
    format: str | None = None
    """How the texts are written, where that must be known to write others like them."""


class Range(NamedTuple):
    """Where drafted numbers lie."""

    low: float
    high: float
    special: tuple[float, ...]
    scale: ScaleName
    found: tuple[str, ...]
    """Which facts beside the bounds were read from the data."""


def all_are(texts: Found, test: str) -> bool:
    """Whether all texts meet a test of the trimmed text `(x`; not if there are none."""
    return bool(texts.ask(f"coalesce(bool_and({test.replace('(x', '(trim(x)')}), false)")[0])


def range_of(found: Found, unit: float | None = None) -> Range:
    """Bounds rounded outwards, zero and other frequent values as atoms, a log scale for a long tail, an asinh scale for a
    long tail that begins at zero or below. `unit` is the step from one number to the next, where there is one."""
    special, found = _frequent(found, unit)
    low, high, middle = (float(v) for v in found.ask("min(x), max(x), median(abs(x::DOUBLE))"))
    few = _few(low, high, unit)
    tailed = max(-low, high) > _TAIL * middle > 0
    scale: ScaleName = "linear" if not tailed else "log" if low > 0 else "linear" if few else "asinh"
    span = high - low
    bottom = (
        max(10.0 ** math.floor(math.log10(low)), 5e-324) if scale == "log" else rounded_out(low, up=False, span=span)
    )
    top = rounded_out(high, up=True, span=span)
    if not bottom < top:
        bottom, top = bottom - max(1.0, abs(bottom) / 10), top + max(1.0, abs(top) / 10)
    facts = (("special",) if special else ()) + (("scale",) if scale != "linear" else ())
    return Range(bottom, top, special, scale, facts)


def _few(low: float, high: float, unit: float | None) -> bool:
    """Whether so few numbers lie between two that each has a level of its own."""
    return unit is not None and high - low < MOST_VALUES * unit


def _frequent(found: Found, unit: float | None) -> tuple[tuple[float, ...], Found]:
    """Values that one in ten rows has, and all other values: what a bin would blur, such as a ceiling on pay.

    Where every value has a level of its own, only zero is set apart; and nothing where there are few values in all.
    """
    low, high, zeros, filled, distinct = found.ask("min(x), max(x), avg((x = 0)::INTEGER), count(x), count(DISTINCT x)")
    special: tuple[float, ...] = ()
    if distinct <= _FEW:
        return special, found
    if zeros > _ZERO:
        special, found = (0.0,), found.where("x <> 0")
    while len(special) < _MOST_FREQUENT and not _few(float(low), float(high), unit):
        value = float(found.often("x"))
        if found.ask(f"count(*) FILTER (x = {value!r}::DOUBLE)")[0] <= _OFTEN * filled:
            break
        special, found = (*special, value), found.where(f"x <> {value!r}::DOUBLE")
    return special, found


def rounded_out(value: float, *, up: bool, span: float = math.inf) -> Any:
    """Away from the data to a round number, so that a bound says little about the row that holds it.

    Two digits are kept, of the value or, where that is less, of the span of all values: years are not rounded to
    centuries.
    """
    if value == 0:
        return 0
    step = 5 * 10.0 ** (math.floor(math.log10(min(abs(value), span or math.inf))) - 1)
    if not (step > 0 and math.isfinite(value / step)):
        return value
    rounded = (math.ceil if up else math.floor)(value / step) * step
    if not math.isfinite(rounded):
        return value
    return round(rounded) if step >= 1 else float(f"{rounded:.12g}")
