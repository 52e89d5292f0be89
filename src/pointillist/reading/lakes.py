"""Lakes: tables of Delta and Iceberg, in the state that a version or a snapshot has.

Their folders hold files of many states: a row that was changed is in an old file and in a new one, and whoever read all
files would count it twice. So the table's own log says which files belong to a state; that state is fixed when the table is
opened, is the same for all passes, and is written into the ledger.
"""

import os
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import pyarrow as pa

from pointillist.errors import DataError, UsageError
from pointillist.files.buckets import endpoint_of
from pointillist.files.urls import Url
from pointillist.reading.base import SOURCES, Report, Source
from pointillist.reading.batches import rows_at_once
from pointillist.reading.parquet_files import Files
from pointillist.schema import Schema

LOG = "_delta_log"
_CANNOT = "cannot be read. Is it whole, at that {state}, and do the credentials in the environment let you in?"


@SOURCES.register("delta", place=7)
class DeltaTable(Files):
    """A Delta table at one version: a folder, or file:///folder?version=3; buckets find theirs by themselves."""

    @classmethod
    def suits(cls, table: Any) -> bool:
        if isinstance(table, Url):
            return table.scheme == "file"
        return isinstance(table, Path) and (table / LOG).is_dir()

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> "DeltaTable":
        return delta_table(table)

    def stamp(self) -> Hashable:
        return None  # its files are written once; one that is gone is missed by whoever reads it


def delta_table(place: Path | Url) -> DeltaTable:
    """The table at a path or an address: at the version that a parameter states, else at the latest, which is kept."""
    try:
        import deltalake
    except ImportError:
        raise UsageError(f"{place}: deltalake is needed to read it: pip install 'pointillist[lakes]'.") from None
    url = place if isinstance(place, Url) else None
    path = str(place) if url is None else unquote(url.path) if url.scheme == "file" else url.without("version").secret
    try:
        found = deltalake.DeltaTable(path, version=_number(url, "version"), storage_options=_options(url))
        table = DeltaTable(found.to_pyarrow_dataset(), str(place), whole=True)
    except (UsageError, DataError):
        raise
    except Exception:  # its own words may hold keys and paths, and it has errors of many kinds
        raise DataError(f"{place}: {_CANNOT.format(state='version')}") from None
    table.version = f"version {found.version()}"
    return table


def _options(url: Url | None) -> dict[str, str] | None:
    """Where the store is, if it is not Amazon's own; who may reach it, the library finds in the environment itself."""
    endpoint = endpoint_of(os.environ) if url is not None and url.scheme == "s3" else None
    if endpoint is None:
        return None
    plain = {"AWS_ALLOW_HTTP": "true"} if endpoint.startswith("http://") else {}
    return {"AWS_ENDPOINT_URL": endpoint, **plain}


def _number(url: Url | None, name: str) -> int | None:
    text = None if url is None else url.parameter(name)
    if text is None:
        return None
    if not text.isascii() or not text.isdigit():
        raise UsageError(f"{url}: {name} must be a whole number.")
    return int(text)


@SOURCES.register("iceberg", place=8)
class IcebergTable(Source):
    """An Iceberg table at one snapshot: iceberg://catalog/namespace.table?snapshot=123."""

    whole = True

    def __init__(self, url: Url, scan: Any, snapshot: int):
        self._scan, self._snapshot, self.name = scan, snapshot, str(url)
        self.version = f"snapshot {snapshot}"

    @classmethod
    def suits(cls, table: Any) -> bool:
        return isinstance(table, Url) and table.scheme == "iceberg"

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> "IcebergTable":
        try:
            from pyiceberg.catalog import load_catalog
            from pyiceberg.exceptions import NoSuchTableError
        except ImportError:
            raise UsageError(f"{table}: pyiceberg is needed to read it: pip install 'pointillist[lakes]'.") from None
        wanted = _number(table, "snapshot")
        try:
            found = load_catalog(table.host).load_table(unquote(table.path).strip("/"))
        except NoSuchTableError:
            raise DataError(f"{table}: the catalog has no such table.") from None
        except Exception:  # a catalog's own words may hold its credentials
            raise DataError(
                f"{table}: the catalog cannot be asked. Is it set up, and are its credentials right?"
            ) from None
        state = found.current_snapshot() if wanted is None else found.snapshot_by_id(wanted)
        if state is None:
            raise DataError(f"{table}: {'has no rows yet' if wanted is None else 'has no such snapshot'}.")
        return cls(
            table, lambda columns: found.scan(snapshot_id=state.snapshot_id, selected_fields=columns), state.snapshot_id
        )

    def column_names(self) -> list[str]:
        return [field.name for field in self._scan(("*",)).projection().fields]

    def types(self) -> dict[str, pa.DataType]:
        return {field.name: field.type for field in self._scan(("*",)).projection().as_arrow()}

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        most = rows_at_once(schema)
        for batch in self._batches(tuple(columns)):
            for start in range(0, batch.num_rows, most):
                yield batch.slice(start, most).select(columns)
        report(1.0)

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        kinds = self._scan(("*",)).projection().as_arrow()
        rows = (batch.cast(kinds) for batch in self._batches(("*",)))
        db.from_arrow(pa.RecordBatchReader.from_batches(kinds, rows)).create("_lake")
        return db.table("_lake").query("source", sql)

    def _batches(self, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        try:
            yield from self._scan(columns).to_arrow_batch_reader()
        except (pa.ArrowException, OSError):
            raise
        except Exception:
            raise DataError(f"{self.name}: {_CANNOT.format(state='snapshot')}") from None
