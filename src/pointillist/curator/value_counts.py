"""Value counts: how many rows have each text of a column, at most so many of each person. For a draft by budget. Secret.

A row is read by itself and adds one to one text of every column, or to its missing values. Everything else that a draft by
budget counts is a function of the text, so a row adds one to one entry of whatever list that function leads to.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pointillist.curator.capping import OWNER
from pointillist.curator.persons import Pseudonyms, owners
from pointillist.errors import DataError
from pointillist.reading.base import Source
from pointillist.reading.connection import noted
from pointillist.schema import Boolean, Person, Schema
from pointillist.schema.kinds.text_forms import CELLS, FORMS, cell_sql, form_sql, number_sql
from pointillist.schema.texts import is_text, without_missing_texts

Integers = NDArray[np.int64]
_AS_TEXTS = Schema(name="any", columns={"": Boolean()})
"""A schema that knows none of a table's columns: they are read as they are stored, and those of CSV files as texts."""
_IS = pa.types
_WITH_TEXTS = (_IS.is_integer, _IS.is_floating, _IS.is_decimal, _IS.is_boolean, _IS.is_date, _IS.is_timestamp)
"""Types other than texts whose values have one; by type, so that no value decides about the others."""


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """The texts `x` of one column, none of them missing, and their numbers of rows `n`.

    `v` is the number that a text is, `form` and `cell` where it stands on the public lists.
    """

    rows: duckdb.DuckDBPyRelation
    missing: int
    """How many rows have none."""

    def forms(self) -> Integers:
        """Rows of every form, and at last those without a value."""
        return np.append(self._on("form", len(FORMS)), self.missing)

    def cells(self) -> Integers:
        """Rows in every cell of the public grid."""
        return self._on("cell", CELLS)

    def bins(self, low: float, width: float, number: int) -> Integers:
        """Rows in bins of equal width, those outside in the first or the last."""
        place = f"greatest(0, least({number - 1}, floor((v - {low!r}) / {width!r})))::INTEGER"
        return self._on(f"CASE WHEN v IS NOT NULL THEN {place} END", number)

    def _on(self, place: str, size: int) -> Integers:
        found = self.rows.project(f"{place} AS spot, n").filter("spot IS NOT NULL")
        counts = np.zeros(size, dtype=np.int64)
        for at, often in found.aggregate("spot, sum(n)", "spot").fetchall():
            if not 0 <= at < size:
                raise ValueError("a place outside its list")
            counts[at] = often
        return counts

    def values(self, *, numbers: bool, least: int) -> tuple[list[Any], Integers]:
        """The different texts, or the different numbers, that so many rows have, in order, and how many have each."""
        which = "v" if numbers else "x"
        found = self.rows.filter(f"{which} IS NOT NULL").aggregate(f"{which} AS key, sum(n)::BIGINT AS often", which)
        table = found.filter(f"often >= {least}").order("key").to_arrow_table()
        return table["key"].to_pylist(), np.asarray(table["often"].to_numpy(), dtype=np.int64)


def value_counts(
    db: duckdb.DuckDBPyConnection, source: Source, columns: list[str], person: Person | None
) -> list[ValueCounts]:
    """The texts of some columns. What stays of a person's rows depends on that person's rows alone."""
    failures: list[BaseException] = []
    names = [f"c{place}" for place in range(len(columns))]
    kinds = pa.schema([(name, pa.string()) for name in names] + [(name, pa.uint64()) for name in OWNER])
    try:
        stream = noted(_texts(source, columns, person, kinds), failures)
        db.from_arrow(pa.RecordBatchReader.from_batches(kinds, stream)).create("_all")
        every = ", ".join(names)
        capped = (
            f"WHERE owner IS NOT NULL QUALIFY row_number() OVER (PARTITION BY {', '.join(OWNER)} "
            f"ORDER BY hash({every}), {every}) <= {person.max_rows}"
            if person is not None
            else ""
        )
        db.execute(f"CREATE TABLE _kept AS SELECT {every} FROM _all {capped}")
        db.execute("DROP TABLE _all")
        return _counts(db, names, source.with_points("x"))
    except (duckdb.Error, pa.ArrowException, ValueError):
        if failures:
            raise failures[0] from None
        raise DataError(f"{source.name}: its rows could not be counted. Is there space for temporary files?") from None


def _counts(db: duckdb.DuckDBPyConnection, names: list[str], y: str) -> list[ValueCounts]:
    """Every column's texts, each read once: what is asked about them is a long expression."""
    db.execute("CREATE TABLE _texts (place INTEGER, x VARCHAR, n BIGINT)")
    for place, name in enumerate(names):
        db.execute(f"INSERT INTO _texts SELECT {place}, {name}, count(*) FROM _kept GROUP BY {name}")
    rows = (
        db.table("_texts").filter("x IS NOT NULL").project(f"place, x, n, {y} AS y").project(f"*, {number_sql()} AS v")
    )
    rows.project(f"place, x, n, v, {form_sql()} AS form, {cell_sql()} AS cell").create("_read")
    missing = dict(db.execute("SELECT place, n FROM _texts WHERE x IS NULL").fetchall())
    return [
        ValueCounts(db.table("_read").filter(f"place = {place}"), missing.get(place, 0)) for place in range(len(names))
    ]


def _texts(source: Source, columns: list[str], person: Person | None, kinds: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows as texts, and whose they are: each by itself."""
    pseudonyms = Pseudonyms(secrets.token_bytes(32))
    asked = [*columns, *([person.column] if person is not None else [])]
    for batch in source.batches(asked, _AS_TEXTS, lambda part: None):
        arrays = [_as_text(batch.column(place)) for place in range(len(columns))]
        if person is None:
            arrays += [pa.nulls(batch.num_rows, pa.uint64())] * len(OWNER)
        else:
            arrays += pseudonyms.of(owners(batch.column(len(columns)), person.column, source.name))
        yield pa.RecordBatch.from_arrays(arrays, schema=kinds)


def _as_text(array: pa.Array) -> pa.Array:
    """Texts, trimmed; null where a value is missing, and where its type has no texts."""
    if isinstance(array, pa.DictionaryArray):
        array = array.dictionary_decode()
    kind = array.type
    if not (is_text(kind) or any(test(kind) for test in _WITH_TEXTS)):
        return pa.nulls(len(array), pa.string())
    if pa.types.is_float32(kind):  # as short as its type can tell numbers apart: 4.6, not 4.599999904632568
        array = array.cast(pa.string()).cast(pa.float64())
    return pc.cast(without_missing_texts(array), pa.string())
