"""Drawing: numbers of components, tiles and levels by their probabilities."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles

Floats = NDArray[np.float64]


def quota(weights: Floats, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Components by systematic sampling: each gets its share of rows to within one, instead of by chance."""
    points = (np.arange(count) + generator.random()) / max(count, 1)
    return np.minimum(np.searchsorted(np.cumsum(weights / weights.sum()), points), len(weights) - 1)


def draw(
    table: Floats, row: NDArray[np.integer[Any]], generator: np.random.Generator, order: Floats | None = None
) -> NDArray[np.int64]:
    """One column number for each entry of `row`, by the probabilities in that row of the table.

    Entries with the same row share its columns out evenly, each to within one of its share, instead of by chance: the
    first columns go to those that come first by `order`, or to any where there is none.
    """
    cumulative = np.cumsum(table, axis=1)
    cumulative = cumulative / cumulative[:, -1:]
    # All rows at once: row r's distribution function occupies (r, r + 1].
    flat = (cumulative + np.arange(len(table))[:, None]).ravel()
    places = np.searchsorted(flat, row + _strata(row, len(table), generator, order), side="right")
    return np.clip(places - row.astype(np.int64) * table.shape[1], 0, table.shape[1] - 1)


def _strata(
    group: NDArray[np.integer[Any]], groups: int, generator: np.random.Generator, order: Floats | None
) -> Floats:
    """A number in [0, 1) for each entry, evenly spread within its group, in a given order or in random order."""
    inside = np.argsort(generator.random(len(group))) if order is None else np.argsort(order, kind="stable")
    places = inside[grouped(group[inside])]
    sizes = np.bincount(group, minlength=groups)
    rank = np.empty(len(group))
    rank[places] = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return (rank + generator.random(groups)[group]) / np.maximum(sizes, 1)[group]


def grouped(numbers: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """An order in which equal numbers stand together, as they stood before among each other; small numbers are quick."""
    small = len(numbers) and numbers.min() >= 0 and numbers.max() < 2**16
    return np.argsort(numbers.astype(np.uint16) if small else numbers, kind="stable")


def even(tiles: Tiles) -> Floats:
    """The probability of every level inside its tile, where nothing tells the levels of a tile apart."""
    return np.asarray(1.0 / np.bincount(tiles.table)[tiles.table])


def draw_levels(
    tiles: Tiles,
    within: Floats,
    tile: NDArray[np.integer[Any]],
    generator: np.random.Generator,
    order: Floats | None = None,
) -> NDArray[np.uint16]:
    """One level for each tile number, by the levels' probabilities within their tile; the lowest come first in `order`."""
    inside = np.zeros((tiles.dimension, len(tiles.table)))
    inside[tiles.table, np.arange(len(tiles.table))] = within
    return draw(inside, tile, generator, order).astype(np.uint16)
