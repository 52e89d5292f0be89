"""Output: what every script of this folder writes, a Parquet file with all runs and a Markdown page for people.

Cells that hold a mean over runs are made with `mean_and_spread`, the same as in `benchmarks.tables`.
"""

import json
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import stamp
from benchmarks.tables.results import mean_and_spread

__all__ = ["RESULTS", "markdown", "mean_and_spread", "read", "versions", "write", "write_page"]

RESULTS = Path(__file__).parent / "results"
"""The folder that is written to unless another one is given."""

Row = Mapping[str, Any]
"""One run by column name. A value is a number, a text, a truth value or None; a dict or list is kept as JSON text."""


def write(rows: Sequence[Row], name: str, folder: Path = RESULTS, measures: Sequence[str] = stamp.MEASURES) -> Path:
    """All rows as `name`.parquet, whole or not at all. A column that a row does not have is null in it.

    Rows that were not read from such a file are new, and get the stamp of now.
    """
    rows = [{stamp.COLUMN: stamp.now(), **row} for row in rows]
    names = list(dict.fromkeys(key for row in rows for key in row))
    table = pa.table({key: pa.array([_plain(row.get(key)) for row in rows]) for key in names})
    table = table.replace_schema_metadata(stamp.mark(measures))
    path = folder / f"{name}.parquet"
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")
    pq.write_table(table, part)
    return part.replace(path)


def read(name: str, folder: Path = RESULTS) -> list[dict[str, Any]]:
    """The rows of `name`.parquet, or none if there is no such file yet. Those without a stamp have None for it."""
    path = folder / f"{name}.parquet"
    rows = pq.read_table(path).to_pylist() if path.exists() else []
    return [{stamp.COLUMN: None, **row} for row in rows]


def write_page(text: str, name: str, folder: Path = RESULTS, said: str | None = None) -> str:
    """A page as `name`.md, whole or not at all, and its text: with `said`, or the stamps of `name`.parquet, on top."""
    folder.mkdir(parents=True, exist_ok=True)
    path, results = folder / f"{name}.md", folder / f"{name}.parquet"
    if said is None and results.exists():
        said = stamp.line(*stamp.read(results))
    whole = stamp.put(text, said) if said else text.rstrip("\n") + "\n"
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(whole, encoding="utf-8")
    part.replace(path)
    return whole


def markdown(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table. None is an empty cell; a bar inside a text cannot break the table."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines) + "\n"


def versions(*packages: str) -> dict[str, str]:
    """Versions of packages whose code has a part in a number: ours, numpy, scikit-learn, torch, and those named."""
    found = {}
    for package in dict.fromkeys(("pointillist", "numpy", "scikit-learn", "torch", *packages)):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _plain(value: Any) -> Any:
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list | tuple) else value


def _cell(value: Any) -> str:
    return "" if value is None else " ".join(str(value).split()).replace("|", "/")
