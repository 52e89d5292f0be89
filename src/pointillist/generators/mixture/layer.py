"""Layer: tables that a release measured as matrices over tiles. Pairs of columns, or histograms of one."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.features.indicator import aggregation
from pointillist.fitting.evidence import joint_tiles
from pointillist.generators.mixture.measured_cells import MeasuredCells
from pointillist.generators.mixture.tile_sums import TileSums

Floats = NDArray[np.float64]
Single = NDArray[np.float32]

_FEW = 0.1
"""Where fewer cells than this part of a matrix were measured, they are worked out one by one."""


_BEYOND = 4.0
"""Standard deviations of chi^2 above its mean that a table may be off."""
_AT_ONCE, _MOST_PRESSURE = 2**0.5, 30.0
"""By which factor the pressure on a table changes at most at a time, and how large it can become."""


class Histogram:
    """What one histogram says about a column's tiles, or about unions of them where its own tiles are coarser."""

    def __init__(self, leaf: Tiles, base: dict[str, Tiles], places: dict[str, slice], values: Floats, precision: float):
        tiles = base[leaf.column]
        of_leaf, of_base = joint_tiles(leaf, tiles)
        self.column, self.place, self.part = leaf.column, places[leaf.column], of_base
        counted = np.bincount(of_leaf)  # a union of k tiles of the histogram has k times the variance
        self.wanted = np.bincount(of_leaf, weights=values).astype(np.float32)
        self.precision = (precision / counted).astype(np.float32)


class Histograms:
    """All histograms together: what they say about the tiles of all columns, in one go."""

    def __init__(self, singles: Sequence[Histogram]):
        self.tiles = _joined([np.arange(each.place.start, each.place.stop) for each in singles], np.int64)
        sizes = np.cumsum([0, *(len(each.wanted) for each in singles)])
        self.parts = _joined([each.part + size for each, size in zip(singles, sizes, strict=False)], np.int64)
        self.wanted = _joined([each.wanted for each in singles], np.float32)
        self.precision = _joined([each.precision for each in singles], np.float32)

    def push(self, mean: Single) -> tuple[float, Single]:
        """chi^2 of a mixture's marginals, and how far it pushes each of them."""
        residual = np.bincount(self.parts, mean[self.tiles], len(self.wanted)) - self.wanted
        force = self.precision * residual
        return float(force @ residual), np.bincount(self.tiles, force[self.parts], len(mean)).astype(np.float32)


def _joined(arrays: list[NDArray[Any]], dtype: type) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *arrays]).astype(dtype)


class Layer:
    """Pair tables over one tiling of each column: of everyone, or of each class of a label."""

    def __init__(self, label: Tiles | None):
        self.label = label
        self.tiles: dict[str, Tiles] = {}
        self.tables: dict[tuple[str, str], tuple[Floats, float]] = {}
        self.cells = 0

    def takes(self, label: Tiles | None, *leaves: Tiles) -> bool:
        """Whether a table over these tiles has a place here."""
        return (
            self.label == label
            and all(self.tiles.get(leaf.column, leaf) == leaf for leaf in leaves)
            and tuple(leaf.column for leaf in leaves) not in self.tables
        )

    def put(self, first: Tiles, second: Tiles, values: Floats, precision: float) -> None:
        """Take a table in: classes x tiles x tiles."""
        self.tiles |= {first.column: first, second.column: second}
        self.tables[first.column, second.column] = values, precision
        self.cells += values.size

    def finish(self, base: dict[str, Tiles], places: dict[str, slice], size: int) -> None:
        """From tables to matrices over all tiles of the layer."""
        sizes = [tiles.dimension for tiles in self.tiles.values()]
        ends = np.cumsum(sizes).tolist()
        self.spots = {name: slice(end - size, end) for name, size, end in zip(self.tiles, sizes, ends, strict=True)}
        classes = 1 if self.label is None else self.label.dimension
        self.wanted = np.zeros((classes, sum(sizes), sum(sizes)), dtype=np.float32)
        self.precision = np.zeros((sum(sizes), sum(sizes)), dtype=np.float32)
        for (first, second), (values, precision) in self.tables.items():
            rows, columns = self.spots[first], self.spots[second]
            self.wanted[:, rows, columns], self.wanted[:, columns, rows] = values, values.transpose(0, 2, 1)
            self.precision[rows, columns] = self.precision[columns, rows] = precision
        few = np.count_nonzero(self.precision) < _FEW * self.precision.size
        self.few = MeasuredCells(self.precision) if few else None
        self.tables.clear()
        self.pressure = np.ones((len(sizes),) * 2)
        self.force = self.precision
        # The 0/1 matrix that adds tiles of the base up to those of the layer.
        self.sums = np.zeros((size, sum(sizes)), dtype=np.float32)
        for name, tiles in self.tiles.items():
            self.sums[places[name], self.spots[name]] = aggregation(base[name], tiles)
        self.tile_sums = TileSums(self.sums)
        self.same = self.sums.shape == (size, size) and bool((self.sums == np.eye(size)).all())
        self.classes = (
            None if self.label is None else aggregation(base[self.label.column], self.label).astype(np.float32)
        )
        self.place = None if self.label is None else places[self.label.column]

    def join(self, table: Single) -> Single:
        """From probabilities of base tiles to those of the layer's."""
        return table if self.same else self.tile_sums.of(table)

    def add_slopes(self, weights: Single, table: Single, to_weights: Single, to_table: Single) -> float:
        """chi^2 of a mixture; the slopes of half of it are added to those that are there."""
        joined = self.join(table)
        to_joined = to_table if self.same else np.zeros_like(joined)
        by_class = None if self.classes is None else table[:, self.place] @ self.classes
        chi_squared = 0.0
        for number, wanted in enumerate(self.wanted):
            share = weights if by_class is None else weights * by_class[:, number]
            distance, pushed = self.push(joined, share, wanted)
            chi_squared += distance
            to_share = 0.5 * np.einsum("kt,kt->k", pushed, joined)
            pushed *= share[:, None]
            to_joined += pushed
            if by_class is None or self.classes is None:
                to_weights += to_share
            else:
                to_weights += to_share * by_class[:, number]
                to_table[:, self.place] += np.outer(to_share * weights, self.classes[:, number])
        if not self.same:
            self.tile_sums.add_back(to_joined, to_table)
        return chi_squared

    def push(self, joined: Single, share: Single, wanted: Single) -> tuple[float, Single]:
        """chi^2 of one class, and how far it pushes every component's probabilities, by the component's share."""
        if self.few is not None:
            return self.few.push(joined, share, wanted)
        root = np.sqrt(share)[:, None] * joined
        gap: Single = root.T @ root  # numpy sees that it is symmetric, and does half the work
        gap -= wanted
        distance = 0.5 * float(np.vdot(self.precision * gap, gap))
        gap *= self.force
        return distance, joined @ gap

    def press(self, weights: Single, table: Single) -> None:
        """Press harder on tables that are farther off than noise explains, and less on those that are not, down to 1.

        All tables share one pull, so without this a few of strong columns would stay far off while all together are not.
        """
        starts = np.array([spot.start for spot in self.spots.values()])
        sizes = np.diff(np.append(starts, len(self.precision)))
        joined = self.join(table)
        by_class = None if self.classes is None else table[:, self.place] @ self.classes
        seen = np.zeros_like(self.pressure)
        for number, wanted in enumerate(self.wanted):
            share = weights if by_class is None else weights * by_class[:, number]
            seen += self._distances(joined, share, wanted, starts)
        free = np.outer(sizes, sizes) * len(self.wanted)
        measured = self.precision[np.ix_(starts, starts)] > 0
        off = np.where(measured, seen / (free + _BEYOND * np.sqrt(2 * free)), 1.0)
        self.pressure = np.clip(self.pressure * np.clip(off, 1 / _AT_ONCE, _AT_ONCE), 1.0, _MOST_PRESSURE)
        if self.few is not None:
            self.few.press(self.pressure, starts)
        else:
            self.force = self.precision * np.repeat(np.repeat(self.pressure, sizes, axis=0), sizes, axis=1)
            self.force = self.force.astype(np.float32)

    def _distances(self, joined: Single, share: Single, wanted: Single, starts: NDArray[np.int64]) -> Floats:
        """chi^2 of every pair of columns, in one class."""
        if self.few is not None:
            return self.few.distances(joined, share, wanted, starts)
        gap = joined.T @ (share[:, None] * joined) - wanted
        squares = self.precision * gap * gap
        return np.add.reduceat(np.add.reduceat(squares, starts, axis=0, dtype=np.float64), starts, axis=1)

    def one_ways(self, name: str) -> Iterator[tuple[Floats, float]]:
        """What tables add up to for a column, and how precise that is."""
        place = self.spots[name]
        for other, start in self.spots.items():
            precision = float(self.precision[place.start, start.start])
            if precision > 0 and other != name:
                added = self.wanted[:, place, start].sum(axis=(0, 2), dtype=np.float64)
                yield added, precision / (len(self.wanted) * (start.stop - start.start))

    def distance(self, marginal: Floats) -> float:
        """chi^2 of independent columns."""
        table = marginal.astype(np.float32)[None, :]
        shares = np.ones(1) if self.classes is None else (table[:, self.place] @ self.classes)[0]
        joined = self.join(table)[0]
        gap = shares[:, None, None] * np.outer(joined, joined) - self.wanted
        return 0.5 * float(np.sum(self.precision * gap * gap))
