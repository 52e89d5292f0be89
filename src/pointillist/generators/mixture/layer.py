"""Layer: tables that a release measured as matrices over tiles. Pairs of columns, or histograms of one."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.features.indicator import aggregation
from pointillist.fitting.evidence import joint_tiles

Floats = NDArray[np.float64]
Single = NDArray[np.float32]


class Histogram:
    """What one histogram says about a column's tiles, or about unions of them where its own tiles are coarser."""

    def __init__(self, leaf: Tiles, base: dict[str, Tiles], places: dict[str, slice], values: Floats, precision: float):
        tiles = base[leaf.column]
        of_leaf, of_base = joint_tiles(leaf, tiles)
        self.column, self.place, self.part = leaf.column, places[leaf.column], of_base
        counted = np.bincount(of_leaf)  # a union of k tiles of the histogram has k times the variance
        self.wanted = np.bincount(of_leaf, weights=values).astype(np.float32)
        self.precision = (precision / counted).astype(np.float32)

    def residual(self, mean: Single) -> Single:
        return (
            np.bincount(self.part, weights=mean[self.place], minlength=len(self.wanted)).astype(np.float32)
            - self.wanted
        )


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
        shared = set.intersection(*(set(pair) for pair in self.tables)) if len(self.tables) > 1 else set[str]()
        self.hub = self.spots[min(shared)] if shared else None
        self.tables.clear()
        # The 0/1 matrix that adds tiles of the base up to those of the layer.
        self.sums = np.zeros((size, sum(sizes)), dtype=np.float32)
        for name, tiles in self.tiles.items():
            self.sums[places[name], self.spots[name]] = aggregation(base[name], tiles)
        self.same = self.sums.shape == (size, size) and bool((self.sums == np.eye(size)).all())
        self.classes = (
            None if self.label is None else aggregation(base[self.label.column], self.label).astype(np.float32)
        )
        self.place = None if self.label is None else places[self.label.column]

    def join(self, table: Single) -> Single:
        """From probabilities of base tiles to those of the layer's."""
        return table if self.same else table @ self.sums

    def spread(self, slope: Single) -> Single:
        """From a slope in the layer's tiles to one in base tiles."""
        return slope if self.same else slope @ self.sums.T

    def push(self, joined: Single, share: Single, wanted: Single) -> tuple[float, Single]:
        """chi^2 of one class, and how far it pushes every component's probabilities, by the component's share.

        Where all tables have a column in common (the target, when only pairs with it were measured), only that column's
        rows of the matrix are worked out: the rest was not measured.
        """
        if self.hub is None:
            gap = joined.T @ (share[:, None] * joined) - wanted
            tension = self.precision * gap
            return 0.5 * float(np.vdot(tension, gap)), joined @ tension
        middle = joined[:, self.hub]
        gap = middle.T @ (share[:, None] * joined) - wanted[self.hub]
        tension = self.precision[self.hub] * gap
        pushed = middle @ tension
        pushed[:, self.hub] = joined @ tension.T
        return float(np.vdot(tension, gap)), pushed

    def one_ways(self, name: str) -> Iterator[tuple[Floats, float]]:
        """What pair tables of everyone add up to for a column, and how precise that is."""
        place = self.spots[name]
        for other, start in self.spots.items() if self.label is None else ():
            precision = float(self.precision[place.start, start.start])
            if precision > 0 and other != name:
                yield (
                    self.wanted[0, place, start].sum(axis=1).astype(np.float64),
                    precision / (start.stop - start.start),
                )

    def distance(self, marginal: Floats) -> float:
        """chi^2 of independent columns."""
        table = marginal.astype(np.float32)[None, :]
        shares = np.ones(1) if self.classes is None else (table[:, self.place] @ self.classes)[0]
        joined = self.join(table)[0]
        gap = shares[:, None, None] * np.outer(joined, joined) - self.wanted
        return 0.5 * float(np.sum(self.precision * gap * gap))
