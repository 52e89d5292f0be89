"""DuckDB as a working tool: in memory, within bounds, spilling to a temporary folder that is removed afterwards."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from pointillist.errors import DataError
from pointillist.reading.scratch import scratch

MEMORY = "512MB"
"""What DuckDB keeps to before it writes to disk."""


@contextmanager
def connect(database: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that keeps to its memory; an existing database is opened for reading only."""
    with scratch() as folder:
        settings = {"memory_limit": MEMORY, "temp_directory": str(folder), "preserve_insertion_order": "false"}
        db = duckdb.connect(str(database or ":memory:"), read_only=database is not None, config=settings)
        try:
            yield db
        finally:
            db.close()


def confine(db: duckdb.DuckDBPyConnection, *allowed: Path) -> None:
    """Let a connection reach no file from now on, except those allowed and its own, and let no setting be changed."""
    names = [name for path in allowed for name in (path.absolute().as_posix(), pattern(path))]
    paths = ", ".join("'" + name.replace("'", "''") + "'" for name in names)
    db.execute(f"SET allowed_paths = [{paths}]; SET enable_external_access = false; SET lock_configuration = true")


def noted(batches: Iterable[pa.RecordBatch], failures: list[BaseException]) -> Iterator[pa.RecordBatch]:
    """The same batches, for DuckDB to read; an error of theirs is noted, as DuckDB would turn it into one of its own."""
    try:
        yield from batches
    except BaseException as error:
        failures.append(error)
        raise


def pattern(path: Path) -> str:
    """A file's path as DuckDB has to be told it: it takes every path for a pattern, and the file alone matches this one."""
    name = path.absolute().as_posix()  # a name may begin with ~
    found = re.sub(r"[*?\[]", r"[\g<0>]", name)
    if found != name and "\\" in name:
        raise DataError(f"{path}: the path has a backslash in it beside *, ? or [. Rename the file or its folder.")
    return found
