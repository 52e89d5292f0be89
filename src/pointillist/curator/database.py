"""DuckDB as a working tool: in memory, within bounds, spilling to a temporary folder that is removed afterwards."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb


@contextmanager
def connect(database: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that keeps to half a gigabyte of memory; an existing database is opened for reading only."""
    with tempfile.TemporaryDirectory(prefix="pointillist-") as folder:
        settings = {"memory_limit": "512MB", "temp_directory": folder, "preserve_insertion_order": "false"}
        db = duckdb.connect(str(database or ":memory:"), read_only=database is not None, config=settings)
        try:
            yield db
        finally:
            db.close()
