"""Capping: at most so many rows of each person.

Rows are chosen after they have been encoded, by a hash of their level numbers, ties broken by the numbers themselves.
So which rows of a person stay depends on that person's rows alone: not on the order of the file, not on anyone else's
rows, and not on how a reader happened to type a column. DuckDB does the sorting and spills to disk, so memory does not
grow with the rows. Rows that name no person are left out.
"""

from collections.abc import Iterable, Iterator

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from pointillist.curator.database import connect
from pointillist.curator.encoding import Encoder, without_missing_texts
from pointillist.curator.source import BATCH_ROWS
from pointillist.errors import DataError
from pointillist.features import Records
from pointillist.schema import Person


def capped(batches: Iterable[pa.RecordBatch], encoder: Encoder, person: Person, origin: str) -> Iterator[Records]:
    """Encode the batches, and keep at most `person.max_rows` rows of each person."""
    codes, units = encoder.code_names, encoder.unit_names
    kinds = pa.schema(
        [("owner", pa.string())]
        + [(f"c{i}", pa.uint16()) for i in range(len(codes))]
        + [(f"u{i}", pa.float64()) for i in range(len(units))]
    )
    failures: list[BaseException] = []

    def encoded() -> Iterator[pa.RecordBatch]:
        try:
            for batch in batches:
                records = encoder(batch)
                arrays = [owners(batch.column(person.column), person.column, origin)]
                arrays += [pa.array(records.codes[name]) for name in codes]
                arrays += [pa.array(records.units[name]) for name in units]
                yield pa.RecordBatch.from_arrays(arrays, schema=kinds)
        except BaseException as error:  # DuckDB would turn it into an error of its own
            failures.append(error)
            raise

    columns = ", ".join(kinds.names[1:])
    try:
        with connect() as db:
            rows = db.from_arrow(pa.RecordBatchReader.from_batches(kinds, encoded()))
            chosen = rows.query(
                "rows",
                f"SELECT {columns} FROM rows WHERE owner IS NOT NULL "
                f"QUALIFY row_number() OVER (PARTITION BY owner ORDER BY hash({columns}), {columns}) <= {person.max_rows}",
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


def owners(array: pa.Array, column: str, origin: str) -> pa.Array:
    """The persons' names as texts; null where a row names nobody."""
    try:
        if isinstance(array, pa.DictionaryArray):
            array = array.dictionary_decode()
        if pa.types.is_floating(array.type) or pa.types.is_decimal(array.type):
            # Frames turn whole numbers with gaps into floats: 7.0 is person 7. Other fractions have several spellings.
            array = pc.if_else(pc.is_nan(array.cast(pa.float64())), None, array.cast(pa.float64()))
            whole = pc.and_(pc.equal(pc.floor(array), array), pc.less(pc.abs(array), 2.0**53))
            if pc.any(pc.invert(whole)).as_py():
                raise pa.ArrowInvalid("not a whole number")
        return without_missing_texts(array)
    except pa.ArrowException:
        raise DataError(
            f"{origin}: column {column!r} cannot be read as names of persons. Make it text, or whole numbers."
        ) from None
