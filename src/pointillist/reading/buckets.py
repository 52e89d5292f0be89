"""Buckets: Parquet, Arrow and CSV files at s3://, gs://, az:// and https:// addresses, streamed from there."""

from collections.abc import Hashable
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs

from pointillist.errors import DataError
from pointillist.files.buckets import BUCKETS, filesystem
from pointillist.files.http_files import HttpFiles
from pointillist.files.urls import Url
from pointillist.reading.base import SOURCES, Source
from pointillist.reading.csv_files import CsvFile
from pointillist.reading.csv_folders import CsvFolder, csv_names, is_hidden
from pointillist.reading.lakes import LOG, delta_table
from pointillist.reading.parquet_files import FILE_KINDS, MOST_FILES, Files
from pointillist.reading.recoded import UTF8
from pointillist.schema import Schema

_ICEBERG = ".metadata.json"


def state(store: fs.FileSystem, files: list[str]) -> Hashable:
    """What differs once one of the files has been written anew: its ETag where the store has one; else time and size."""
    handler = getattr(store, "handler", None)
    if isinstance(handler, HttpFiles):
        return handler.state()
    found = []
    for each in store.get_file_info(files):
        if each.type is not fs.FileType.File:
            raise FileNotFoundError(each.path)
        with store.open_input_file(each.path) as stream:
            tag = {str(name).lower(): value for name, value in (stream.metadata() or {}).items()}.get("etag")
        found.append((each.path, each.size, each.mtime_ns, tag))
    return tuple(found)


@SOURCES.register("bucket", place=6)
class BucketFiles(Files):
    """Parquet or Arrow files in a bucket; addresses of CSV files and Delta tables are told from them here."""

    @classmethod
    def suits(cls, table: Any) -> bool:
        return isinstance(table, Url) and table.scheme in BUCKETS

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> Source:  # type: ignore[override]
        try:
            return _opened(table, delimiter)
        except FileNotFoundError:
            raise DataError(f"{table}: no such file, or no such bucket.") from None
        except PermissionError:
            raise DataError(f"{table}: may not be read. Check the credentials in the environment.") from None
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{table}: {_why(error)}") from None

    def explain(self, error: Exception, schema: Schema | None) -> str:
        return f"{self.name}: {_why(error)}"

    def stamp(self) -> Hashable:
        return state(self.dataset.filesystem, self.dataset.files)


class BucketCsv(CsvFile):
    """A CSV file in a bucket."""

    def __init__(self, url: Url, delimiter: str = ",", decimal: str | None = None, encoding: str = UTF8):
        super().__init__(Path(url.path), delimiter, decimal, encoding)
        self.url, self.name = url, str(url)
        self._store, self._place = filesystem(url)

    def address(self) -> dict[str, Any] | None:  # type: ignore[override]
        return None  # an address is written down, and this one may hold a signature

    def told(self, delimiter: str, decimal: str | None, encoding: str) -> "BucketCsv":
        return type(self)(self.url, delimiter, decimal, encoding)

    def stamp(self) -> Hashable:
        return state(self._store, [self._place])

    def raw(self) -> BinaryIO:
        return self._store.open_input_file(self._place)

    def size(self) -> int:
        return self._store.get_file_info(self._place).size or 0

    def _texts(self, db: duckdb.DuckDBPyConnection, names: list[str]) -> duckdb.DuckDBPyRelation:
        return db.from_arrow(self.text_stream(names))

    def explain(self, error: Exception, schema: Schema | None) -> str:
        return super().explain(error, schema) if not isinstance(error, OSError) else f"{self.name}: {_why(error)}"


def _why(error: Exception) -> str:
    """What an error of a store is about. Its own words may hold keys, and are not passed on."""
    text = str(error).upper()
    if any(
        sign in text
        for sign in ("ACCESS_DENIED", "INVALID_ACCESS", "SIGNATURE", "FORBIDDEN", "403", "401", "CREDENTIAL")
    ):
        return "may not be read. Check the credentials in the environment."
    if any(sign in text for sign in ("NETWORK", "CONNECT", "RESOLVE", "TIMEOUT", "TIMED OUT", "REACHED")):
        return "the store cannot be reached. Check the address, and the network."
    return "cannot be read. Is it whole, and of the kind that its name says?"


def _opened(url: Url, delimiter: str) -> Source:
    store, path = filesystem(url)
    there = store.get_file_info(path)
    if there.type is fs.FileType.NotFound:
        raise FileNotFoundError
    if there.type is fs.FileType.File:
        name = Path(path)
        if CsvFile.suits_name(name):
            return BucketCsv(url, delimiter).settled()
        if name.suffix.lower() not in FILE_KINDS:
            raise DataError(f"{url}: the ending is not known. In a bucket known are .csv, .tsv, .parquet and .arrow.")
        return BucketFiles(
            ds.dataset(path, filesystem=store, format=FILE_KINDS[name.suffix.lower()]), str(url), whole=True
        )
    inside = [each.path for each in store.get_file_info(fs.FileSelector(path, recursive=True)) if each.is_file]
    if any(f"/{LOG}/" in each for each in inside):
        return delta_table(url)
    return _folder(url, store, path, inside, delimiter)


def _folder(url: Url, store: fs.FileSystem, path: str, inside: list[str], delimiter: str) -> Source:
    if len(inside) > MOST_FILES:
        raise DataError(f"{url}: holds more than {MOST_FILES:,} files. Name the folder of the table itself.")
    if any(each.endswith(_ICEBERG) for each in inside):
        raise DataError(f"{url}: is an Iceberg table. Name it by its catalog: iceberg://catalog/namespace.table.")
    inside = [each for each in inside if not is_hidden(PurePosixPath(each).relative_to(path))]
    if names := [Path(each) for each in inside if CsvFile.suits_name(Path(each))]:
        csv_names([Path(each) for each in inside], str(url))
        parts = [url.below(each.relative_to(path).as_posix()) for each in sorted(names)]
        return CsvFolder([BucketCsv(each, delimiter).settled() for each in parts], str(url))
    kinds = {FILE_KINDS.get(Path(each).suffix.lower(), "") for each in inside} - {""}
    if len(kinds) != 1:
        raise DataError(
            f"{url}: a folder in a bucket must hold CSV files, or Parquet files, or Arrow files, and not several of them."
        )
    return BucketFiles(ds.dataset(path, filesystem=store, format=kinds.pop()), str(url), whole=True)
