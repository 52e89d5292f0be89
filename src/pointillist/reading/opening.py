"""Opening: whatever a caller has, as a source or a schema."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from pointillist.errors import DataError, UsageError
from pointillist.files.paths import checked
from pointillist.files.urls import Url
from pointillist.reading.base import SOURCES, Source
from pointillist.schema import Schema


def open_source(
    table: Any,
    *,
    delimiter: str = ",",
    decimal: str | None = None,
    encoding: str | None = None,
    query: str | None = None,
) -> Source:
    """Whatever the caller has, as a source."""
    if encoding is not None:
        opened = open_source(table, delimiter=delimiter, query=query).with_encoding(encoding)
        return opened if decimal is None else open_source(opened, decimal=decimal)
    if decimal is not None:
        if decimal not in (",", "."):
            raise UsageError(f"decimal must be a comma or a point, not {decimal!r}.")
        return open_source(table, delimiter=delimiter, query=query).with_decimal(decimal)
    if Url.is_one(table):
        table = Url.parse(table)
    if query is not None:
        return _queried(query, table, delimiter)
    if isinstance(table, Source):
        return table
    if isinstance(table, Url):
        return _open_url(table, delimiter)
    if isinstance(table, str | os.PathLike):
        return _open_path(Path(table), delimiter)
    if isinstance(table, pa.RecordBatchReader | Iterator):
        raise UsageError(
            "a stream can be read only once, and a release may need to read the rows again. Pass a file, a frame, a "
            "dataset or a relation."
        )
    return next(iter(SOURCES.suiting(table).values())).opened(table, delimiter)


def open_address(address: Mapping[str, Any]) -> Source:
    """The source that stands at an address, perhaps in another process than the one that asked for it."""
    return SOURCES.named(address["source"]).from_address(address)


def open_schema(schema: Schema | str | Path) -> Schema:
    """A schema as callers pass it: itself, or the path of its TOML file."""
    if isinstance(schema, str | Path):
        return Schema.load(schema)
    if not isinstance(schema, Schema):
        raise UsageError(f"schema must be a Schema or the path of one, not {type(schema).__name__}.")
    return schema


def csv(path: str | Path, *, delimiter: str = ",", decimal: str | None = None, encoding: str | None = None) -> Source:
    """A CSV file as a table, with the delimiter, the decimal sign and the encoding that it uses.

    A semicolon or a tab between the names of the columns is found without being told, and so are decimal commas beside
    semicolons. The encoding is UTF-8 unless another is given, such as "cp1252".
    """
    return open_source(Path(path), delimiter=delimiter, decimal=decimal, encoding=encoding)


def _queried(query: str, table: Any, delimiter: str) -> Source:
    from pointillist.reading.databases import Query  # these open sources themselves
    from pointillist.reading.server_tables import ServerTable, database

    return database(table, query=query) if ServerTable.suits(table) else Query(query, table, delimiter)


def _open_url(url: Url, delimiter: str) -> Source:
    for kind in SOURCES.suiting(url).values():
        return kind.opened(url, delimiter)
    raise DataError(f"{url}: addresses of this kind are not read here. If a Spark cluster reads them: --engine spark.")


def _open_path(path: Path, delimiter: str) -> Source:
    if not checked(path, DataError).exists():
        raise DataError(f"{path}: no such file.")
    if (
        len(delimiter) != 1
        or not (delimiter == "\t" or (delimiter.isascii() and delimiter.isprintable()))
        or delimiter == '"'
    ):
        raise UsageError(f"delimiter must be one character, such as ; or a tab ($'\\t'), not {delimiter!r}.")
    for kind in SOURCES.suiting(path).values():
        return kind.opened(path, delimiter)
    tables, images = (
        [ending for kind in SOURCES.values() if kind.holds_images is held for ending in kind.endings]
        for held in (False, True)
    )
    raise DataError(f"{path}: the ending is not known. Known are {_listed(tables)}; for images {_listed(images)}, too.")


def _listed(endings: list[str]) -> str:
    return f"{', '.join(endings[:-1])} and {endings[-1]}"
