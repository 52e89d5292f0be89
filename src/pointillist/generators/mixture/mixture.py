"""Mixture: K products of per-column distributions. Rows are drawn evenly, so that samples show what the model says."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.files.facts import texts, whole, wholes
from pointillist.generators import stored
from pointillist.generators.drawing import draw, draw_levels, quota
from pointillist.generators.held_tables import HeldTables, Places
from pointillist.generators.trends import Trends
from pointillist.records import Records
from pointillist.schema import Schema
from pointillist.schema.levels import levels_of

Floats = NDArray[np.float64]

_MOST_CLIQUES = 10_000
"""The most tables of three columns and more that a model file may name."""


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
    held: HeldTables | None = None
    """The tables that samples should have, where tables are all that was measured: then rows exchange values and forget
    the rest. None: rows stay as they are drawn, for a release of other features speaks about them in ways that no table
    holds."""
    trends: Trends | None = None
    """What ties ordered columns beyond components and tiles; none where no pair tables were measured."""

    def describe(self) -> str:
        return f"a mixture of {len(self.weights)} components"

    def sample(self, count: int, rng: np.random.Generator) -> Records:
        """`count` rows, each drawn by itself: nothing is exchanged between them."""
        return self.with_levels(self.draw_tiles(count, rng), rng)

    def draw_tiles(self, count: int, rng: np.random.Generator) -> Places:
        """Tile numbers, rows x columns; rows of a component stand together."""
        component = quota(self.weights, count, rng)
        tiles = np.stack([draw(table, component, rng) for table in self.tables.values()], axis=1).astype(np.int32)
        if self.trends is not None:
            self.trends.exchange(tiles, component, rng)
        return tiles

    def with_levels(self, tiles: Places, rng: np.random.Generator) -> Records:
        """Records with a level of each tile, in random order."""
        places = {} if self.trends is None else self.trends.places(tiles, rng)
        codes = {
            name: draw_levels(own, self.within[name], tiles[:, number], rng, places.get(number))
            for number, (name, own) in enumerate(self.tiles.items())
        }
        shuffled = rng.permutation(len(tiles))
        return Records(len(tiles), {name: values[shuffled] for name, values in codes.items()}, {})

    def redrawn(self, column: str, codes: NDArray[np.uint16], rng: np.random.Generator) -> NDArray[np.uint16]:
        """Other levels of the same tiles."""
        tiles = self.tiles[column]
        return draw_levels(tiles, self.within[column], tiles.table[codes], rng)

    def given(self, inside: Mapping[str, Floats]) -> tuple[float, Self]:
        """The probability of a condition, and the mixture of the rows that meet it: exact.

        `inside` holds, for some columns, the probability that a row of each level meets the condition. Given their
        component columns are independent, so components gain or lose weight by how likely they meet all of it.
        """
        weights, tables, within = self.weights, dict(self.tables), dict(self.within)
        for name, shares in inside.items():
            tiles = self.tiles[name]
            inner = self.within[name] * shares
            by_tile = np.bincount(tiles.table, weights=inner, minlength=tiles.dimension)
            tables[name] = self.tables[name] * by_tile
            weights = weights * tables[name].sum(axis=1)
            mass = by_tile[tiles.table]
            within[name] = np.where(mass > 0, inner / np.where(mass > 0, mass, 1.0), self.within[name])
        alive = weights > 0
        met_by = float(weights.sum() / self.weights.sum())
        if not alive.any():
            return 0.0, self
        tables = {name: table[alive] / table[alive].sum(axis=1, keepdims=True) for name, table in tables.items()}
        share = weights[alive] / weights.sum()
        # The tables of such rows are those of the components alone: they would undo what trends do.
        kept = None if self.trends is not None else self.held
        held = None if kept is None else kept.made_by(share, list(tables.values()))
        return met_by, type(self)(share, self.tiles, tables, within, held, self.trends)

    def to_facts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The mixture as JSON values and arrays."""
        names = list(self.tiles)
        arrays: dict[str, NDArray[Any]] = {"weights": self.weights}
        for number, name in enumerate(names):
            arrays[f"{number}.tile_of"] = self.tiles[name].table
            arrays[f"{number}.table"] = self.tables[name].astype(np.float32)
            arrays[f"{number}.within"] = self.within[name]
        if self.trends is not None:
            arrays |= self.trends.to_arrays()
        if self.held is None:
            return {"columns": names, "splits": []}, arrays
        facts = {"columns": names, "splits": [each.label for each in self.held.by_class]}
        if self.held.cliques:
            facts["cliques"] = len(self.held.cliques)
        return facts, arrays | self.held.to_arrays()

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]], schema: Schema) -> Self:
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
        sizes = [each.dimension for each in tiles.values()]
        labels = wholes(facts, "splits", 0, len(sizes) - 1) if "splits" in facts else ()
        cliques = whole(facts, "cliques", 0, _MOST_CLIQUES) if "cliques" in facts else 0
        there = labels or cliques or "pairs" in arrays
        held = HeldTables.from_arrays(arrays, labels, sizes, cliques) if there else None
        trends = Trends.from_arrays(arrays, sizes) if "trends.columns" in arrays else None
        return cls(weights, tiles, tables, within, held, trends)

    def fits(self, schema: Schema) -> bool:
        if schema.image is not None:
            return False
        levels = levels_of(schema)
        known = stored.same_columns(self.tiles, levels)
        return known and all(len(self.tiles[each.name].tile_of) == each.size for each in levels)
