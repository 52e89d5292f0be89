"""Job: one run's folder. The bench writes what a method may see, the method's script writes what it made.

Written: `job.json` (method, budget, seed, settings, columns, sizes of their domains, schema, target), `train.parquet`
for our own methods, `train.npy` for rivals: level numbers, one column of the matrix for each column of the schema.
Read back: `synthetic.parquet`, or `synthetic.npy` with level numbers again, and `versions.json`.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pointillist.errors import DataError
from pointillist.evaluate.tables.sample import Sample
from pointillist.evaluate.tables.sample import read as read_sample
from pointillist.sampling.decoding import decode
from pointillist.schema import Schema
from pointillist.schema.levels import Levels, coarse, coarse_size

from .datasets import Dataset
from .methods import Method

_TRIES = 30
"""How often a value that rounding moves is drawn again. Where no rounded value lies in a bin, it moves all the same."""


@dataclass(frozen=True)
class Run:
    """One cell of the bench."""

    dataset: str
    method: str
    epsilon: float | None = None
    """None, like delta, for a reference."""
    delta: float | None = None
    seed: int = 0
    bins: int = 16
    """Into how many bins a number is joined for the rivals."""

    @property
    def key(self) -> str:
        """A name for files that a person can read."""
        if self.epsilon is None:
            return f"{self.dataset}-{self.method}"
        return (
            f"{self.dataset}-{self.method}-epsilon{self.epsilon:g}-delta{self.delta:g}-bins{self.bins}-seed{self.seed}"
        )


def write(folder: Path, run: Run, method: Method, dataset: Dataset, rows: pa.Table, train: Sample) -> None:
    """Lay out what the method may see."""
    job = {
        **vars(run),
        "settings": method.settings,
        "columns": list(train.columns),
        "sizes": [coarse_size(each, run.bins) for each in train.levels],
        "schema": dataset.schema.to_json(),
        "target": dataset.target or None,
    }
    (folder / "job.json").write_text(json.dumps(job))
    if method.takes_levels:
        np.save(folder / "train.npy", np.stack([train.bins(name, run.bins) for name in train.columns], axis=1))
    else:
        pq.write_table(rows, folder / "train.parquet")


def read(folder: Path, run: Run, method: Method, levels: tuple[Levels, ...]) -> tuple[pa.Table, dict[str, Any]]:
    """The synthetic table and the versions of the packages that made it."""
    versions = json.loads((folder / "versions.json").read_text())
    if not method.takes_levels:
        return pq.read_table(folder / "synthetic.parquet"), versions
    made = np.load(folder / "synthetic.npy", allow_pickle=False)
    rng = np.random.default_rng(run.seed)
    columns = {each.name: _rows(each, made[:, number], run.bins, rng) for number, each in enumerate(levels)}
    return pa.table(columns), versions


def _rows(levels: Levels, joined: NDArray[Any], bins: int, rng: np.random.Generator) -> pa.Array:
    """Values for joined levels. Those that rounding to the column's decimals carries into another bin are drawn again."""
    values = decode(levels, _spread(levels, joined, bins, rng), rng)
    if not levels.numeric or levels.whole:
        return values
    schema = Schema(name="rival", columns={levels.name: levels.column})
    for _ in range(_TRIES):
        astray = np.flatnonzero(read_sample(pa.table({levels.name: values}), schema).bins(levels.name, bins) != joined)
        if not len(astray):
            break
        places = np.arange(len(joined))
        places[astray] = len(joined) + np.arange(len(astray))
        again = decode(levels, _spread(levels, joined[astray], bins, rng), rng)
        values = pa.concat_arrays([values, again]).take(pa.array(places))
    return values


def _spread(levels: Levels, joined: NDArray[Any], bins: int, rng: np.random.Generator) -> NDArray[np.uint16]:
    """From joined levels back to the schema's own: each of those that were joined is as likely."""
    if len(joined) and not 0 <= joined.min() <= joined.max() < coarse_size(levels, bins):
        raise DataError(f"column {levels.name!r}: a rival returned a level number outside the domain.")
    places = coarse(levels, bins)
    first, last = np.searchsorted(places, joined), np.searchsorted(places, joined, side="right")
    return (first + (rng.random(len(joined)) * (last - first)).astype(np.int64)).astype(np.uint16)
