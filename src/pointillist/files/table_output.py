"""Table output: synthetic tables as files, written whole or not at all."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from pyarrow import feather, parquet

from pointillist.errors import UsageError
from pointillist.files import buckets, container, database_output
from pointillist.files.dialects import DIALECTS
from pointillist.files.safe_csv import without_formulas
from pointillist.files.urls import Url
from pointillist.schema import Schema, kind_of_type
from pointillist.schema.csv_form import CsvForm


def _csv(table: pa.Table, buffer: Any, form: CsvForm, delimiter: str | None = None, codec: str | None = None) -> None:
    if form.decimal == ",":
        table = _with_commas(table)
    if table.num_columns == 1:  # a blank line is no row to most readers: write a missing value as ""
        table = pa.table({table.column_names[0]: table.column(0).cast(pa.string()).fill_null("")})
    options = pacsv.WriteOptions(delimiter=delimiter or form.delimiter)
    if codec is None:
        pacsv.write_csv(table, buffer, options)
    else:
        with pa.CompressedOutputStream(buffer, codec) as packed:
            pacsv.write_csv(table, packed, options)


def _with_commas(table: pa.Table) -> pa.Table:
    """The same table with its reals as texts that have a decimal comma."""
    for number, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            texts = pc.replace_substring(table.column(number).cast(pa.string()), ".", ",")
            table = table.set_column(number, field.name, texts)
    return table


def _arrow(table: pa.Table, buffer: Any) -> None:
    feather.write_feather(table, buffer)


_TEXTS: dict[str, Callable[[pa.Table, Any, CsvForm], None]] = {
    f"{ending}{packed}": partial(_csv, delimiter=delimiter, codec=codec)
    for ending, delimiter in ((".csv", None), (".tsv", "\t"))
    for packed, codec in (("", None), (".gz", "gzip"), (".zst", "zstd"))
}
_OTHERS: dict[str, Callable[[pa.Table, Any], None]] = {
    ".parquet": parquet.write_table,
    ".pq": parquet.write_table,
    ".arrow": _arrow,
    ".feather": _arrow,
}
_ENDINGS = (*_TEXTS, *_OTHERS)


def _ending(path: Path) -> str:
    """The ending that names the format; a name that is nothing but an ending has none."""
    name = path.name.lower()
    ending = next((each for each in _ENDINGS if name.endswith(each) and name != each), None)
    if ending is None:
        raise UsageError(f"{path}: the ending is not known. Known are {', '.join(_ENDINGS)}.")
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
    form: CsvForm | None = None,
    safe_csv: bool = False,
    overwrite: bool = False,
) -> None:
    """Write a table in the format that the path's ending names, or to a database; texts are written as the schema says.

    `form` is how CSV files are written, if not as the schema says. `safe_csv`: in CSV files, texts that a spreadsheet would
    run as a formula get an apostrophe before them. `overwrite` is for databases and buckets: a file's path is the caller's
    to look after.
    """
    if isinstance(path, Url) and path.scheme in DIALECTS:
        database_output.write(table, path, overwrite=overwrite)
        return
    check_path(path, overwrite=overwrite)
    ending = _ending(Path(path.path if isinstance(path, Url) else path))
    if safe_csv and ending in _TEXTS:
        table = without_formulas(table)
    buffer = pa.BufferOutputStream()
    if ending in _TEXTS:
        _TEXTS[ending](_as_texts(table, schema), buffer, form or (schema.csv if schema else None) or CsvForm())
    else:
        _OTHERS[ending](table, buffer)
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
