"""Relations: orders between columns, and gaps that follow from another column. Found for a draft, confirmed by its owner.

They are looked for in some rows and then tried on all of them. That a relation holds in every row is a fact about the rows:
it is marked as read from the data, and published on the owner's word. Synthetic rows keep to it.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from pointillist.curator.structure import as_array, as_sql
from pointillist.reading.base import quote
from pointillist.schema.constraints import Constraint, Gap, Impossible, Order
from pointillist.schema.kinds import AnyColumn, Boolean, Categorical, Integer, Real
from pointillist.schema.texts import MISSING_TEXTS

_LEAST, _SAMPLE, _MOST_COLUMNS, _MOST_ORDERS = 100, 4_000, 60, 30
"""Rows at least, rows that are looked at first, columns that are compared, and orders that are drafted, at most."""
_BY_CHANCE, _EVIDENCE = 0.05, 30
"""Of shuffled rows at least this share, and so many rows, would break an order: else the columns lie apart anyway."""
_NEAR, _NEARLY_EQUAL = 0.1, 0.01
"""In at least such a share of rows the two come nearer than this part of the median distance: a part may be all of its
whole. Columns that are never near each other are in order by chance, or because one is larger than the other."""
_MOST_VALUES, _EACH = 12, 30
"""Values at most of a column that decides about gaps; rows at least with a gap, and without one."""

_CHANCE = 1e-6
"""How likely so many rows of a value would all have a gap, if gaps came as often as in other rows: at most."""

Bools = NDArray[np.bool_]


def relations(rows: duckdb.DuckDBPyRelation, columns: Mapping[str, AnyColumn], count: int) -> tuple[Constraint, ...]:
    """Constraints that hold in every row; none in a table of few rows, where much may be chance."""
    if count < _LEAST:
        return ()
    places = {name: f"c{place}" for place, name in enumerate(columns) if columns[name].measured}
    table = _Table(rows, {name: columns[name] for name in places}, places, count)
    return (*table.gaps(), *table.orders())


class _Table:
    """Rows of a private table, and what a draft says of its measured columns."""

    def __init__(
        self, rows: duckdb.DuckDBPyRelation, columns: Mapping[str, AnyColumn], places: Mapping[str, str], count: int
    ) -> None:
        self._rows, self._columns, self._places, self._count = rows, columns, places, count
        self._coded: dict[str, NDArray[np.int32]] = {}

    # Orders

    def orders(self) -> Iterator[Order]:
        """Numbers and dates that are never above others, without those that follow from two such."""
        found = list(self._likely())
        if not found:
            return
        tests = [f"count(*) FILTER (WHERE {self._sql(low)} > {self._sql(high)})" for low, high, _ in found]
        broken = self._rows.aggregate(", ".join(tests)).fetchall()[0]
        sure = {(low, high): share for (low, high, share), times in zip(found, broken, strict=True) if times == 0}
        kept = [pair for pair in sure if not _follows(pair, sure)]
        for low, high in sorted(kept, key=lambda pair: -sure[pair])[:_MOST_ORDERS]:
            yield Order(columns=(low, high))

    def _sql(self, name: str) -> str:
        return as_sql(self._columns[name], self._places[name]) or "NULL"

    def _likely(self) -> Iterator[tuple[str, str, float]]:
        """Pairs in order in the rows that are looked at, and the share of shuffled rows that would not be."""
        sql = {name: sql for name, place in self._places.items() if (sql := as_sql(self._columns[name], place))}
        sql = dict(itertools.islice(sql.items(), _MOST_COLUMNS))
        if len(sql) < 2:
            return
        shown = ", ".join(f"{text} AS {quote(self._places[name])}" for name, text in sql.items())
        sample = self._rows.limit(_SAMPLE).project(shown).to_arrow_table()
        values = {name: as_array(sample[self._places[name]]) for name in sql}
        for low, high in itertools.permutations(values, 2):
            if not self._alike(low, high):
                continue
            one, other = values[low], values[high]
            if len(np.unique(one)) <= 2 or (one > other).any() or (one == other).all():
                continue
            share = float((one > np.roll(other, len(other) // 3)).mean())
            if share >= _BY_CHANCE and share * len(one) >= _EVIDENCE and _touch(one, other):
                yield low, high, share

    def _alike(self, low: str, high: str) -> bool:
        """Whether two columns are told in the same terms: counts are not compared with rates."""
        one, other = self._columns[low], self._columns[high]
        return one.compared_as == other.compared_as and (one.compared_as != "a number" or one.kind == other.kind)

    # Gaps

    def gaps(self) -> Iterator[Gap | Impossible]:
        """Columns that are missing exactly when a value of another says so, or when an earlier one is; or that are missing
        whenever a value of another says so, and at times elsewhere."""
        gappy = [name for name in self._places if self._columns[name].missing]
        if not gappy:
            return
        tests = ", ".join(f"{self._gap(name)} AS {self._places[name]}" for name in gappy)
        sample = self._rows.limit(_SAMPLE).project(tests).to_arrow_table()
        missing = {name: np.asarray(sample[self._places[name]].to_numpy()).astype(bool) for name in gappy}
        for name in gappy:
            if not _EACH <= missing[name].sum() <= len(missing[name]) - _EACH:
                continue
            exact = next(self._decided(name, missing[name]), None) or self._twin(name, missing)
            rule = exact or next(self._always(name, missing[name]), None)
            if rule is not None:
                yield rule

    def _gap(self, name: str) -> str:
        texts = ", ".join(f"'{text}'" for text in MISSING_TEXTS)
        place = self._places[name]
        return f"({place} IS NULL OR trim({place}::VARCHAR) IN ({texts}))"

    def _decided(self, name: str, gaps: Bools) -> Iterator[Gap]:
        """Rules by the values of another column."""
        for other, column in self._few(name):
            with_gaps, without = self._sides(other, gaps)
            if np.isin(with_gaps, without).any():
                continue
            found = self._by_value(name, other)
            if any(gap and there for _, gap, there in found) or any(gap + there < 5 for _, gap, there in found):
                continue
            if not any(gap for x, gap, _ in found if x is not None):
                continue  # both are missing in the same rows: the later one follows from the earlier
            values = [_typed(x, column) for x, gap, _ in found if gap]
            if values and None not in values:
                yield Gap(missing=name, exactly_when={other: _in_order(values)})

    def _always(self, name: str, gaps: Bools) -> Iterator[Impossible]:
        """Values of another column whose rows are all without the column, where that is no chance."""
        there = _any_value(self._columns[name])
        for other, column in self._few(name) if there is not None else ():
            with_gaps, without = self._sides(other, gaps)
            if np.isin(with_gaps, without).all():
                continue
            found = self._by_value(name, other)
            always = [(x, gap) for x, gap, there in found if there == 0 and gap >= _EACH]
            open_rows = [(gap, there) for _, gap, there in found if there]
            rate = sum(gap for gap, _ in open_rows) / max(1, sum(gap + there for gap, there in open_rows))
            sure = [x for x, gap in always if x is not None and gap * math.log(max(rate, 1e-9)) < math.log(_CHANCE)]
            values = [_typed(x, column) for x in sure]
            if values and None not in values:
                yield Impossible(impossible={other: _in_order(values), name: there})

    def _few(self, name: str) -> list[tuple[str, AnyColumn]]:
        """Other columns of few values, those of the fewest first."""
        few = [
            (other, column)
            for other, column in self._columns.items()
            if other != name
            and isinstance(column, Categorical | Boolean | Integer)
            and 2 <= _size(column) <= _MOST_VALUES
        ]
        return sorted(few, key=lambda item: _size(item[1]))

    def _by_value(self, name: str, other: str) -> list[tuple[str | None, int, int]]:
        """For each value of another column the rows with a gap and without; what is missing is a value of its own."""
        value = f"CASE WHEN {self._gap(other)} THEN NULL ELSE trim({self._places[other]}::VARCHAR) END"
        table = self._rows.project(f"{value} AS x, {self._gap(name)} AS gap")
        return table.aggregate("x, count(*) FILTER (WHERE gap), count(*) FILTER (WHERE NOT gap)", "x").fetchall()

    def _sides(self, other: str, gaps: Bools) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Values of another column in rows with gaps, and in rows without, of those that are looked at."""
        if other not in self._coded:
            texts = self._rows.limit(_SAMPLE).project(f"{self._places[other]}::VARCHAR AS x").to_arrow_table()["x"]
            self._coded[other] = np.asarray(texts.combine_chunks().dictionary_encode(null_encoding="encode").indices)
        return np.unique(self._coded[other][gaps]), np.unique(self._coded[other][~gaps])

    def _twin(self, name: str, missing: Mapping[str, Bools]) -> Gap | None:
        """The rule by an earlier column that is missing in the same rows."""
        for other in itertools.takewhile(lambda each: each != name, missing):
            if (missing[other] == missing[name]).all():
                test = f"count(*) FILTER (WHERE {self._gap(name)} <> {self._gap(other)})"
                if self._rows.aggregate(test).fetchall()[0][0] == 0:
                    return Gap(missing=name, exactly_when={other: {"missing": True}})
        return None


def _touch(low: NDArray[Any], high: NDArray[Any]) -> bool:
    """Whether some rows come near to equality; those at the foot of the lower column say nothing, as both may be zero."""
    with np.errstate(invalid="ignore"):
        above = low > np.nanmin(low) if low.dtype == np.float64 else low > np.min(low[~np.isnat(low)])
    apart = (high - low)[above & ~np.isnan(high - low)].astype(np.float64)
    return len(apart) >= _EVIDENCE and bool((apart <= _NEAR * np.median(apart)).mean() >= _NEARLY_EQUAL)


def _follows(pair: tuple[str, str], sure: Iterable[tuple[str, str]]) -> bool:
    """Whether an order follows from two others."""
    known = set(sure)
    return any((pair[0], each) in known and (each, pair[1]) in known for _, each in known if each not in pair)


def _any_value(column: AnyColumn) -> Any:
    """All that a column can hold but for gaps, as a constraint says it; none if it is not told so briefly."""
    if isinstance(column, Boolean):
        return [True, False]
    if isinstance(column, Integer | Real):
        return {
            "min": min(column.min, *column.special, column.min),
            "max": max(column.max, *column.special, column.max),
        }
    return list(column.known) if isinstance(column, Categorical) and len(column.known) <= _MOST_VALUES else None


def _size(column: AnyColumn) -> int:
    return len(column.every_value(_MOST_VALUES)) or _MOST_VALUES + 1


def _typed(text: str | None, column: AnyColumn) -> Any:
    """A value as a constraint has it; None if the schema does not know it."""
    if text is None:
        return {"missing": True}
    if isinstance(column, Boolean):
        return {"true": True, "false": False}.get(text.lower())
    value: Any = text
    if isinstance(column, Integer) or getattr(column, "whole", False):
        try:
            value = int(float(text))
        except (ValueError, OverflowError):
            return None
    return value if value in column.every_value(_MOST_VALUES) else None


def _in_order(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else sorted(values, key=lambda each: (isinstance(each, dict), str(each)))
