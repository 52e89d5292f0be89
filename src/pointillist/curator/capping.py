"""Capping: at most so many rows of each person.

Rows are chosen after they have been encoded, by a hash of their level numbers, ties broken by the numbers themselves.
So which rows of a person stay depends on that person's rows alone: not on the order of the file, not on anyone else's
rows, not on how a reader happened to type a column, and not on which machine does it. All that is needed is that all rows
of a person come together: hence two steps, between which an engine may send rows from machine to machine.

DuckDB does the sorting and spills to disk, so memory does not grow with the rows. What it sorts by, and may write to disk,
are numbers that stand for persons in this pass alone, never their names. Rows that name no person are left out.
"""

from collections.abc import Iterable, Iterator, Sequence

import duckdb
import pyarrow as pa

from pointillist.curator.persons import Pseudonyms, owners
from pointillist.errors import DataError
from pointillist.reading import batches as reading
from pointillist.reading.connection import connect, noted
from pointillist.reading.encoding import Encoder
from pointillist.records import Records
from pointillist.schema import Person

OWNER = ("owner", "owner_too")
"""The columns that stand for a person: two halves of one number."""


def owned(
    batches: Iterable[pa.RecordBatch], encoder: Encoder, person: Person, key: bytes, origin: str
) -> Iterator[pa.RecordBatch]:
    """Batches, encoded, with a number in place of the person; `key` is the same wherever rows of one table are read."""
    pseudonyms, kinds = Pseudonyms(key), columns_of(encoder)
    for batch in batches:
        records = encoder(batch)
        arrays = [*pseudonyms.of(owners(batch.column(person.column), person.column, origin))]
        arrays += [pa.array(records.codes[name]) for name in encoder.code_names]
        arrays += [pa.array(records.units[name]) for name in encoder.unit_names]
        yield pa.RecordBatch.from_arrays(arrays, schema=kinds)


def capped(batches: Iterable[pa.RecordBatch], encoder: Encoder, person: Person, origin: str) -> Iterator[Records]:
    """At most `person.max_rows` rows of each person, of what `owned` gave; all rows of a person must be among them."""
    codes, units, kinds = encoder.code_names, encoder.unit_names, columns_of(encoder)
    failures: list[BaseException] = []
    try:
        with connect() as db:
            rows = db.from_arrow(pa.RecordBatchReader.from_batches(kinds, noted(batches, failures)))
            chosen = rows.query("rows", kept_rows(kinds.names[len(OWNER) :], person.max_rows))
            for batch in chosen.to_arrow_reader(reading.BATCH_ROWS):
                yield Records(
                    batch.num_rows,
                    {name: batch.column(f"c{i}").to_numpy() for i, name in enumerate(codes)},
                    {name: batch.column(f"u{i}").to_numpy() for i, name in enumerate(units)},
                )
    except (duckdb.Error, pa.ArrowException, ValueError):
        if failures:
            raise failures[0] from None
        raise DataError(
            f"{origin}: its rows could not be sorted by person. Is there space for temporary files?"
        ) from None


def kept_rows(columns: Sequence[str], most: int) -> str:
    """The query for at most so many rows of each person, chosen by their own content."""
    listed, owner = ", ".join(columns), ", ".join(OWNER)
    return (
        f"SELECT {owner}, {listed} FROM rows WHERE owner IS NOT NULL "
        f"QUALIFY row_number() OVER (PARTITION BY {owner} ORDER BY hash({listed}), {listed}) <= {most}"
    )


def columns_of(encoder: Encoder) -> pa.Schema:
    """The form of rows between the two steps: whose they are, level numbers, positions."""
    return pa.schema(
        [(name, pa.uint64()) for name in OWNER]
        + [(f"c{i}", pa.uint16()) for i in range(len(encoder.code_names))]
        + [(f"u{i}", pa.float64()) for i in range(len(encoder.unit_names))]
    )
