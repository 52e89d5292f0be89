"""Output: synthetic tables as files, written whole or not at all."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
from pyarrow import feather, parquet

from pointillist import artefact
from pointillist.errors import UsageError
from pointillist.safe_csv import without_formulas


def _csv(table: pa.Table, buffer: Any) -> None:
    if table.num_columns == 1:  # a blank line is no row to most readers: write a missing value as ""
        table = pa.table({table.column_names[0]: table.column(0).cast(pa.string()).fill_null("")})
    pacsv.write_csv(table, buffer)


def _arrow(table: pa.Table, buffer: Any) -> None:
    feather.write_feather(table, buffer)


_WRITERS: dict[str, Callable[[pa.Table, Any], None]] = {
    ".csv": _csv,
    ".parquet": parquet.write_table,
    ".pq": parquet.write_table,
    ".arrow": _arrow,
    ".feather": _arrow,
}


def is_csv(path: Path) -> bool:
    """Whether a path names a CSV file."""
    return ".csv" in [ending.lower() for ending in path.suffixes[-2:]]


def check_path(path: str | Path) -> None:
    """Refuse a path that could not be written, before anything is spent or computed for it."""
    path = Path(path)
    if path.suffix.lower() not in _WRITERS:
        raise UsageError(f"{path}: the ending is not known. Known are {', '.join(_WRITERS)}.")
    with artefact.reserve(path, 0):
        pass


def write_table(table: pa.Table, path: str | Path, *, safe_csv: bool = False) -> None:
    """Write a table in the format that the path's ending names.

    `safe_csv`: in CSV files, texts that a spreadsheet would run as a formula get an apostrophe before them.
    """
    path = Path(path)
    check_path(path)
    if safe_csv and is_csv(path):
        table = without_formulas(table)
    buffer = io.BytesIO()
    _WRITERS[path.suffix.lower()](table, buffer)
    artefact.write(path, buffer.getvalue())
