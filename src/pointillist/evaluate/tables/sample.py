"""Sample: a table, real or synthetic, as the schema sees it. Every measure of this package compares two samples.

A sample of the real table is as private as the table itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.errors import DataError, UsageError, without_context
from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.tables.outside import Outside, one_after_the_other, outside
from pointillist.features import Records
from pointillist.reading.opening import open_source
from pointillist.reading.rows import read_records
from pointillist.schema import Schema
from pointillist.schema.levels import BINS, Levels, coarse, levels_of


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """Rows as level numbers, and numbers also as positions in [0, 1] on their column's scale."""

    name: str
    """How messages call the table."""
    levels: tuple[Levels, ...]
    records: Records
    outside: Outside = field(default_factory=dict)
    """What the schema has no place for, as the table has it."""

    def __repr__(self) -> str:
        return f"<Sample of {self.name}: {self.rows} rows, {len(self.levels)} columns>"  # and no values

    @property
    def rows(self) -> int:
        return self.records.rows

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.levels)

    def level(self, column: str) -> Levels:
        """The levels of a column."""
        for each in self.levels:
            if each.name == column:
                return each
        raise UsageError(f"{column!r} is not a measured column of the schema. Measured are {', '.join(self.columns)}.")

    def take(self, index: NDArray[Any]) -> Self:
        """Some of the rows, by number or by mask."""
        beyond = {name: values[index] for name, values in self.outside.items()}
        return replace(self, records=self.records.part(index), outside=beyond)

    def at_most(self, rows: int, *, seed: int) -> Self:
        """A random part with no more than `rows` rows."""
        if self.rows <= rows:
            return self
        return self.take(np.sort(np.random.default_rng(seed).choice(self.rows, rows, replace=False)))

    def codes(self, column: str) -> Codes:
        """Level numbers, as the schema counts them."""
        return self.records.codes[column].astype(np.int64)

    def bins(self, column: str, most: int = BINS) -> Codes:
        """Level numbers with a number's bins joined to at most `most`; categories, atoms, gaps stay as they are."""
        return coarse(self.level(column), most)[self.records.codes[column]]

    def missing(self, column: str) -> NDArray[np.bool_]:
        """Where the value is missing."""
        each = self.level(column)
        if not each.has_missing:
            return np.zeros(self.rows, dtype=bool)
        return np.asarray(self.records.codes[column] == each.missing)

    def values(self, column: str) -> Floats:
        """A numeric column's numbers: within bounds, special values as they are, NaN where missing.

        Datetimes count in days or seconds from 1970.
        """
        each, codes = self.level(column), self.records.codes[column]
        values = each.from_unit(self.records.units[column])
        if each.whole:
            values = np.floor(values + 1e-3)  # fractions are dropped, as in the bins; rounding errors are not fractions
        for number, special in enumerate(each.specials):
            values = np.where(codes == each.regular + number, special, values)
        return np.where(self.missing(column), np.nan, values)

    def as_is(self, column: str) -> Floats:
        """The same numbers as the table has them, also beyond the bounds. Infinite ones stay at the bounds."""
        return self.unbounded(column, self.values(column))

    def unbounded(self, column: str, values: Floats) -> Floats:
        """Numbers of the column, with those in place that lie beyond the bounds."""
        beyond = self.outside.get(column)
        return values if beyond is None else np.where(np.isfinite(beyond), beyond, values)


@without_context
def read(table: Any, schema: Schema, *, report: Callable[[float], None] = lambda fraction: None) -> Sample:
    """Read a whole table: a path, a frame, a relation or a query."""
    if isinstance(table, Sample):
        return table
    source = open_source(table)
    levels, parts = levels_of(schema), []

    def watch(batch: pa.RecordBatch, records: Records) -> None:
        parts.append((records.rows, outside(batch, records, levels)))

    records = read_records(source, schema, report=report, watch=watch)
    if not records.rows:
        raise DataError(f"{source.name}: has no rows, so there is nothing to compare.")
    return Sample(source.name, levels, records, one_after_the_other(parts))


def require_same_columns(first: Sample, *others: Sample) -> None:
    """Samples can be compared only if one schema made them."""
    for other in others:
        if other.levels != first.levels:
            raise UsageError(f"{first.name} and {other.name} were read with different schemas.")


def joined(first: Sample, second: Sample) -> Sample:
    """The rows of both."""
    records = Records.joined((first.records, second.records))
    beyond = one_after_the_other((each.rows, each.outside) for each in (first, second))
    return Sample(f"{first.name} and {second.name}", first.levels, records, beyond)
