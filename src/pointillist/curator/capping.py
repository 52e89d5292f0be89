"""Capping: at most so many rows of each person.

Rows are chosen after they have been encoded, by a hash of their level numbers, ties broken by the numbers themselves.
So which rows of a person stay depends on that person's rows alone: not on the order of the file, not on anyone else's
rows, and not on how a reader happened to type a column. DuckDB does the sorting and spills to disk, so memory does not
grow with the rows. What it sorts by, and may write to disk, are numbers that stand for persons in this pass alone, never
their names. Rows that name no person are left out.
"""

from collections.abc import Iterable, Iterator

import duckdb
import pyarrow as pa

from pointillist.curator.persons import Pseudonyms, owners
from pointillist.errors import DataError
from pointillist.features import Records
from pointillist.reading.database import connect
from pointillist.reading.encoding import Encoder
from pointillist.reading.source import BATCH_ROWS
from pointillist.schema import Person


def capped(batches: Iterable[pa.RecordBatch], encoder: Encoder, person: Person, origin: str) -> Iterator[Records]:
    """Encode the batches, and keep at most `person.max_rows` rows of each person."""
    codes, units = encoder.code_names, encoder.unit_names
    kinds = pa.schema(
        [("owner", pa.uint64()), ("owner_too", pa.uint64())]
        + [(f"c{i}", pa.uint16()) for i in range(len(codes))]
        + [(f"u{i}", pa.float64()) for i in range(len(units))]
    )
    pseudonyms = Pseudonyms()
    failures: list[BaseException] = []

    def encoded() -> Iterator[pa.RecordBatch]:
        try:
            for batch in batches:
                records = encoder(batch)
                arrays = [*pseudonyms.of(owners(batch.column(person.column), person.column, origin))]
                arrays += [pa.array(records.codes[name]) for name in codes]
                arrays += [pa.array(records.units[name]) for name in units]
                yield pa.RecordBatch.from_arrays(arrays, schema=kinds)
        except BaseException as error:  # DuckDB would turn it into an error of its own
            failures.append(error)
            raise

    columns = ", ".join(kinds.names[2:])
    try:
        with connect() as db:
            rows = db.from_arrow(pa.RecordBatchReader.from_batches(kinds, encoded()))
            chosen = rows.query(
                "rows",
                f"SELECT {columns} FROM rows WHERE owner IS NOT NULL "
                f"QUALIFY row_number() OVER (PARTITION BY owner, owner_too ORDER BY hash({columns}), {columns}) "
                f"<= {person.max_rows}",
            )
            for batch in chosen.to_arrow_reader(BATCH_ROWS):
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
