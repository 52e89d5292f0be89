"""Mixture: K products of per-column distributions. Rows are drawn evenly, so that samples show what the model says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.facts import texts
from pointillist.features import Tiles
from pointillist.generators import stored
from pointillist.generators.drawing import draw, draw_levels, quota
from pointillist.generators.swapping import mix
from pointillist.levels import Levels

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
        weights = stored.floats(arrays, "weights", 1)
        stored.weights(weights)
        for number, name in enumerate(texts(facts, "columns")):
            tiles[name] = stored.tiles_of(arrays, f"{number}.tile_of", name)
            tables[name] = stored.floats(arrays, f"{number}.table", 2)
            within[name] = stored.floats(arrays, f"{number}.within", 1)
            if tables[name].shape != (len(weights), tiles[name].dimension):
                raise ValueError(f"the tables of column {name!r} do not fit")
            stored.rows(tables[name])
            stored.within(tiles[name], within[name])
        total = sum(each.dimension for each in tiles.values())
        pairs = arrays.get("pairs")
        if pairs is not None and (pairs.shape != (total, total) or pairs.dtype != np.float32):
            raise ValueError("the pair tables do not fit")
        return cls(weights, tiles, tables, within, pairs)

    def fits(self, levels: Sequence[Levels]) -> bool:
        known = stored.same_columns(self.tiles, levels)
        return known and all(len(self.tiles[each.name].tile_of) == each.size for each in levels)
