"""Levels: the finite, public set of values at which a column is measured.

A column's levels are numbered from 0: first the regular ones (categories, or bins of a number), then one atom for each
special value, then `other` if the column takes unlisted values, then `missing` if values may be missing. The encoder on
the private side and the decoder on the public side both work from this one numbering.
"""

import datetime as dt
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.schema import Boolean, Categorical, Datetime, Image, Integer, Numeric, Ordinal, Schema

Floats = NDArray[np.float64]

BINS = 16
"""Into how many equal parts of its public range a number is cut where tables are counted and compared."""

_EPOCH = dt.datetime(1970, 1, 1)
_SECONDS = {"day": 86_400, "second": 1}


@dataclass(frozen=True)
class Levels:
    """The levels of one column."""

    name: str
    column: Any  # one of the schema's kinds

    @property
    def numeric(self) -> bool:
        return isinstance(self.column, Numeric)

    @cached_property
    def categories(self) -> tuple[Any, ...]:
        """The categories of a column that is not numeric."""
        if isinstance(self.column, Boolean):
            return (False, True)
        assert isinstance(self.column, Categorical | Ordinal)
        return self.column.categories

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest value of a numeric column; datetimes count in their resolution from 1970."""
        column = self.column
        if isinstance(column, Datetime):
            return float(ticks(column.min, column.resolution)), float(ticks(column.max, column.resolution))
        return float(column.min), float(column.max)

    @property
    def whole(self) -> bool:
        """Whether the column's numbers are whole."""
        return isinstance(self.column, Integer | Datetime)

    @cached_property
    def specials(self) -> tuple[float, ...]:
        return tuple(float(v) for v in getattr(self.column, "special", ()))

    @cached_property
    def edges(self) -> Floats:
        """Bin b of a numeric column holds the values v with edges[b] <= v < edges[b+1] (the last bin takes its edge)."""
        low, high = self.bounds
        if self.whole:
            high += 1.0  # whole numbers: each bin is a run of them, the last edge is one past the largest
            if self.column.scale == "linear":
                span = int(high) - int(low)
                bins = min(self.column.bins, span)
                # -(-a // b) is the ceiling, in integers: the first number of every bin
                return np.array([int(low) - (-number * span // bins) for number in range(bins + 1)], dtype=np.float64)
        bins = self.column.bins
        steps = np.arange(bins + 1) / bins
        if self.column.scale == "log":
            edges = np.exp(math.log(low) + steps * (math.log(high) - math.log(low)))
        else:
            edges = low + steps * (high - low)
        if self.whole:
            edges = np.ceil(edges - 1e-9)
        edges[0], edges[-1] = low, high
        return np.unique(edges)  # on a log scale neighbouring edges may round to the same whole number

    @cached_property
    def regular(self) -> int:
        """How many levels are bins or categories."""
        return len(self.edges) - 1 if self.numeric else len(self.categories)

    @property
    def has_other(self) -> bool:
        return getattr(self.column, "out_of_domain", None) == "other"

    @property
    def has_missing(self) -> bool:
        return bool(self.column.missing)

    @property
    def other(self) -> int:
        """The level of unlisted values."""
        return self.regular + len(self.specials)

    @property
    def missing(self) -> int:
        """The level of missing values."""
        return self.regular + len(self.specials) + self.has_other

    @cached_property
    def size(self) -> int:
        return self.regular + len(self.specials) + self.has_other + self.has_missing

    @cached_property
    def ordered(self) -> bool:
        """Whether neighbouring regular levels are alike, so that tiles may join them."""
        return self.numeric or isinstance(self.column, Ordinal)

    def to_unit(self, values: Floats) -> Floats:
        """Numbers as positions in [0, 1] on the column's scale; what is missing (NaN) sits in the middle."""
        low, high = self.bounds
        clipped = np.clip(values, low, high)
        if self.column.scale == "log":
            unit = (np.log(clipped) - math.log(low)) / (math.log(high) - math.log(low))
        else:
            unit = (clipped - low) / (high - low)
        return np.where(np.isnan(unit), 0.5, np.clip(unit, 0.0, 1.0))

    def from_unit(self, unit: Floats) -> Floats:
        """The inverse of `to_unit`, up to rounding."""
        low, high = self.bounds
        unit = np.clip(unit, 0.0, 1.0)
        if self.column.scale == "log":
            return np.asarray(np.exp(math.log(low) + unit * (math.log(high) - math.log(low))))
        return np.asarray(low + unit * (high - low))

    @cached_property
    def spans(self) -> tuple[Floats, Floats]:
        """Lowest and highest unit position of each level; atoms are points."""
        # A whole number fills its run up to the last number in it; a real one up to the next edge.
        last = self.edges[1:] - 1 if self.whole else np.append(self.edges[1:-1], self.bounds[1])
        specials = np.array(self.specials)
        middle = np.full(int(self.has_missing), np.nan)
        low = np.concatenate([self.edges[:-1], specials, middle])
        high = np.concatenate([last, specials, middle])
        return self.to_unit(low), self.to_unit(high)

    def label(self, level: int) -> str:
        """A level in words, for tables and figures."""
        if level < self.regular:
            if not self.numeric:
                return str(self.categories[level])
            low, high = self.edges[level], self.edges[level + 1]
            if isinstance(self.column, Datetime):
                return str(moment(low, self.column.resolution))
            return f"{low:g}" if self.whole and high - low == 1 else f"[{low:g}, {high:g})"
        if level < self.other:
            return f"= {self.specials[level - self.regular]:.15g}"
        return "other" if self.has_other and level == self.other else "missing"


def coarse(levels: Levels, most: int = BINS) -> NDArray[np.int64]:
    """For each level its number once a number's bins are joined to at most `most`."""
    if not levels.numeric or levels.regular <= most:
        return np.arange(levels.size)
    regular = np.arange(levels.regular) * most // levels.regular
    return np.concatenate([regular, most + np.arange(levels.size - levels.regular)])


def coarse_size(levels: Levels, most: int = BINS) -> int:
    """How many levels `coarse` leaves."""
    return int(coarse(levels, most)[-1]) + 1


def levels_of(schema: Schema) -> tuple[Levels, ...]:
    """The levels of every measured column, in the schema's order; pictures have none."""
    return tuple(Levels(name, column) for name, column in schema.measured.items() if not isinstance(column, Image))


def ticks(when: dt.datetime, resolution: str) -> int:
    """A datetime as a whole number of days or seconds since 1970."""
    return (when - _EPOCH) // dt.timedelta(seconds=_SECONDS[resolution])


def moment(tick: float, resolution: str) -> dt.datetime:
    """The inverse of `ticks`."""
    return _EPOCH + dt.timedelta(seconds=int(tick) * _SECONDS[resolution])
