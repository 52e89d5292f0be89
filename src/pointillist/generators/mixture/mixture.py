"""Mixture: K products of per-column distributions. Rows are drawn evenly, so that samples show what the model says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.files.facts import texts, wholes
from pointillist.generators import stored
from pointillist.sampling.drawing import draw, draw_levels, quota
from pointillist.sampling.exchanges import Split, mix
from pointillist.schema.levels import Levels

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
    """The pair tables that samples should have, over all tiles side by side, where tables are all that was measured:
    then rows exchange values and forget the rest. None: rows stay as they are drawn, for a release of other features
    speaks about them in ways that no table holds."""
    splits: tuple[Split, ...] = ()
    """The same within each class of a target."""

    def describe(self) -> str:
        return f"a mixture of {len(self.weights)} components"

    def sample(self, count: int, generator: np.random.Generator) -> dict[str, NDArray[np.uint16]]:
        """Level numbers of `count` rows."""
        component = quota(self.weights, count, generator)
        drawn = np.stack([draw(table, component, generator) for table in self.tables.values()], axis=1).astype(np.int32)
        # Of a target and two columns nothing can be forgotten: a table by class holds all three together.
        if self.pairs is not None and len(self.tiles) > (3 if self.splits else 1):
            starts, parts = self._starts(), max(1, count // _MOST_MIXED)
            for part in range(parts):  # every so many rows: each part has its share of every component
                rows = np.ascontiguousarray(drawn[part::parts])
                mix(rows, np.float32(len(rows)) * self.pairs, starts, generator, self.splits)
                drawn[part::parts] = rows
        codes = {
            name: draw_levels(tiles, self.within[name], drawn[:, number], generator)
            for number, (name, tiles) in enumerate(self.tiles.items())
        }
        shuffled = generator.permutation(count)
        return {name: values[shuffled] for name, values in codes.items()}

    def _starts(self) -> NDArray[np.int64]:
        """Where each column's tiles begin, of all side by side."""
        return np.cumsum([0, *(tiles.dimension for tiles in self.tiles.values())])[:-1]

    def _holding_its_own(self, splits: tuple[Split, ...]) -> Self:
        """The mixture with the tables that its components make, of everyone and for each of `splits`."""
        table = np.concatenate(list(self.tables.values()), axis=1).astype(np.float32)
        share = (self.weights / self.weights.sum()).astype(np.float32)
        made = []
        for split in splits:
            joined = np.zeros((len(table), split.wanted.shape[1]), dtype=np.float32)
            np.add.at(joined.T, split.place_of[split.place_of >= 0], table.T[split.place_of >= 0])
            start = int(self._starts()[split.label])
            of_label = table[:, start : start + len(split.class_of)]
            classes = [share * of_label[:, split.class_of == each].sum(axis=1) for each in range(len(split.wanted))]
            made.append(replace(split, wanted=np.stack([joined.T @ (each[:, None] * joined) for each in classes])))
        return replace(self, pairs=table.T @ (share[:, None] * table), splits=tuple(made))

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
            held = by_tile[tiles.table]
            within[name] = np.where(held > 0, inner / np.where(held > 0, held, 1.0), self.within[name])
        kept = weights > 0
        met_by = float(weights.sum() / self.weights.sum())
        if not kept.any():
            return 0.0, self
        tables = {name: table[kept] / table[kept].sum(axis=1, keepdims=True) for name, table in tables.items()}
        met = type(self)(weights[kept] / weights.sum(), self.tiles, tables, within)
        return met_by, met if self.pairs is None else met._holding_its_own(self.splits)

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
        for number, split in enumerate(self.splits):
            arrays[f"split.{number}.class_of"] = split.class_of
            arrays[f"split.{number}.place_of"] = split.place_of
            arrays[f"split.{number}.wanted"] = split.wanted
            arrays[f"split.{number}.held"] = split.held.astype(np.uint8)
        return {"columns": names, "splits": [split.label for split in self.splits]}, arrays

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
        sizes = [each.dimension for each in tiles.values()]
        labels = wholes(facts, "splits", 0, len(sizes) - 1) if "splits" in facts else ()
        splits = tuple(_split(arrays, number, label, sizes) for number, label in enumerate(labels))
        return cls(weights, tiles, tables, within, pairs, splits)

    def fits(self, levels: Sequence[Levels]) -> bool:
        known = stored.same_columns(self.tiles, levels)
        return known and all(len(self.tiles[each.name].tile_of) == each.size for each in levels)


def _split(arrays: Mapping[str, NDArray[Any]], number: int, label: int, sizes: Sequence[int]) -> Split:
    """Pair tables by class from a file. Compiled code looks places up in them, so every one must be there."""
    class_of, place_of, wanted, held = (
        arrays[f"split.{number}.{part}"] for part in ("class_of", "place_of", "wanted", "held")
    )
    if wanted.dtype != np.float32 or wanted.ndim != 3 or wanted.shape[1] != wanted.shape[2]:
        raise ValueError("the pair tables by class do not fit")
    for places, size, least, most in (
        (class_of, sizes[label], 0, wanted.shape[0]),
        (place_of, sum(sizes), -1, wanted.shape[1]),
    ):
        if places.dtype != np.int32 or places.shape != (size,) or places.min() < least or places.max() >= most:
            raise ValueError("the pair tables by class do not fit")
    starts = np.cumsum([0, *sizes])[:-1]
    absent = np.minimum.reduceat(place_of, starts) < 0
    if held.dtype != np.uint8 or held.shape != (len(sizes),) * 2 or held[absent].any() or held[:, absent].any():
        raise ValueError("columns that are held must be in the tables")
    if held.diagonal().any() or (place_of[starts[label] : starts[label] + sizes[label]] >= 0).any():
        raise ValueError("a column is held with itself")
    return Split(label, class_of, place_of, wanted, held.astype(np.bool_))
