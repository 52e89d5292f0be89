"""Found: what a draft asks about the values of one private column, in SQL; the room that looks at the rows answers.

The answers are secret until the owner vouches for what was made of them, so every drafted fact is named as read from the
data, and bounds are rounded outwards.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

MOST_CATEGORIES = 60
"""A column of more different texts is rather one of names than of categories."""


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
    scale: Literal["linear", "log"]
    found: tuple[str, ...]
    """Which facts beside the bounds were read from the data."""


def all_are(texts: Found, test: str) -> bool:
    """Whether all texts meet a test of the trimmed text `(x`; not if there are none."""
    return bool(texts.ask(f"coalesce(bool_and({test.replace('(x', '(trim(x)')}), false)")[0])


def range_of(found: Found) -> Range:
    """Bounds rounded outwards, zero as an atom if it is frequent, a log scale for a long tail."""
    zeros, distinct = found.ask("avg((x = 0)::INTEGER), count(DISTINCT x)")
    special: tuple[float, ...] = ()
    if zeros > 0.05 and distinct > 32:
        special, found = (0.0,), found.where("x <> 0")
    low, high, middle = (float(v) for v in found.ask("min(x), max(x), median(x::DOUBLE)"))
    log = low > 0 and high > 30 * middle
    bottom = max(10.0 ** math.floor(math.log10(low)), 5e-324) if log else rounded_out(low, up=False)
    top = rounded_out(high, up=True)
    if not bottom < top:
        bottom, top = bottom - max(1.0, abs(bottom) / 10), top + max(1.0, abs(top) / 10)
    facts = (("special",) if special else ()) + (("scale",) if log else ())
    return Range(bottom, top, special, "log" if log else "linear", facts)


def rounded_out(value: float, *, up: bool) -> Any:
    """Away from the data to a round number, so that a bound says little about the row that holds it."""
    if value == 0:
        return 0
    step = 5 * 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    if not (step > 0 and math.isfinite(value / step)):
        return value
    rounded = (math.ceil if up else math.floor)(value / step) * step
    if not math.isfinite(rounded):
        return value
    return round(rounded) if step >= 1 else float(f"{rounded:.12g}")
