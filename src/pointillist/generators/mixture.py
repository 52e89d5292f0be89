"""Mixture: K products of per-column distributions. Its pair tables are one matrix product, so its fit is exact.

With P the K x T matrix of tile probabilities (all columns side by side) and w the weights, all pair tables at once are
P' diag(w) P; split by a label with probabilities q_k(y), they are P' diag(w q(y)) P. So the expected value of every
measurement is a closed form, and so is the gradient.

The loss is the Gaussian log-likelihood of the release (every cell weighed by its known noise) plus a pull of every
component towards the one-way marginals (relative entropy). The pull is as strong as it can be while the residual chi^2
stays at what the noise alone explains: the least structured mixture that is consistent with the release.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.generators.drawing import draw, draw_levels, quota
from pointillist.generators.evidence import Evidence, aggregation
from pointillist.progress import Progress

Floats = NDArray[np.float64]
Single = NDArray[np.float32]


_RESIDUAL = 0.92
"""What is left of chi^2 after a fit, by cell: below 1, because a fit always follows some of the noise."""


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

    def describe(self) -> str:
        return f"a mixture of {len(self.weights)} components"

    def sample(self, count: int, generator: np.random.Generator) -> dict[str, NDArray[np.uint16]]:
        """Level numbers of `count` rows."""
        component = quota(self.weights, count, generator)
        codes = {}
        for name, tiles in self.tiles.items():
            tile = draw(self.tables[name], component, generator)
            codes[name] = draw_levels(tiles, self.within[name], tile, generator)
        shuffled = generator.permutation(count)
        return {name: values[shuffled] for name, values in codes.items()}

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
        return {"columns": names}, arrays

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The inverse of `to_facts`."""
        tiles, tables, within = {}, {}, {}
        for number, name in enumerate(facts["columns"]):
            tiles[name] = Tiles(name, tuple(int(t) for t in arrays[f"{number}.tile_of"]))
            tables[name] = arrays[f"{number}.table"].astype(np.float64)
            within[name] = arrays[f"{number}.within"].astype(np.float64)
            if tables[name].shape != (len(arrays["weights"]), tiles[name].dimension):
                raise ValueError(f"the tables of column {name!r} do not fit")
        return cls(arrays["weights"].astype(np.float64), tiles, tables, within)


def fit_mixture(
    evidence: Evidence,
    shares: dict[str, Floats],
    *,
    components: int,
    steps: int,
    seed: int,
    progress: Progress,
) -> Mixture:
    """The least structured mixture that is consistent with the evidence; `shares` are denoised one-way marginals."""
    base = evidence.base
    totals = {name: np.bincount(tiles.table, weights=shares[name]).astype(np.float64) for name, tiles in base.items()}
    within = {name: _conditional(tiles, shares[name], totals[name]) for name, tiles in base.items()}
    if all(len(table.leaves) == 1 for table in evidence.tables):
        one = {name: total[None, :] / total.sum() for name, total in totals.items()}
        return Mixture(np.ones(1), base, one, within)
    problem = _Problem(evidence, base)
    fitted = _Fit(problem, np.concatenate(list(totals.values())), components, seed)
    for step in range(steps):
        fitted.step(step, steps)
        progress("fit", (step + 1) / steps)
    weights, table = fitted.result()
    tables = {name: table[:, place].astype(np.float64) for name, place in problem.places.items()}
    return Mixture(weights.astype(np.float64), base, tables, within)


def _conditional(tiles: Tiles, shares: Floats, totals: Floats) -> Floats:
    """The share of each level inside its tile; even where the tile has no mass."""
    sizes = np.bincount(tiles.table)
    held = totals[tiles.table]
    return np.where(held > 0, shares / np.where(held > 0, held, 1.0), 1.0 / sizes[tiles.table])


class _Problem:
    """The evidence as matrices: for all pairs, and for each class of the label, wanted shares and their precision."""

    def __init__(self, evidence: Evidence, base: dict[str, Tiles]):
        ends = np.cumsum([tiles.dimension for tiles in base.values()])
        self.places = {
            name: slice(int(end) - tiles.dimension, int(end))
            for (name, tiles), end in zip(base.items(), ends, strict=True)
        }
        self.size = int(ends[-1])
        self.starts = np.array([place.start for place in self.places.values()])
        self.wanted = np.zeros(self.size, dtype=np.float32)
        self.precision = np.zeros(self.size, dtype=np.float32)
        self.layers: list[_Layer] = []
        self.cells = 0
        layers: dict[Tiles | None, list[_Layer]] = {}
        for table in evidence.tables:
            values, precision = table.values / evidence.rows, (evidence.rows / table.sigma) ** 2
            if len(table.leaves) == 1:
                self._one_way(table.leaves[0], values, precision, base)
                continue
            label, pair = (None, table.leaves) if len(table.leaves) == 2 else (table.leaves[0], table.leaves[1:])
            if len(pair) != 2:
                raise ValueError("the mixture fits tables of one, two or three columns")
            if label not in layers:
                layers[label] = self._layers(label, base)
            for number, layer in enumerate(layers[label]):
                layer.put(self.places, base, pair, values if label is None else values[number], precision)
            self.cells += values.size
        self.layers = [layer for group in layers.values() for layer in group]

    def _one_way(self, leaf: Tiles, values: Floats, precision: float, base: dict[str, Tiles]) -> None:
        tiles, place = base[leaf.column], self.places[leaf.column]
        counted = np.bincount(tiles.table, minlength=tiles.dimension)  # a tile of k levels has k times the variance
        self.wanted[place] = np.bincount(tiles.table, weights=values, minlength=tiles.dimension)
        self.precision[place] = precision / counted
        self.cells += tiles.dimension

    def _layers(self, label: Tiles | None, base: dict[str, Tiles]) -> list["_Layer"]:
        if label is None:
            return [_Layer(self.size, None, None)]
        place = self.places[label.column]
        matrix = aggregation(base[label.column], label).astype(np.float32)
        return [_Layer(self.size, place, column) for column in matrix.T]


class _Layer:
    """One T x T matrix of wanted shares: of everyone, or of one class of the label."""

    def __init__(self, size: int, place: slice | None, members: Single | None):
        self.place, self.members = place, members
        self.wanted = np.zeros((size, size), dtype=np.float32)
        self.precision = np.zeros((size, size), dtype=np.float32)

    def put(
        self,
        places: dict[str, slice],
        base: dict[str, Tiles],
        pair: tuple[Tiles, ...],
        values: Floats,
        precision: float,
    ) -> None:
        first, second = pair
        if first != base[first.column] or second != base[second.column]:
            raise ValueError("pairs must be measured over one tiling of each column")
        rows, columns = places[first.column], places[second.column]
        self.wanted[rows, columns], self.wanted[columns, rows] = values, values.T
        self.precision[rows, columns] = self.precision[columns, rows] = precision


class _Fit:
    """Adam on the logits of weights and tables."""

    def __init__(self, problem: _Problem, marginal: Floats, components: int, seed: int):
        generator = np.random.default_rng(seed)
        self.problem = problem
        self.log_marginal = np.log(np.maximum(marginal, 1e-12)).astype(np.float32)
        spread = generator.standard_normal((components, problem.size), dtype=np.float32)
        # A tile with no mass in the denoised marginal stays empty: the noise in its pairs must not revive it.
        self.logits = np.where(marginal > 0, self.log_marginal + spread, -np.inf).astype(np.float32)
        self.weight_logits = np.zeros(components, dtype=np.float32)
        self.pull = 30.0
        self.chi_squared = np.inf
        self._moments = [np.zeros_like(x) for x in (self.logits, self.logits, self.weight_logits, self.weight_logits)]

    def result(self) -> tuple[Single, Single]:
        return _softmax(self.weight_logits, np.array([0])), _softmax(self.logits, self.problem.starts)

    def step(self, number: int, steps: int) -> None:
        """One step down the loss; then the pull moves to bring chi^2 to what a fit should leave."""
        table_slope, weight_slope = self.slopes()
        rate = 0.1 * min(1.0, (number + 1) / 10) * 0.5 * (1 + np.cos(np.pi * number / steps)) + 1e-3
        self._adam(self.logits, table_slope, self._moments[0], self._moments[1], rate, number)
        self._adam(self.weight_logits, weight_slope, self._moments[2], self._moments[3], rate, number)
        # A few per cent a step: early on chi^2 is far too large for reasons that more steps will mend, not less pull.
        wanted = _RESIDUAL * self.problem.cells
        pull = self.pull * float(np.clip(wanted / self.chi_squared, 1 / 1.2, 1.2)) ** 0.3
        self.pull = min(max(pull, 1e-4), 1e4)  # where even independence leaves too little, no pull is strong enough

    def slopes(self) -> tuple[Single, Single]:
        """The loss's gradient in the logits; sets `chi_squared` on the way."""
        problem = self.problem
        weights, table = self.result()
        mean = weights @ table
        residual = mean - problem.wanted
        force = problem.precision * residual
        chi_squared = float(force @ residual)
        # d(loss)/d(table) and d(loss)/d(weights), with the loss half of chi^2 plus the pull
        to_table = np.outer(weights, force)
        to_weights = table @ force
        for layer in problem.layers:
            share = weights if layer.members is None else weights * (table[:, layer.place] @ layer.members)
            scaled = share[:, None] * table
            gap = table.T @ scaled - layer.wanted
            tension = layer.precision * gap
            chi_squared += 0.5 * float(np.vdot(tension, gap))
            pushed = table @ tension
            to_table += share[:, None] * pushed
            to_share = 0.5 * np.einsum("kt,kt->k", pushed, table)
            if layer.members is None:
                to_weights += to_share
            else:
                to_weights += to_share * (share / np.maximum(weights, 1e-30))
                to_table[:, layer.place] += np.outer(to_share * weights, layer.members)
        self.chi_squared = chi_squared
        entropy = np.log(np.maximum(table, 1e-12)) - self.log_marginal
        strength = np.float32(self.pull * problem.cells / 1000)
        to_table += strength * weights[:, None] * (entropy + 1)
        to_weights += strength * np.einsum("kt,kt->k", table, entropy)
        return _through_softmax(table, to_table, problem.starts), weights * (to_weights - weights @ to_weights)

    @staticmethod
    def _adam(values: Single, slope: Single, first: Single, second: Single, rate: float, number: int) -> None:
        first += 0.1 * (slope - first)
        second += 0.01 * (slope * slope - second)
        corrected = np.sqrt(second / (1 - 0.99 ** (number + 1))) + 1e-12
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
