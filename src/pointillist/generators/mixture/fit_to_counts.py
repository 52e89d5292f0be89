"""Fitting a mixture to tables of noisy counts.

With P the K x T matrix of tile probabilities (all columns side by side) and w the weights, all pair tables at once are
P' diag(w) P; split by a label with probabilities q_k(y), they are P' diag(w q(y)) P. So the expected value of every
measurement is a closed form, and so is the gradient.

The loss is the Gaussian log-likelihood of the release (every cell weighed by its known noise) plus a pull of every
component towards the one-way marginals: relative entropy, and bends of its log-ratio along ordered columns. The pull is
as strong as it can be while the residual chi^2 stays at what the noise alone explains: the least structured mixture that
is consistent with the release.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.fitting.evidence import Evidence
from pointillist.generators.mixture.count_matrices import Problem
from pointillist.generators.mixture.mixture import Mixture
from pointillist.progress import Progress

Floats = NDArray[np.float64]
Single = NDArray[np.float32]
Integers = NDArray[np.int64]

_RESIDUAL = 0.96
"""What is left of chi^2 after a fit, by cell: below 1, because a fit always follows some of the noise."""
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
