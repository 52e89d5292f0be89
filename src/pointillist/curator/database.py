"""DuckDB as a working tool: in memory, within bounds, spilling to a temporary folder that is removed afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from pointillist.curator.scratch import scratch

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
    paths = ", ".join("'" + str(path).replace("'", "''") + "'" for path in allowed)
    db.execute(f"SET allowed_paths = [{paths}]; SET enable_external_access = false; SET lock_configuration = true")
