"""Column values: the different values of one private column and how many rows have each, for a draft. Secret.

A table is gone through once for each column; all further questions go to the different values, which are fewer.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import duckdb
import numpy as np

from pointillist.schema import MISSING_TEXTS
from pointillist.schema.kinds.drafting import Numbers

_MOST_NUMBERS = 4_000_000
"""Of more different numbers some are looked at, and the ends."""


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """Values `x`, none of them missing, and their numbers of rows `n`, as DuckDB has them."""

    rows: duckdb.DuckDBPyRelation
    type: str
    count: int
    """How many rows the table has."""
    keep: Callable[[duckdb.DuckDBPyRelation], duckdb.DuckDBPyRelation]
    """Works a relation out, so that it is not worked out again for each question."""
    format: str | None = None

    @classmethod
    def of(
        cls,
        table: duckdb.DuckDBPyRelation,
        column: str,
        type: str,
        count: int,
        keep: Callable[[duckdb.DuckDBPyRelation], duckdb.DuckDBPyRelation],
    ) -> "ColumnValues":
        """The values of one column of a table."""
        found = table.aggregate(f"{column} AS x, count(*) AS n", column).filter("x IS NOT NULL")
        if type == "VARCHAR":
            missing = ", ".join(f"'{text}'" for text in MISSING_TEXTS)
            found = found.filter(f"trim(x) NOT IN ({missing})")
        return cls(keep(found), type, count, keep)

    @property
    def filled(self) -> int:
        return self._sizes[0]

    @property
    def distinct(self) -> int:
        return self._sizes[1]

    @property
    def missing(self) -> bool:
        return self.filled < self.count

    @cached_property
    def _sizes(self) -> tuple[int, int]:
        filled, distinct = self.ask("coalesce(sum(n), 0), count(x)")
        return int(filled), int(distinct)

    def ask(self, aggregates: str) -> tuple[Any, ...]:
        return tuple(self.rows.aggregate(aggregates).fetchall()[0])

    def often(self, expression: str) -> Any:
        found = self.rows.project(f"{expression} AS y, n").aggregate("y, sum(n) AS often")
        lines = found.order("often DESC, y").limit(1).fetchall()
        return lines[0][0] if lines else None

    def where(self, test: str) -> "ColumnValues":
        return replace(self, rows=self.rows.filter(test))

    def cast(self, expression: str, type: str) -> "ColumnValues":
        made = self.rows.project(f"{expression} AS x, n").aggregate("x, sum(n)::BIGINT AS n", "x")
        return replace(self, rows=self.keep(made), type=type)

    def some(self) -> Any:
        lines = self.rows.limit(1).fetchall()
        return lines[0][0] if lines else None

    def ranked(self, most: int) -> list[tuple[Any, int]]:
        return [(line[0], int(line[1])) for line in self.rows.order("n DESC, x").limit(most).fetchall()]

    def numbers(self) -> Numbers:
        rows = self.rows
        if self.distinct > _MOST_NUMBERS:
            low, high = (float(each).hex() for each in self.ask("min(x)::DOUBLE, max(x)::DOUBLE"))
            part = -(-self.distinct // _MOST_NUMBERS)
            rows = rows.filter(
                f"hash(x) % {part} = 0 OR x::DOUBLE IN ({float.fromhex(low)!r}::DOUBLE, {float.fromhex(high)!r}::DOUBLE)"
            )
        found = rows.project("x::DOUBLE AS x, n::BIGINT AS n").fetchnumpy()
        values, often = (np.ma.getdata(found[name]) for name in ("x", "n"))
        order = np.argsort(values, kind="stable")
        return Numbers(values[order].astype(np.float64), often[order].astype(np.int64))
