"""Stored: what arrays of a model file must be before a generator is made of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]
Arrays = Mapping[str, NDArray[Any]]

_CLOSE = 1e-3
"""Tables are stored in 32 bits, and their rows then add up to 1 to within far less than this."""


def floats(arrays: Arrays, name: str, dimensions: int) -> Floats:
    """An array of fractions, of so many dimensions."""
    found = arrays[name]
    if found.dtype.kind != "f" or found.ndim != dimensions:
        raise ValueError(f"{name} must be fractions in {dimensions} dimensions")
    return found.astype(np.float64)


def weights(values: Sequence[float] | Floats) -> None:
    """Refuse what nothing can be drawn by: weights below 0, or none above it."""
    found = np.asarray(values, dtype=np.float64)
    if not (found.size and (found >= 0).all() and 0 < found.sum() < np.inf):
        raise ValueError("weights must not be negative, and not all 0")


def rows(table: Floats) -> None:
    """Refuse a table whose rows are no probabilities."""
    if not ((table >= 0).all() and np.allclose(table.sum(axis=1), 1.0, rtol=0, atol=_CLOSE)):
        raise ValueError("rows of probabilities must not be negative, and add up to 1")


def within(tiles: Tiles, shares: Floats) -> None:
    """Refuse shares of levels within their tiles that are no probabilities."""
    if shares.shape != tiles.table.shape:
        raise ValueError(f"column {tiles.column!r} needs a share for each level")
    rows(np.bincount(tiles.table, weights=shares, minlength=tiles.dimension).astype(np.float64)[:, None])
    if not (shares >= 0).all():
        raise ValueError("shares must not be negative")


def tiles_of(arrays: Arrays, name: str, column: str) -> Tiles:
    """A column's tiles."""
    found = arrays[name]
    if found.dtype != np.uint16 or found.ndim != 1:
        raise ValueError(f"{name} must be whole numbers of 16 bits")
    return Tiles(column, tuple(found.tolist()))


def same_columns(columns: Mapping[str, Any], levels: Sequence[Levels]) -> bool:
    """Whether these are the columns of the levels, whatever their order."""
    return columns.keys() == {each.name for each in levels}
