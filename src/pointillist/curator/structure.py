"""Structure: columns that follow from others in every row. Found for a draft, and confirmed by its owner.

Candidates are looked for in some rows and then tried on all of them. A rule that holds without exception is a fact about the
rows like any other that a draft reads: it is marked, and published on the owner's word.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from pointillist.curator.links import Looked, rates, shifts, sums_of_three
from pointillist.reading.base import quote
from pointillist.schema.formula import PARTS, Formula, quoted
from pointillist.schema.kinds import AnyColumn, Categorical, Datetime, Derived, Integer, Real
from pointillist.schema.texts import MISSING_TEXTS

_LEAST, _SAMPLE, _FIRST, _MOST_COLUMNS = 100, 4_000, 64, 60
"""Rows at least, rows that candidates are looked for in, rows of a first look, and numbers of which two are joined."""
_MOST_DATES = 12
"""Dates of which two are compared."""
_DIVISORS = (10, 100, 1000)
_FACTORS = (2, 4, 7, 10, 12, 24, 52, 60, 100, 365, 1000)
_LEAST_VALUES = 3
_MONTHS = set(range(1, 13))
_DIGITS = 3e-7
"""How far a real may be from a formula of others, relative to it: single precision keeps seven digits."""
_AS_MANY = 0.7
_MOST_CODES, _ROWS_EACH, _LEAST_ROWS = 200, 20, 5
"""Codes at most, rows of each on average, and rows of each at least, where one column decides another."""


@dataclass(frozen=True)
class _Candidate:
    column: str
    formula: Formula
    sql: str
    rounded: bool = False
    """Whether the result is rounded where the column is whole."""


def derived_columns(rows: duckdb.DuckDBPyRelation, columns: Mapping[str, AnyColumn], count: int) -> dict[str, Derived]:
    """Columns that follow from others in every row; none in a table of few rows, where much may be chance."""
    if count < _LEAST:
        return {}
    table = _Table(rows, columns)
    found: dict[str, Derived] = {}
    inputs: set[str] = set()
    for each in table.candidates():
        free = each.column not in found and each.column not in inputs
        if free and not found.keys() & set(each.formula.columns) and table.holds(each):
            found[each.column] = table.derived(each)
            inputs.update(each.formula.columns)
    for name, of in table.deciding():
        if name not in found and name not in inputs and of not in found and (codes := table.codes(name, of)):
            found[name] = codes
            inputs.add(of)
    return found


class _Table:
    """Rows of a private table, and what a draft says of its columns."""

    def __init__(self, rows: duckdb.DuckDBPyRelation, columns: Mapping[str, AnyColumn]) -> None:
        self._columns = columns
        self._places = {name: f"c{number}" for number, name in enumerate(columns)}
        self._sql = {
            name: sql
            for name, column in columns.items()
            if _sayable(name) and (sql := as_sql(column, self._places[name]))
        }
        self._rows = rows
        shown = [f"{sql} AS {quote(self._places[name])}" for name, sql in self._sql.items()]
        sample = rows.limit(_SAMPLE).project(", ".join(shown)).to_arrow_table() if shown else None
        self._values = {} if sample is None else {name: as_array(sample[self._places[name]]) for name in self._sql}
        self._numbers = [
            name for name, values in self._values.items() if values.dtype == np.float64 and _varies(values)
        ][:_MOST_COLUMNS]

    # Numbers by a formula

    def candidates(self) -> Iterator[_Candidate]:
        """Formulas that hold in some rows, the likeliest first."""
        targets = [name for name in self._numbers if isinstance(self._columns[name], Integer | Real)]
        if not targets:
            return
        looked = _look(self._values, targets)
        matrix = np.stack([self._values[name][looked] for name in targets])
        slack = np.array([_slack(self._columns[name]) for name in targets])[:, None]
        digits = np.array([_relative(self._columns[name]) for name in targets])[:, None]
        for formula, sql, reversible in self._formulas():
            values = formula.values({name: self._values[name][looked] for name in formula.columns})
            apart = np.abs(matrix - values) > slack + digits * np.abs(matrix)
            gaps = np.isnan(matrix) != np.isnan(values)
            for place in np.flatnonzero(~(apart | gaps).any(axis=1)):
                name = targets[place]
                if name in formula.columns or (reversible and not self._richest(name, formula.columns)):
                    continue
                if self._seems(_Candidate(name, formula, sql)):
                    yield _Candidate(name, formula, sql)
        yield from self._links(targets, looked)

    def _links(self, targets: list[str], looked: NDArray[np.int64]) -> Iterator[_Candidate]:
        """Formulas with constants of their own, and sums of three."""
        columns = {name: self._columns[name] for name in targets}
        exact = Looked(
            values={name: self._values[name][looked] for name in targets},
            slack={name: _slack(column) for name, column in columns.items()},
            near={name: _relative(column) for name, column in columns.items()},
            sql=self._sql,
        )
        loose = replace(exact, slack={name: _slack(column, rounded=True) for name, column in columns.items()})
        for found, rounded in ((shifts(exact), False), (sums_of_three(exact), False), (rates(loose), True)):
            for link in found:
                made = _Candidate(link.column, Formula(link.formula), link.sql, rounded)
                if (rounded or self._richest(link.column, made.formula.columns)) and self._seems(made):
                    yield made

    def _richest(self, name: str, inputs: tuple[str, ...]) -> bool:
        """Whether a column has hardly fewer values than those that it would follow from: a difference follows from two
        prices, not a price from the other one and the difference, which would make up prices that there are not."""
        sizes = {each: len(np.unique(self._values[each])) for each in (name, *inputs)}
        return sizes[name] >= _AS_MANY * max(sizes.values())

    def _seems(self, candidate: _Candidate) -> bool:
        values = candidate.formula.values({each: self._values[each] for each in candidate.formula.columns})
        real, column = self._values[candidate.column], self._columns[candidate.column]
        near = np.abs(real - values) <= _slack(column, rounded=candidate.rounded) + _relative(column) * np.abs(real)
        return bool((near | (np.isnan(real) & np.isnan(values))).all())

    def _formulas(self) -> Iterator[tuple[Formula, str, bool]]:
        """Formulas, what they are in SQL, and whether they could be solved for another column."""
        yield from self._of_dates()
        for name in self._numbers:
            x, sql = quoted(name), self._sql[name]
            yield Formula(x), sql, False
            if np.nanmin(self._values[name]) >= 0 and isinstance(self._columns[name], Integer):
                for by in _DIVISORS:
                    yield Formula(f"{x} % {by}"), f"({sql}) % {by}", False
                    yield Formula(f"{x} // {by}"), f"floor(({sql}) / {by})", False
            yield Formula(f"{x} * {x}"), f"({sql}) * ({sql})", False
            if np.nanmin(self._values[name]) > 0:
                yield Formula(f"log({x})"), f"ln(CASE WHEN ({sql}) > 0 THEN ({sql}) END)", False
            for by in _FACTORS:
                yield Formula(f"{x} * {by}"), f"({sql}) * {by}", False
                yield Formula(f"{x} / {by}"), f"({sql}) / {by}", False
        for year, month in itertools.permutations(self._numbers, 2):
            if isinstance(self._columns[month], Integer) and set(np.unique(self._values[month])) == _MONTHS:
                x, y, sql = quoted(year), quoted(month), f"{self._sql[year]} + (({self._sql[month]}) - 1) / 12"
                yield Formula(f"{x} + ({y} - 1) / 12"), sql, False
        for sign, both in (("+", False), ("-", True), ("*", False)):
            for one, other in (itertools.permutations if both else itertools.combinations)(self._numbers, 2):
                yield (
                    Formula(f"{quoted(one)} {sign} {quoted(other)}"),
                    f"({self._sql[one]}) {sign} ({self._sql[other]})",
                    True,
                )

    def _of_dates(self) -> Iterator[tuple[Formula, str, bool]]:
        """Parts of dates, and days between them."""
        dates = {name: each for name, each in self._columns.items() if isinstance(each, Datetime) and name in self._sql}
        for name, column in dates.items():
            for part in PARTS[: 4 if column.resolution == "day" else 5]:
                x, sql = f"{part}({quoted(name)})", f"{part}({self._sql[name]})"
                if part == "weekday":
                    yield from _weekdays(x, f"(isodow({self._sql[name]}) - 1)")
                else:
                    yield Formula(x), sql, False
        for later, earlier in itertools.permutations(list(dates)[:_MOST_DATES], 2):
            sql = f"date_diff('day', {self._sql[earlier]}, {self._sql[later]})"
            yield Formula(f"days({quoted(later)} - {quoted(earlier)})"), sql, False

    def holds(self, candidate: _Candidate) -> bool:
        """Whether it holds in every row."""
        column = self._columns[candidate.column]
        y, slack, digits = self._sql[candidate.column], _slack(column, rounded=candidate.rounded), _relative(column)
        test = f"abs(y - f) > {slack!r} + {digits!r} * abs(y) OR (y IS NULL) <> (f IS NULL)"
        pairs = self._rows.project(f"{y} AS y, ({candidate.sql})::DOUBLE AS f")
        return bool(pairs.filter(test).aggregate("count(*)").fetchall()[0][0] == 0)

    def derived(self, candidate: _Candidate) -> Derived:
        """The drafted column."""
        column: Any = self._columns[candidate.column]
        decimals = 0 if isinstance(column, Integer) else column.decimals
        return Derived(
            derived=candidate.formula.text,
            decimals=decimals,
            description="follows from other columns in every row; make it a kind of its own if that is chance",
            read_from_data=("kind", "derived", *(("decimals",) if decimals is not None else ())),
        )

    # Codes and their names

    def deciding(self) -> Iterator[tuple[str, str]]:
        """Pairs of columns of which the second seems to decide the first."""
        few = {name: size for name, column in self._columns.items() if 2 <= (size := _codes(column)) <= _MOST_CODES}
        named = {name: size for name, size in few.items() if isinstance(self._columns[name], Categorical)}
        if not named:
            return
        texts = self._rows.limit(_SAMPLE).project(
            ", ".join(f"{self._places[name]}::VARCHAR AS {self._places[name]}" for name in few)
        )
        sample = dict(zip(few, texts.to_arrow_table().columns, strict=True))
        codes = {
            name: np.asarray(each.combine_chunks().dictionary_encode(null_encoding="encode").indices)
            for name, each in sample.items()
        }
        order = list(few)
        for name in reversed(order):
            for of in order:
                larger = few[of] > few[name] or (few[of] == few[name] and order.index(of) < order.index(name))
                if name in named and of != name and larger and _decides(codes[of], codes[name]):
                    yield name, of

    def codes(self, name: str, of: str) -> Derived | None:
        """The column as what stands for each code of another, if that holds in every row and many rows have each code."""
        pairs = self._rows.aggregate(
            f"{self._places[of]}::VARCHAR AS x, {self._places[name]}::VARCHAR AS y, count(*) AS n",
            f"{self._places[of]}::VARCHAR, {self._places[name]}::VARCHAR",
        ).fetchall()
        known = [(x, y, n) for x, y, n in pairs if not (_gap(x) and _gap(y))]
        total, values = sum(n for *_, n in known), {y for _, y, _ in known}
        clear = len({x for x, *_ in known}) == len(known) and not any(_gap(x) or _gap(y) for x, y, _ in known)
        if not clear or len(values) < 2 or min(n for *_, n in known) < _LEAST_ROWS or total < _ROWS_EACH * len(known):
            return None
        column, other = self._columns[of], self._columns[name]
        codes, made = [_typed(x, column) for x, *_ in known], [_typed(y, other) for _, y, _ in known]
        if isinstance(column, Integer) and set(codes) != set(column.every_value(_MOST_CODES)):
            return None
        order = sorted(range(len(codes)), key=lambda place: codes[place])
        return Derived(
            of=of,
            codes=tuple(codes[place] for place in order),
            values=tuple(made[place] for place in order),
            description=f"every {of} has one value of it; make it a kind of its own if that is chance",
            read_from_data=("kind", "of", "codes", "values"),
        )


def _sayable(name: str) -> bool:
    """Whether a formula can name a column."""
    return name.strip() != "" and "`" not in name


def as_sql(column: AnyColumn, place: str) -> str | None:
    """A column's values as numbers or times in SQL, whatever the table has them as; none if they are neither."""
    text = f"trim({place}::VARCHAR)"
    if isinstance(column, Integer | Real) and column.format is None:
        return f"(CASE WHEN isfinite(TRY_CAST({text} AS DOUBLE)) THEN TRY_CAST({text} AS DOUBLE) END)"
    if isinstance(column, Datetime):
        if column.format is None or "%" not in column.format:
            return f"TRY_CAST({text} AS TIMESTAMP)"
        return None if "%-" in column.format or "%:" in column.format else f"try_strptime({text}, '{column.format}')"
    return None


def as_array(column: Any) -> NDArray[Any]:
    values = column.combine_chunks().to_numpy(zero_copy_only=False)
    return np.asarray(values if values.dtype.kind == "M" else values.astype(np.float64))


def _varies(values: NDArray[Any]) -> bool:
    return len(np.unique(values[~np.isnan(values)])) >= _LEAST_VALUES


def _look(values: Mapping[str, NDArray[Any]], names: list[str]) -> NDArray[np.int64]:
    """Some rows, spread over the sample."""
    count = len(values[names[0]])
    return np.unique(np.linspace(0, count - 1, min(count, _FIRST)).astype(np.int64))


def _weekdays(x: str, sql: str) -> Iterator[tuple[Formula, str, bool]]:
    """A day of the week as people count it: from Monday or from Sunday, from 0 or from 1."""
    for first in (0, 1):
        more = f" + {first}" * first
        yield Formula(f"{x}{more}"), f"{sql}{more}", False
        yield Formula(f"({x} + 1) % 7{more}"), f"({sql} + 1) % 7{more}", False


def _slack(column: Any, *, rounded: bool = False) -> float:
    """How far a result may be from a number that was rounded; whole numbers only where that is said."""
    digits = column.digits
    return 1e-6 if digits is None else (0.0 if digits == 0 and not rounded else 0.501 * 10.0**-digits)


def _relative(column: AnyColumn) -> float:
    """How far a result may be from a number, relative to it."""
    return _DIGITS if isinstance(column, Real) else 1e-9


def _codes(column: AnyColumn) -> float:
    """How many codes a column has; none if it has no end of them."""
    if isinstance(column, Categorical):
        return len(column.categories)
    return len(column.every_value(_MOST_CODES)) if isinstance(column, Integer) else math.inf


def _decides(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    pairs = np.unique(one.astype(np.int64) * (int(other.max()) + 1) + other)
    return len(pairs) == len(np.unique(one)) and len(np.unique(other)) > 1


def _gap(text: str | None) -> bool:
    return text is None or text.strip() in MISSING_TEXTS


def _typed(text: str, column: AnyColumn) -> Any:
    """A text as its column has it in synthetic rows."""
    return int(float(text)) if isinstance(column, Integer) or getattr(column, "whole", False) else text
