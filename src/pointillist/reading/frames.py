"""Frames: tables in memory, of whichever library."""

import copy
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import pyarrow as pa

from pointillist.errors import DataError, UsageError
from pointillist.files.urls import Url
from pointillist.reading.base import SOURCES, Report, Source, taken_over
from pointillist.reading.batches import rows_at_once
from pointillist.registry import LAST
from pointillist.schema import Schema


@SOURCES.register("frame", place=LAST + 1)
class Frame(Source):
    """A data frame in memory: pandas, polars, pyarrow or anything that narwhals knows."""

    def __init__(self, frame: Any):
        self.name = "the frame"
        try:
            native = nw.from_native(frame)
            self.whole = not isinstance(native, nw.LazyFrame)  # that one may select as it is collected
            self.table = native.collect() if isinstance(native, nw.LazyFrame) else native
        except nw.exceptions.DuplicateError:
            raise DataError(f"{self.name}: a column is there more than once. Rename one of them.") from None
        except TypeError:
            raise UsageError(
                f"a table of type {type(frame).__name__} is not known. Pass a path, a pandas, polars or pyarrow table, "
                "a DuckDB relation, or pointillist.sql(...)."
            ) from None
        except Exception as error:  # a lazy frame runs here, and its message may quote a value
            raise DataError(f"{self.name}: could not be collected ({type(error).__name__}).") from None
        self.frame = str(self.table.implementation)
        self._names = {str(name): name for name in self.table.columns}  # pandas columns may be named by numbers

    @classmethod
    def suits(cls, table: Any) -> bool:
        """Anything in memory that no other source takes; what is not a frame after all is refused with its type."""
        return not isinstance(table, Path | Url)

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> "Frame":
        return cls(pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table)

    def partitions(self, most: int) -> Sequence[Source]:
        rows = len(self.table)
        cuts = [round(rows * part / most) for part in range(most + 1)]
        parts = [(start, end) for start, end in itertools.pairwise(cuts) if start < end]
        return tuple(self._part(start, end) for start, end in parts) if len(parts) > 1 else (self,)

    def _part(self, start: int, end: int) -> "Frame":
        part = copy.copy(self)
        part.table = self.table[start:end]
        return part

    def column_names(self) -> list[str]:
        return [str(name) for name in self.table.columns]

    def types(self) -> dict[str, pa.DataType]:
        return {field.name: field.type for field in self._batch(self.table[:0], self.column_names(), None).schema}

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        rows = rows_at_once(schema)
        for start in range(0, max(1, len(self.table)), rows):
            part = self.table[start : start + rows]
            yield self._batch(part, columns, schema)
            report(min(1.0, (start + rows) / max(1, len(self.table))))

    def _batch(self, part: Any, columns: list[str], schema: Schema | None) -> pa.RecordBatch:
        arrays = []
        for name in columns:
            values = part.get_column(self._names[name])
            try:
                if values.dtype == nw.Object and schema is not None:
                    array = schema.column(name).from_objects(values.to_list())
                else:
                    array = values.to_arrow()
            except Exception:  # pandas columns of objects can hold anything, and the message would quote it
                raise DataError(
                    f"{self.name}: column {name!r} mixes values of different types. Make it all text, or all numbers."
                ) from None
            arrays.append(array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array)
        return pa.RecordBatch.from_arrays(arrays, names=columns)

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        table = pa.Table.from_batches([self._batch(self.table, self.column_names(), None)])
        table.validate(full=True)
        return taken_over(db, table, self.name).query("source", sql)
