"""Fitting a mixture to tables of noisy counts.

With P the K x T matrix of tile probabilities (all columns side by side) and w the weights, all pair tables at once are
P' diag(w) P; split by a label with probabilities q_k(y), they are P' diag(w q(y)) P. So the expected value of every
measurement is a closed form, and so is the gradient.

The loss is the Gaussian log-likelihood of the release (every cell weighed by its known noise) plus a pull of every
component towards the one-way marginals: relative entropy, and bends of its log-ratio along ordered columns. The pull is
as strong as it can be while the residual chi^2 stays at what the noise alone explains: the least structured mixture that
is consistent with the release.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.features.indicator import aggregation
from pointillist.fitting.denoising import project_to_simplex
from pointillist.fitting.evidence import Evidence, Table, joint_tiles
from pointillist.generators.held_tables import HeldTables, PairsByClass
from pointillist.generators.mixture.interaction import ties
from pointillist.generators.mixture.mixture import Mixture
from pointillist.progress import Progress

Floats = NDArray[np.float64]
Single = NDArray[np.float32]
Integers = NDArray[np.int64]

_RESIDUAL = 0.96
"""What is left of chi^2 after a fit, by cell: below 1, because a fit always follows some of the noise."""
_WAVES = 8.0
"""Along an ordered column, waves up to this many half-turns cost no more than others of their height."""
_RAKES = 20
"""How often components are scaled to meet a marginal: far more than it takes."""
_LEAST = 1e-12
"""What stands for no probability in logarithms."""


def fit_mixture(
    evidence: Evidence,
    shares: dict[str, Floats],
    *,
    ordered: Mapping[str, int] | None = None,
    components: int | None,
    steps: int,
    seed: int,
    progress: Progress,
) -> Mixture:
    """The least structured mixture that is consistent with the evidence.

    Arguments:
        shares: denoised one-way marginals.
        ordered: for each ordered column how many of its levels have an order.
        components: how many; by default as many as the structure in the evidence calls for.
    """
    base = evidence.base
    totals = {name: np.bincount(tiles.table, weights=shares[name]).astype(np.float64) for name, tiles in base.items()}
    within = {name: _conditional(tiles, shares[name], totals[name]) for name, tiles in base.items()}
    if all(len(table.leaves) == 1 for table in evidence.tables):
        one = {name: total[None, :] / total.sum() for name, total in totals.items()}
        return Mixture(np.ones(1), base, one, within)
    problem = Problem(evidence, base)
    marginal = np.concatenate([total / total.sum() for total in totals.values()])
    bends = problem.bends(
        {name: base[name].tile_of[count - 1] + 1 for name, count in (ordered or {}).items()}, marginal
    )
    fitted = Fit(problem, marginal, bends, components or problem.components(marginal), seed)
    for step in range(steps):
        fitted.step(step, steps)
        progress("fit", (step + 1) / steps)
    weights, table = (each.astype(np.float64) for each in fitted.result())
    table = problem.rake(weights, table)
    tables = {name: table[:, place] for name, place in problem.places.items()}
    return Mixture(weights, base, tables, within, problem.held(weights, table))


def _conditional(tiles: Tiles, shares: Floats, totals: Floats) -> Floats:
    """The share of each level inside its tile; even where the tile has no mass."""
    sizes = np.bincount(tiles.table)
    held = totals[tiles.table]
    return np.where(held > 0, shares / np.where(held > 0, held, 1.0), 1.0 / sizes[tiles.table])


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


class Fit:
    """Adam on the logits of weights and tables."""

    def __init__(self, problem: Problem, marginal: Floats, bends: Single, components: int, seed: int):
        generator = np.random.default_rng(seed)
        self.problem, self.bends = problem, bends
        # A tile with no mass in the denoised marginal stays empty: the noise in its pairs must not revive it.
        self.held = (marginal > 0).astype(np.float32)
        self.log_marginal = np.log(np.maximum(marginal, _LEAST)).astype(np.float32)
        spread = generator.standard_normal((components, problem.size), dtype=np.float32)
        self.logits = self.log_marginal + spread * self.held
        self.weight_logits = np.zeros(components, dtype=np.float32)
        self.pull = 30.0
        self.chi_squared = np.inf
        self._moments = [np.zeros_like(x) for x in (self.logits, self.logits, self.weight_logits, self.weight_logits)]

    def result(self) -> tuple[Single, Single]:
        return _softmax(self.weight_logits, np.array([0])), _softmax(self.logits, self.problem.starts) * self.held

    def step(self, number: int, steps: int) -> None:
        """One step down the loss; then the pull moves to bring chi^2 to what a fit should leave."""
        table_slope, weight_slope = self.slopes()
        rate = 0.1 * min(1.0, (number + 1) / 10) * 0.5 * (1 + np.cos(np.pi * number / steps)) + 1e-3
        self._adam(self.logits, table_slope, self._moments[0], self._moments[1], rate, number)
        self._adam(self.weight_logits, weight_slope, self._moments[2], self._moments[3], rate, number)
        # A few per cent a step: early on chi^2 is far too large for reasons that more steps will mend, not less pull.
        wanted = _RESIDUAL * self.problem.cells
        pull = self.pull * float(np.clip(wanted / self.chi_squared, 1 / 1.2, 1.2)) ** 0.3
        least = 1.0 if 2 * number < steps else 1e-4
        self.pull = min(max(pull, least), 1e4)  # where even independence leaves too little, no pull is strong enough

    def slopes(self) -> tuple[Single, Single]:
        """The loss's gradient in the logits; sets `chi_squared` on the way."""
        problem = self.problem
        weights, table = self.result()
        mean = weights @ table
        # d(loss)/d(table) and d(loss)/d(weights), with the loss half of chi^2 plus the pull
        to_mean = np.zeros_like(mean)
        chi_squared = 0.0
        for single in problem.singles:
            residual = single.residual(mean)
            force = single.precision * residual
            chi_squared += float(force @ residual)
            to_mean[single.place] += force[single.part]
        to_table = np.outer(weights, to_mean)
        to_weights = table @ to_mean
        for layer in problem.layers:
            joined = layer.join(table)
            to_joined = np.zeros_like(joined)
            by_class = None if layer.classes is None else table[:, layer.place] @ layer.classes
            for number, wanted in enumerate(layer.wanted):
                share = weights if by_class is None else weights * by_class[:, number]
                distance, pushed = layer.push(joined, share, wanted)
                chi_squared += distance
                to_share = 0.5 * np.einsum("kt,kt->k", pushed, joined)
                pushed *= share[:, None]
                to_joined += pushed
                if by_class is None or layer.classes is None:
                    to_weights += to_share
                else:
                    to_weights += to_share * by_class[:, number]
                    to_table[:, layer.place] += np.outer(to_share * weights, layer.classes[:, number])
            to_table += layer.spread(to_joined)
        self.chi_squared = chi_squared
        strength = np.float32(self.pull * problem.cells / 1000)
        ratio = np.log(np.maximum(table, np.float32(_LEAST))) - self.log_marginal
        to_table += (strength * weights)[:, None] * (ratio + 1)
        to_weights += strength * np.einsum("kt,kt->k", table, ratio)
        to_logits = _through_softmax(table, to_table, problem.starts)
        if self.bends.any():
            raised = self.logits - self.log_marginal
            bent = raised[:, 2:] - 2 * raised[:, 1:-1] + raised[:, :-2]
            costly = self.bends * bent
            to_weights += 0.5 * strength * np.einsum("kt,kt->k", costly, bent)
            costly *= (strength * weights)[:, None]
            to_logits[:, 2:] += costly
            to_logits[:, 1:-1] -= 2 * costly
            to_logits[:, :-2] += costly
        to_logits *= self.held
        return to_logits, weights * (to_weights - weights @ to_weights)

    @staticmethod
    def _adam(values: Single, slope: Single, first: Single, second: Single, rate: float, number: int) -> None:
        first += np.float32(0.1) * (slope - first)
        second += np.float32(0.01) * (slope * slope - second)
        corrected = np.sqrt(second / np.float32(1 - 0.99 ** (number + 1))) + np.float32(1e-12)
        values -= np.float32(rate / (1 - 0.9 ** (number + 1))) * first / corrected


def _softmax(logits: Single, starts: NDArray[Any]) -> Single:
    """Softmax within each segment of the last axis."""
    sizes = np.diff(np.append(starts, logits.shape[-1]))
    highest = np.repeat(np.maximum.reduceat(logits, starts, axis=-1), sizes, axis=-1)
    powers = np.exp(logits - highest)
    return powers / np.repeat(np.add.reduceat(powers, starts, axis=-1), sizes, axis=-1)


def _through_softmax(table: Single, slope: Single, starts: NDArray[Any]) -> Single:
    """A slope in probabilities as a slope in logits, segment by segment."""
    sizes = np.diff(np.append(starts, table.shape[-1]))
    product = table * slope
    return product - table * np.repeat(np.add.reduceat(product, starts, axis=-1), sizes, axis=-1)
