"""Count matrices: a release as matrices that a mixture is held against, and what is taken over from it directly."""

import itertools
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.fitting.denoising import project_to_simplex
from pointillist.fitting.evidence import Evidence, Table
from pointillist.generators.held_tables import HeldTables, PairsByClass
from pointillist.generators.mixture.interaction import ties
from pointillist.generators.mixture.layer import Histogram, Layer

Floats = NDArray[np.float64]
Single = NDArray[np.float32]

_WAVES = 8.0
"""Along an ordered column, waves up to this many half-turns cost no more than others of their height."""
_RAKES = 20
"""How often components are scaled to meet a marginal: far more than it takes."""
_LEAST = 1e-12
"""What stands for no probability in logarithms."""


class Problem:
    """The evidence as matrices: wanted shares and their precision, for single columns, for pairs, for pairs by class."""

    def __init__(self, evidence: Evidence, base: dict[str, Tiles]):
        ends = np.cumsum([tiles.dimension for tiles in base.values()])
        self.base = base
        self.places = {
            name: slice(int(end) - tiles.dimension, int(end))
            for (name, tiles), end in zip(base.items(), ends, strict=True)
        }
        self.size = int(ends[-1])
        self.starts = np.array([place.start for place in self.places.values()])
        self.singles: list[Histogram] = []
        self.layers: list[Layer] = []
        self.cells = 0
        for table in evidence.tables:
            self._take(table, evidence.rows)
        for layer in self.layers:
            layer.finish(self.base, self.places, self.size)

    def _take(self, table: Table, rows: float) -> None:
        values, precision = table.values / rows, (rows / table.sigma) ** 2
        if len(table.leaves) == 1:
            single = Histogram(table.leaves[0], self.base, self.places, values, precision)
            self.singles.append(single)
            self.cells += len(single.wanted)
            return
        if len(table.leaves) > 3:
            raise ValueError("the mixture fits tables of one, two or three columns")
        label = table.leaves[0] if len(table.leaves) == 3 else None
        first, second = table.leaves[-2:]
        layer = next((each for each in self.layers if each.takes(label, first, second)), None)
        if layer is None:
            layer = Layer(label)
            self.layers.append(layer)
        layer.put(first, second, values if label is not None else values[None], precision)
        self.cells += values.size

    def bends(self, runs: Mapping[str, int], marginal: Floats) -> Single:
        """For every three neighbouring tiles how much a bend of the log-ratio costs there; 0 where they are not three
        neighbours of an ordered column. A wave of `_WAVES` half-turns costs as much as its height alone."""
        found = np.zeros(max(self.size - 2, 0), dtype=np.float32)
        for name, count in runs.items():
            start = self.places[name].start
            if count >= 3:
                cost = (count / (np.pi * _WAVES)) ** 4
                found[start : start + count - 2] = cost * marginal[start + 1 : start + count - 1]
        return found

    def components(self, marginal: Floats) -> int:
        """As many components as the structure calls for that is visible beside the noise."""
        seen = sum(layer.distance(marginal) for layer in self.layers) / sum(layer.cells for layer in self.layers)
        return int(np.clip(60 * np.sqrt(max(seen - 1, 0.0)), 40, 500) // 10 * 10)

    def rake(self, weights: Floats, table: Floats) -> Floats:
        """The mixture with each column's marginal moved to what all tables together say of it."""
        table = table.copy()
        for name, place in self.places.items():
            part = table[:, place]
            part /= part.sum(axis=1, keepdims=True)
            wanted = np.maximum(
                self._one_way(name, weights @ part), _LEAST
            )  # a component may have nothing but this tile
            for _ in range(_RAKES):
                mean = weights @ part
                part *= np.where(mean > 0, wanted / np.where(mean > 0, mean, 1.0), 1.0)
                part /= part.sum(axis=1, keepdims=True)
        return table

    def _one_way(self, name: str, modelled: Floats) -> Floats:
        """A column's marginal: the model's, corrected where histograms and pairs together disagree with it."""
        values, precision = np.zeros_like(modelled), np.zeros_like(modelled)
        for single in self.singles:
            if single.column == name and len(single.wanted) == len(modelled):
                values += (single.precision * single.wanted)[single.part]
                precision += single.precision[single.part]
        for layer in self.layers:
            for summed, exact in layer.one_ways(name) if layer.same else ():
                values += exact * summed
                precision += exact
        if not precision.any():
            return modelled
        gap = values / precision - modelled
        possible = np.where(modelled > 0, modelled + _shrink(gap, precision, len(gap) - 1) * gap, 0.0)
        return project_to_simplex(possible) if (possible < 0).any() else possible / possible.sum()

    def held(self, weights: Floats, table: Floats) -> HeldTables | None:
        """What samples of the mixture are to hold; none where no pairs were measured in a way that can be held."""
        pairs, by_class = self._pairs(weights, table), self._by_class(weights, table)
        sizes = tuple(tiles.dimension for tiles in self.base.values())
        return None if pairs is None and not by_class else HeldTables(sizes, pairs, by_class)

    def _pairs(self, weights: Floats, table: Floats) -> Single | None:
        """All pair tables: the mixture's, corrected where measured tables show more than the noise explains.

        Each table's correction is shrunk by how much of it the noise explains (James and Stein): with much noise the
        mixture has its way, with little the measurement has. None where no table was measured over the mixture's tiles.
        """
        layer = next((each for each in self.layers if each.same and each.label is None), None)
        if layer is None:
            return None
        found = table.T @ (weights[:, None] * table)
        for rows, columns in itertools.combinations(self.places.values(), 2):
            precision = float(layer.precision[rows.start, columns.start])
            if precision == 0:
                continue
            found[rows, columns] = _corrected(found[rows, columns], layer.wanted[0, rows, columns], precision)
            found[columns, rows] = found[rows, columns].T
        return found.astype(np.float32)

    def _by_class(self, weights: Floats, table: Floats) -> tuple[PairsByClass, ...]:
        """Pair tables by class, for each label: the mixture's, corrected in the same way.

        Held are the pairs that the classes tell apart, by more than noise, beyond what pairs of columns say already.
        """
        names, found = list(self.places), []
        for layer in self.layers:
            if layer.label is None or layer.classes is None:
                continue
            joined, of_class = table @ layer.sums, table[:, layer.place] @ layer.classes
            wanted = np.stack([joined.T @ ((weights * each)[:, None] * joined) for each in of_class.T])
            held = np.zeros((len(names), len(names)), dtype=np.bool_)
            for (first, rows), (second, columns) in itertools.combinations(layer.spots.items(), 2):
                precision, measured = float(layer.precision[rows.start, columns.start]), layer.wanted[:, rows, columns]
                if precision and ties(wanted[:, rows, columns], measured, precision):
                    held[names.index(first), names.index(second)] = held[names.index(second), names.index(first)] = True
                    for number, each in enumerate(measured):
                        wanted[number, rows, columns] = _corrected(wanted[number, rows, columns], each, precision)
                        wanted[number, columns, rows] = wanted[number, rows, columns].T
            if held.any():
                place_of = np.where(layer.sums.any(axis=1), layer.sums.argmax(axis=1), -1).astype(np.int32)
                class_of = layer.classes.argmax(axis=1).astype(np.int32)
                label = names.index(layer.label.column)
                found.append(PairsByClass(label, class_of, place_of, wanted.astype(np.float32), held))
        return tuple(found)


def _corrected(modelled: Floats, measured: Single, precision: float) -> Floats:
    """A pair table, moved towards its measurement by as much of their gap as is more than noise."""
    gap = _centred(measured - modelled)
    free = (gap.shape[0] - 1) * (gap.shape[1] - 1)
    return np.maximum(modelled + _shrink(gap, np.full_like(gap, precision), free) * gap, 0.0)


def _shrink(gap: Floats, precision: Floats, free: int) -> float:
    """What part of a gap is more than noise; none where chance might have made it."""
    seen = float(np.sum(precision * gap * gap))
    return 1 - free / seen if seen > free + 2 * np.sqrt(2 * free) else 0.0


def _centred(gap: Floats) -> Floats:
    """A gap between two tables with the same marginals: what rows and columns add up to is noise."""
    return gap - gap.mean(axis=0) - gap.mean(axis=1, keepdims=True) + gap.mean()
