"""Table output: synthetic tables as files, written whole or not at all."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
from pyarrow import feather, parquet

from pointillist.errors import UsageError
from pointillist.files import buckets, container, database_output
from pointillist.files.dialects import DIALECTS
from pointillist.files.safe_csv import without_formulas
from pointillist.files.urls import Url
from pointillist.schema import Schema, kind_of_type


def _csv(table: pa.Table, buffer: Any, delimiter: str = ",", codec: str | None = None) -> None:
    if table.num_columns == 1:  # a blank line is no row to most readers: write a missing value as ""
        table = pa.table({table.column_names[0]: table.column(0).cast(pa.string()).fill_null("")})
    options = pacsv.WriteOptions(delimiter=delimiter)
    if codec is None:
        pacsv.write_csv(table, buffer, options)
    else:
        with pa.CompressedOutputStream(buffer, codec) as packed:
            pacsv.write_csv(table, packed, options)


def _arrow(table: pa.Table, buffer: Any) -> None:
    feather.write_feather(table, buffer)


_TEXTS: dict[str, Callable[[pa.Table, Any], None]] = {
    f"{ending}{packed}": partial(_csv, delimiter=delimiter, codec=codec)
    for ending, delimiter in ((".csv", ","), (".tsv", "\t"))
    for packed, codec in (("", None), (".gz", "gzip"), (".zst", "zstd"))
}
_WRITERS: dict[str, Callable[[pa.Table, Any], None]] = {
    **_TEXTS,
    ".parquet": parquet.write_table,
    ".pq": parquet.write_table,
    ".arrow": _arrow,
    ".feather": _arrow,
}


def _ending(path: Path) -> str:
    """The ending that names the format; a name that is nothing but an ending has none."""
    name = path.name.lower()
    ending = next((each for each in _WRITERS if name.endswith(each) and name != each), None)
    if ending is None:
        raise UsageError(f"{path}: the ending is not known. Known are {', '.join(_WRITERS)}.")
    return ending


def check_path(path: str | Path | Url, *, overwrite: bool = False) -> None:
    """Refuse a place that could not be written, before anything is spent or computed for it."""
    if isinstance(path, Url) and path.scheme in DIALECTS:
        database_output.check(path, overwrite=overwrite)
        return
    if isinstance(path, Url):
        if path.scheme not in buckets.BUCKETS:
            raise UsageError(f"{path}: addresses of this kind are not known.")
        _ending(Path(path.path))
        buckets.check(path, overwrite=overwrite)
        return
    path = Path(path)
    _ending(path)
    with container.reserve(path, 0):
        pass


def write_table(
    table: pa.Table,
    path: str | Path | Url,
    schema: Schema | None = None,
    *,
    safe_csv: bool = False,
    overwrite: bool = False,
) -> None:
    """Write a table in the format that the path's ending names, or to a database; texts are written as the schema says.

    `safe_csv`: in CSV files, texts that a spreadsheet would run as a formula get an apostrophe before them. `overwrite` is
    for databases and buckets: a file's path is the caller's to look after.
    """
    if isinstance(path, Url) and path.scheme in DIALECTS:
        database_output.write(table, path, overwrite=overwrite)
        return
    check_path(path, overwrite=overwrite)
    ending = _ending(Path(path.path if isinstance(path, Url) else path))
    if safe_csv and ending in _TEXTS:
        table = without_formulas(table)
    buffer = pa.BufferOutputStream()
    _WRITERS[ending](_as_texts(table, schema) if ending in _TEXTS else table, buffer)
    content = buffer.getvalue().to_pybytes()
    if isinstance(path, Url):
        buckets.write(path, content)
    else:
        container.write(path, content)


def _as_texts(table: pa.Table, schema: Schema | None) -> pa.Table:
    """A table as a CSV file has it: each column by its kind, or by its type where no schema says what it is."""
    for number, field in enumerate(table.schema):
        column = None if schema is None else schema.columns.get(field.name)
        write = kind_of_type(field.type).written if column is None else column.to_text
        table = table.set_column(number, field.name, write(table.column(number)))
    return table
