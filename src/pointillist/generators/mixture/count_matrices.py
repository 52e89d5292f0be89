"""Count matrices: a release as matrices that a mixture is held against, and what is taken over from it directly."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.fitting.denoising import project_to_simplex
from pointillist.fitting.evidence import Evidence, Table
from pointillist.generators.held_tables import HeldClique, HeldTables, PairsByClass
from pointillist.generators.mixture.clique import Clique
from pointillist.generators.mixture.interaction import fit_pairs, ties, with_interaction
from pointillist.generators.mixture.layer import Histogram, Histograms, Layer
from pointillist.generators.mixture.score_layer import ScoreLayer
from pointillist.generators.mixture.table_correction import corrected
from pointillist.generators.mixture.trend_fit import Tilt, tilted

Floats = NDArray[np.float64]
Single = NDArray[np.float32]

_WAVES = 8.0
"""Along an ordered column, waves up to this many half-turns cost no more than others of their height."""
_RAKES = 20
"""How often components are scaled to meet a marginal: far more than it takes."""
_ALIKE = 1e-9
"""Directions in which readings say so much less than in others that they count as nothing."""
_LEAST = 1e-12
"""What stands for no probability in logarithms."""


class Problem:
    """The evidence as matrices: wanted shares and their precision, for columns, pairs, pairs by class, cliques."""

    def __init__(self, evidence: Evidence, base: dict[str, Tiles], within: Mapping[str, Floats] | None = None):
        """`within` is the share of each level inside its tile, where there are scores."""
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
        self.cliques: list[Clique] = []
        self.cells = 0
        cliques = {id(table) for table in evidence.cliques}
        for table in evidence.tables:
            self._take(table, evidence.rows, clique=id(table) in cliques)
        for layer in self.layers:
            layer.finish(self.base, self.places, self.size)
        self.histograms = Histograms(self.singles)
        self.scores = (
            ScoreLayer(evidence.scores, evidence.rows, base, self.places, within)
            if evidence.scores and within
            else None
        )
        self.cells += 0 if self.scores is None else self.scores.cells
        scores = () if self.scores is None else (self.scores,)
        self.measured: tuple[Layer | Clique | ScoreLayer, ...] = (*self.layers, *self.cliques, *scores)

    def slopes(self, weights: Single, table: Single) -> tuple[float, Single, Single]:
        """chi^2 of a mixture, and the slopes of half of it in weights and in probabilities."""
        chi_squared, to_mean = self.histograms.push(weights @ table)
        to_weights, to_table = table @ to_mean, np.outer(weights, to_mean)
        for each in self.measured:
            chi_squared += each.add_slopes(weights, table, to_weights, to_table)
        return chi_squared, to_weights, to_table

    def press(self, weights: Single, table: Single) -> None:
        """Press harder on tables of two columns that a mixture is too far from."""
        for layer in self.layers:
            layer.press(weights, table)

    def _take(self, table: Table, rows: float, *, clique: bool) -> None:
        values, precision = table.values / rows, (rows / table.sigma) ** 2
        if len(table.leaves) == 1:
            single = Histogram(table.leaves[0], self.base, self.places, values, precision)
            self.singles.append(single)
            self.cells += len(single.wanted)
            return
        self.cells += values.size
        if clique:
            self.cliques.append(Clique(table.leaves, self.base, self.places, values, precision))
            return
        label = table.leaves[0] if len(table.leaves) == 3 else None
        first, second = table.leaves[-2:]
        layer = next((each for each in self.layers if each.takes(label, first, second)), None)
        if layer is None:
            layer = Layer(label)
            self.layers.append(layer)
        layer.put(first, second, values if label is not None else values[None], precision)

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
        layers: list[Layer | ScoreLayer] = [*self.layers, *([] if self.scores is None else [self.scores])]
        cells = sum(layer.cells for layer in layers)
        seen = sum(layer.distance(marginal) for layer in layers) / max(cells, 1)
        return int(np.clip(120 * np.sqrt(max(seen - 1, 0.0)), 80, 500) // 10 * 10)

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
        """A column's marginal: the model's, corrected where histograms and tables together disagree with it.

        Together: the least squares of all readings, each over its own tiles and by its precision.
        """
        size = len(modelled)
        weighed, precision = np.zeros(size), np.zeros((size, size))
        for part, values, exact in self._readings(name):
            joins = np.eye(len(values))[part]
            weighed += joins @ (exact * values)
            precision += (joins * exact) @ joins.T
        known = precision.diagonal() > 0
        if not known.any():
            return modelled
        gap = np.linalg.lstsq(precision, weighed - precision @ modelled, rcond=_ALIKE)[0]
        seen, free = float(gap @ precision @ gap), size - 1
        possible = np.where(modelled > 0, modelled + _shrink(seen, free) * gap, 0.0)
        return project_to_simplex(possible) if (possible < 0).any() else possible / possible.sum()

    def _readings(self, name: str) -> Iterator[tuple[NDArray[np.int64], Floats, Floats]]:
        """All that was measured of a column: for each of its tiles its place, and the values and precisions of places."""
        for single in self.singles:
            if single.column == name:
                yield single.part, single.wanted.astype(np.float64), single.precision.astype(np.float64)
        for layer in self.layers:
            if name in layer.spots:
                part = layer.sums[self.places[name], layer.spots[name]].argmax(axis=1)
                for summed, exact in layer.one_ways(name):
                    yield part, summed, np.full(len(summed), exact)

    def held(self, weights: Floats, table: Floats, tilts: Sequence[Tilt] = ()) -> HeldTables | None:
        """What samples of the mixture are to hold; none where no pairs were measured in a way that can be held."""
        pairs = self._pairs(weights, table, tilts)
        by_class = self._by_class(weights, table, pairs)
        sizes = tuple(tiles.dimension for tiles in self.base.values())
        return None if pairs is None and not by_class else HeldTables(sizes, pairs, by_class, linked=self._linked())

    def held_cliques(self, held: HeldTables) -> tuple[HeldClique, ...]:
        """Tables of three columns and more that show more than noise beyond the pairs that are held.

        What they show beyond is measured, without what the noise explains of it.
        """
        names, found = list(self.places), []
        for clique in self.cliques:
            if held.pairs is None:
                break  # rows will stay as they are drawn
            wanted = with_interaction(clique.pairs_in(held.pairs), clique.wanted, clique.precision)
            if wanted is not None:
                numbers = tuple(names.index(name) for name in clique.columns)
                found.append(HeldClique(numbers, tuple(clique.place_of), wanted.astype(np.float32)))
        return tuple(found)

    def _linked(self) -> NDArray[np.bool_] | None:
        """Which pairs of columns the evidence speaks about; none where it does about all of them, as a screen does."""
        if self.scores is not None:
            return None
        names = list(self.places)
        found = np.eye(len(names), dtype=np.bool_)
        for layer in self.layers:
            numbers, starts = [names.index(name) for name in layer.spots], [at.start for at in layer.spots.values()]
            found[np.ix_(numbers, numbers)] |= layer.precision[np.ix_(starts, starts)] > 0
            if layer.label is not None:
                found[numbers, names.index(layer.label.column)] = found[names.index(layer.label.column), numbers] = True
        return None if found.all() else found

    def _pairs(self, weights: Floats, table: Floats, tilts: Sequence[Tilt]) -> Single | None:
        """All pair tables: the mixture's with the trends, corrected where measured tables show more than the noise explains.

        With much noise the mixture has its way, with little the measurement has. None where no pairs were measured.
        """
        plain = [each for each in self.layers if each.label is None]
        if not plain and self.scores is None:
            return None
        made = table.T @ (weights[:, None] * table)
        found = tilted(made, self.starts, tilts)
        for layer in plain:
            for (first, one), (second, other) in itertools.combinations(layer.spots.items(), 2):
                precision = float(layer.precision[one.start, other.start])
                if precision == 0:
                    continue
                rows, columns = self.places[first], self.places[second]
                down, across, measured = layer.sums[rows, one], layer.sums[columns, other], layer.wanted[0, one, other]
                modelled, untilted = (down.T @ each[rows, columns] @ across for each in (found, made))
                if np.square(modelled - measured).sum() > np.square(untilted - measured).sum():
                    found[rows, columns], modelled = made[rows, columns], untilted  # a trend mends one number alone
                better = corrected(modelled, measured, precision)
                # Inside a tile of the table, the mixture's own tiles keep the shares that the mixture gives them.
                factor = np.where(modelled > 0, better / np.where(modelled > 0, modelled, 1.0), 0.0)
                found[rows, columns] *= down @ factor @ across.T
                found[columns, rows] = found[rows, columns].T
        return found.astype(np.float32)

    def _by_class(self, weights: Floats, table: Floats, pairs: Single | None) -> tuple[PairsByClass, ...]:
        """Pair tables by class, for each label: the mixture's, corrected in the same way, and in agreement with all pairs.

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
                    own = np.stack(
                        [
                            corrected(modelled, each, precision)
                            for modelled, each in zip(wanted[:, rows, columns], measured, strict=True)
                        ]
                    )
                    if pairs is not None:
                        own = fit_pairs(own, self._sides(layer, pairs, first, second))
                    wanted[:, rows, columns], wanted[:, columns, rows] = own, own.transpose(0, 2, 1)
            if held.any():
                place_of = np.where(layer.sums.any(axis=1), layer.sums.argmax(axis=1), -1).astype(np.int32)
                class_of = layer.classes.argmax(axis=1).astype(np.int32)
                label = names.index(layer.label.column)
                found.append(PairsByClass(label, class_of, place_of, wanted.astype(np.float32), held))
        return tuple(found)

    def _sides(self, layer: Layer, pairs: Single, first: str, second: str) -> dict[tuple[int, int], Floats]:
        """What all pairs say about every two sides of a table by class."""
        assert layer.label is not None
        assert layer.classes is not None
        sides = [
            (self.places[layer.label.column], layer.classes),
            *((self.places[name], layer.sums[self.places[name], layer.spots[name]]) for name in (first, second)),
        ]
        return {
            (one, other): (sides[one][1].T @ pairs[sides[one][0], sides[other][0]] @ sides[other][1]).astype(np.float64)
            for one, other in itertools.combinations(range(3), 2)
        }


def _shrink(seen: float, free: int) -> float:
    """What part of a gap with this chi^2 is more than noise; none where chance might have made it."""
    return 1 - free / seen if seen > free + 2 * np.sqrt(2 * free) else 0.0
