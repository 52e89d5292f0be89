"""Mixture: K products of per-column distributions. Rows are drawn evenly, so that samples show what the model says."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.generators.drawing import draw, draw_levels, quota
from pointillist.generators.swapping import mix

Floats = NDArray[np.float64]
Single = NDArray[np.float32]

_MOST_MIXED = 500_000
"""About how many rows are mixed at a time, which keeps them near the processor."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """A sampler over the levels of all columns."""

    kind: ClassVar[str] = "mixture"

    weights: Floats
    tiles: dict[str, Tiles]
    tables: dict[str, Floats]
    """For each column the (K, tiles) probabilities of its components."""
    within: dict[str, Floats]
    """For each column the probability of every level inside its tile."""
    pairs: Single | None = None
    """What pair tables samples should have, over all tiles side by side; by default those of the components."""

    def describe(self) -> str:
        return f"a mixture of {len(self.weights)} components"

    def sample(self, count: int, generator: np.random.Generator) -> dict[str, NDArray[np.uint16]]:
        """Level numbers of `count` rows."""
        component = quota(self.weights, count, generator)
        drawn = np.stack([draw(table, component, generator) for table in self.tables.values()], axis=1).astype(np.int32)
        if len(self.tiles) > 1:
            starts = np.cumsum([0, *(tiles.dimension for tiles in self.tiles.values())])[:-1]
            pairs, parts = self.pair_tables(), max(1, count // _MOST_MIXED)
            for part in range(parts):  # every so many rows: each part has its share of every component
                rows = np.ascontiguousarray(drawn[part::parts])
                mix(rows, np.float32(len(rows)) * pairs, starts, generator)
                drawn[part::parts] = rows
        codes = {
            name: draw_levels(tiles, self.within[name], drawn[:, number], generator)
            for number, (name, tiles) in enumerate(self.tiles.items())
        }
        shuffled = generator.permutation(count)
        return {name: values[shuffled] for name, values in codes.items()}

    def pair_tables(self) -> Single:
        """The share of rows in every pair of tiles, of all columns side by side."""
        if self.pairs is not None:
            return self.pairs
        table = np.concatenate(list(self.tables.values()), axis=1).astype(np.float32)
        share = (self.weights / self.weights.sum()).astype(np.float32)
        return table.T @ (share[:, None] * table)

    def given(self, inside: Mapping[str, Floats]) -> tuple[float, Self]:
        """The probability of a condition, and the mixture of the rows that meet it: exact.

        `inside` holds, for some columns, the probability that a row of each level meets the condition. Given their
        component columns are independent, so components gain or lose weight by how likely they meet all of it.
        """
        weights, tables, within = self.weights, dict(self.tables), dict(self.within)
        for name, shares in inside.items():
            tiles = self.tiles[name]
            met = self.within[name] * shares
            by_tile = np.bincount(tiles.table, weights=met, minlength=tiles.dimension)
            tables[name] = self.tables[name] * by_tile
            weights = weights * tables[name].sum(axis=1)
            held = by_tile[tiles.table]
            within[name] = np.where(held > 0, met / np.where(held > 0, held, 1.0), self.within[name])
        kept = weights > 0
        met_by = float(weights.sum() / self.weights.sum())
        if not kept.any():
            return 0.0, self
        tables = {name: table[kept] / table[kept].sum(axis=1, keepdims=True) for name, table in tables.items()}
        return met_by, type(self)(weights[kept] / weights.sum(), self.tiles, tables, within)

    def to_facts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The mixture as JSON values and arrays."""
        names = list(self.tiles)
        arrays: dict[str, NDArray[Any]] = {"weights": self.weights}
        for number, name in enumerate(names):
            arrays[f"{number}.tile_of"] = self.tiles[name].table
            arrays[f"{number}.table"] = self.tables[name].astype(np.float32)
            arrays[f"{number}.within"] = self.within[name]
        if self.pairs is not None:
            arrays["pairs"] = self.pairs
        return {"columns": names}, arrays

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The inverse of `to_facts`."""
        tiles, tables, within = {}, {}, {}
        for number, name in enumerate(facts["columns"]):
            tiles[name] = Tiles(name, tuple(int(t) for t in arrays[f"{number}.tile_of"]))
            tables[name] = arrays[f"{number}.table"].astype(np.float64)
            within[name] = arrays[f"{number}.within"].astype(np.float64)
            if tables[name].shape != (len(arrays["weights"]), tiles[name].dimension):
                raise ValueError(f"the tables of column {name!r} do not fit")
        total = sum(each.dimension for each in tiles.values())
        if "pairs" in arrays and arrays["pairs"].shape != (total, total):
            raise ValueError("the pair tables do not fit")
        return cls(arrays["weights"].astype(np.float64), tiles, tables, within, arrays.get("pairs"))
