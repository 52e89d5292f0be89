"""Drafting: what a draft asks about the values of one private column, in SQL; the room that looks at the rows answers.

The answers are secret until the owner vouches for what was made of them, so every drafted fact is named as read from the
data, and bounds are rounded outwards.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

MOST_VALUES = 1024
"""A linear column with at most so many values has a level for each."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """The different finite numbers of a column in order, and how many rows have each."""

    values: NDArray[np.float64]
    often: NDArray[np.int64]

    @property
    def filled(self) -> int:
        """How many rows have one."""
        return int(self.often.sum())

    @property
    def whole(self) -> bool:
        """Whether all are whole, and small enough to be exact."""
        return bool((np.trunc(self.values) == self.values).all() and (np.abs(self.values) < 2.0**53).all())

    def kept(self, which: NDArray[np.bool_]) -> "Numbers":
        """Some of them."""
        return Numbers(self.values[which], self.often[which])

    def rounded(self, digits: int) -> "Numbers":
        """The same with so many digits after the point: some may become one."""
        with np.errstate(over="ignore", invalid="ignore"):  # so large a number has no digits to lose
            short = np.round(self.values, digits)
        values, places = np.unique(np.where(np.isfinite(short), short, self.values), return_inverse=True)
        return Numbers(values, np.bincount(places, weights=self.often).astype(np.int64))

    def quantiles(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The numbers below which these shares of the rows lie."""
        up_to = np.cumsum(self.often)
        places = np.searchsorted(up_to, shares * up_to[-1], side="left")
        return self.values[np.minimum(places, len(self.values) - 1)]


class Found(Protocol):
    """The different values `x` of one column, without those that are missing, and how many rows `n` have each."""

    @property
    def type(self) -> str:
        """Their type, as DuckDB calls it."""

    @property
    def format(self) -> str | None:
        """How they were written, if they were read from texts by a `Reading` that says so."""

    @property
    def filled(self) -> int:
        """How many rows have one."""

    @property
    def distinct(self) -> int:
        """How many different ones."""

    @property
    def missing(self) -> bool:
        """Whether some row has none."""

    def ask(self, aggregates: str) -> tuple[Any, ...]:
        """Aggregates over the different values."""

    def often(self, expression: str) -> Any:
        """What most rows have of an expression of the values; of those alike the first. None if there are none."""

    def where(self, test: str) -> "Found":
        """Those values that meet a test."""

    def cast(self, expression: str, type: str) -> "Found":
        """An expression of the values in their place."""

    def some(self) -> Any:
        """Any one of the values; none if there is none."""

    def ranked(self, most: int) -> list[tuple[Any, int]]:
        """Values that most rows have, and how many have them: up to so many."""

    def numbers(self) -> Numbers:
        """All of them, where they are finite numbers."""


@dataclass(frozen=True)
class Reading:
    """How the texts `x` of a file are read as values of a type."""

    type: str
    """As DuckDB calls it."""
    expression: str
    """SQL that makes such a value of a text."""
    format: str | None = None
    """How the texts are written, where that must be known to write others like them."""


def all_are(texts: Found, test: str) -> bool:
    """Whether all texts meet a test of the trimmed text `(x`; not if there are none."""
    return bool(texts.ask(f"coalesce(bool_and({test.replace('(x', '(trim(x)')}), false)")[0])


def rounded_out(value: float, *, up: bool, span: float = math.inf) -> Any:
    """Away from the data to a round number, so that a bound says little about the row that holds it.

    Two digits of the value are kept, the second 0 or 5; or, where that is nearer, it is moved by a fiftieth of the span of
    all values at most: years are not rounded to centuries.
    """
    if value == 0:
        return 0
    step = 5 * 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    if 0 < span < math.inf:
        step = min(step, _round_step(span / 50))
    if not (step > 0 and math.isfinite(value / step)):
        return value
    rounded = (math.ceil if up else math.floor)(value / step) * step
    if not math.isfinite(rounded):
        return value
    return round(rounded) if step >= 1 else float(f"{rounded:.12g}")


def _round_step(most: float) -> float:
    """The largest of 1, 2, 5, 10, 20, … times a power of ten that is not above a number."""
    power = 10.0 ** math.floor(math.log10(most))
    return next((times * power for times in (5, 2) if times * power <= most), power)
