"""Levels: the finite, public set of values at which a column is measured.

A column's levels are numbered from 0: first the regular ones (categories, or bins of a number), then one atom for each
special value, then `other` if the column takes unlisted values, then `missing` if values may be missing. The encoder on
the private side and the decoder on the public side both work from this one numbering.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.schema.schema import Schema

Floats = NDArray[np.float64]

BINS = 16
"""Into how many equal parts of its public range a number is cut where tables are counted and compared."""


@dataclass(frozen=True)
class Levels:
    """The levels of one column."""

    name: str
    column: Any  # one of the schema's kinds that has levels: a Choice or Bounded

    @property
    def numeric(self) -> bool:
        return bool(self.column.numeric)

    @cached_property
    def categories(self) -> tuple[Any, ...]:
        """The categories of a column that is not numeric."""
        return tuple(self.column.choices)

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest number of a numeric column."""
        low, high = self.column.bounds
        return low, high

    @property
    def whole(self) -> bool:
        """Whether the column's numbers are whole."""
        return self.numeric and self.column.whole

    @cached_property
    def specials(self) -> tuple[float, ...]:
        return tuple(self.column.specials) if self.numeric else ()

    @cached_property
    def edges(self) -> Floats:
        """Bin b of a numeric column holds the values v with edges[b] <= v < edges[b+1] (the last bin takes its edge)."""
        return np.asarray(self.column.edges())

    @cached_property
    def values(self) -> Floats:
        """The number of every bin of a numeric column, where each bin holds one alone; else none."""
        if self.whole and not len(self.column.listed):
            return self.edges[:-1] if (np.diff(self.edges) == 1).all() else np.empty(0)
        return np.asarray(self.column.values())

    @cached_property
    def regular(self) -> int:
        """How many levels are bins or categories."""
        return len(self.edges) - 1 if self.numeric else len(self.categories)

    @property
    def has_other(self) -> bool:
        return not self.numeric and self.column.has_other

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

    @property
    def gap(self) -> int | None:
        """The level of a row without a value; none if every row must have one."""
        if self.has_missing:
            return self.missing
        # Among whole numbers there is no room for a label: synthetic rows write an unlisted value as a gap.
        return self.other if self.column.unlisted_is_missing else None

    @cached_property
    def size(self) -> int:
        return self.regular + len(self.specials) + self.has_other + self.has_missing

    @cached_property
    def ordered(self) -> bool:
        """Whether neighbouring regular levels are alike, so that tiles may join them."""
        return bool(self.column.ordered)

    @cached_property
    def positions(self) -> Floats:
        """Where every level lies among the others: a number in it, or its place; NaN of what has no order.

        Of two categories one is the higher, whichever: so two have an order, and more have none.
        """
        if self.numeric:
            regular = self.column.listed if len(self.column.listed) else (self.edges[:-1] + self.edges[1:]) / 2
        else:
            regular = (
                np.arange(self.regular, dtype=np.float64)
                if self.ordered or self.regular == 2
                else np.full(self.regular, np.nan)
            )
        return np.concatenate([regular, self.specials, np.full(self.size - self.other, np.nan)])

    def to_unit(self, values: Floats) -> Floats:
        """Numbers as positions in [0, 1] on the column's scale; what is missing (NaN) sits in the middle."""
        return np.asarray(self.column.to_unit(values))

    def from_unit(self, unit: Floats) -> Floats:
        """The inverse of `to_unit`, up to rounding."""
        return np.asarray(self.column.from_unit(unit))

    @cached_property
    def spans(self) -> tuple[Floats, Floats]:
        """Lowest and highest unit position of each level; atoms are points."""
        # A whole number fills its run up to the last number in it; a real one up to the next edge.
        first = self.edges[:-1]
        last = self.edges[1:] - 1 if self.whole else np.append(self.edges[1:-1], self.bounds[1])
        if len(self.column.listed):
            first = last = self.column.listed
        specials = np.array(self.specials)
        middle = np.full(int(self.has_missing), np.nan)
        low = np.concatenate([first, specials, middle])
        high = np.concatenate([last, specials, middle])
        return self.to_unit(low), self.to_unit(high)

    def label(self, level: int) -> str:
        """A level in words, for tables and figures."""
        if level < self.regular:
            if self.numeric:
                return str(self.column.show_bin(self.edges[level], self.edges[level + 1]))
            return str(self.categories[level])
        if level < self.other:
            return f"= {self.column.show_atom(self.specials[level - self.regular])}"
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
    return tuple(Levels(name, column) for name, column in schema.measured.items() if column.has_levels)
