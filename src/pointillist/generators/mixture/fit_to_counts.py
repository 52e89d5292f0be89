"""Fitting a mixture to tables of noisy counts.

With P the K x T matrix of tile probabilities (all columns side by side) and w the weights, all pair tables at once are
P' diag(w) P; split by a label with probabilities q_k(y), they are P' diag(w q(y)) P. So the expected value of every
measurement is a closed form, and so is the gradient.

The loss is the Gaussian log-likelihood of the release (every cell weighed by its known noise) plus a pull of every
component towards the one-way marginals: relative entropy, and bends of its log-ratio along ordered columns. The pull is
as strong as it can be while the residual chi^2 stays at what the noise alone explains: the least structured mixture that
is consistent with the release.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pointillist.features import Tiles
from pointillist.fitting.evidence import Evidence
from pointillist.generators.mixture.count_descent import Components
from pointillist.generators.mixture.count_matrices import Problem
from pointillist.generators.mixture.mixture import Mixture
from pointillist.generators.mixture.trend_fit import fit_trends, tile_order
from pointillist.progress import Progress

Floats = NDArray[np.float64]
Single = NDArray[np.float32]

_RESIDUAL = 0.96
"""What is left of chi^2 after a fit, by cell: below 1, because a fit always follows some of the noise."""
_RATE, _LEAST_RATE, _WARM_UP = 0.3, 1e-3, 10
"""How far a step goes: at full length in the first half but for the first few, then less and less."""
_EVERY, _PRESS = 10, (0.15, 0.85)
"""Every so many steps between these parts of them, tables that are too far off get more weight."""
_FIRST_PULL, _LEAST_PULL, _MOST_PULL = 30.0, 10.0, 1e4
"""Where there is more structure than the components can hold, a weak pull would only let them chase it: tables are
corrected afterwards. Where even independence leaves too little, no pull is strong enough."""


def fit_mixture(
    evidence: Evidence,
    shares: dict[str, Floats],
    *,
    ordered: Mapping[str, int] | None = None,
    positions: Mapping[str, Floats] | None = None,
    alike: Collection[frozenset[str]] = (),
    components: int | None,
    steps: int,
    seed: int,
    progress: Progress,
) -> Mixture:
    """The least structured mixture that is consistent with the evidence.

    Arguments:
        shares: denoised one-way marginals.
        ordered: for each ordered column how many of its levels come in order, before all others.
        positions: for each column whose trends are kept where its levels lie; NaN for those that lie nowhere.
        alike: columns of the same quantity, two by two.
        components: how many; by default as many as the structure in the evidence calls for.
    """
    base = evidence.base
    totals = {name: np.bincount(tiles.table, weights=shares[name]).astype(np.float64) for name, tiles in base.items()}
    within = {name: _conditional(tiles, shares[name], totals[name]) for name, tiles in base.items()}
    if not evidence.scores and all(len(table.leaves) == 1 for table in evidence.tables):
        one = {name: total[None, :] / total.sum() for name, total in totals.items()}
        return Mixture(np.ones(1), base, one, within)
    marginal = np.concatenate([total / total.sum() for total in totals.values()])
    runs = {name: base[name].tile_of[count - 1] + 1 for name, count in (ordered or {}).items()}
    order = {name: tile_order(base[name], within[name], each) for name, each in (positions or {}).items()}
    problem = Problem(evidence, base, within)
    count = components or problem.components(marginal)
    fitted = Fit(problem, marginal, problem.bends(runs, marginal), count, seed)
    with threadpool_limits(limits=1):  # threads would add up in an order of their own
        for step in range(steps):
            fitted.step(step, steps)
            progress("fit", (step + 1) / steps)
    weights, table = (each.astype(np.float64) for each in fitted.components.result())
    table = problem.rake(weights, table)
    tables = {name: table[:, place] for name, place in problem.places.items()}
    trended = fit_trends(evidence, base, order, weights, tables, seed, within, alike)
    held = problem.held(weights, table, () if trended is None else trended.tilts)
    if held is not None:
        held = replace(held, cliques=problem.held_cliques(held))
    return Mixture(weights, base, tables, within, held, None if trended is None else trended.trends)


def _conditional(tiles: Tiles, shares: Floats, totals: Floats) -> Floats:
    """The share of each level inside its tile; even where the tile has no mass."""
    sizes = np.bincount(tiles.table)
    held = totals[tiles.table]
    return np.where(held > 0, shares / np.where(held > 0, held, 1.0), 1.0 / sizes[tiles.table])


class Fit:
    """The components, on their way down the loss."""

    def __init__(self, problem: Problem, marginal: Floats, bends: Single, components: int, seed: int):
        self.problem = problem
        self.components = Components(marginal, problem.starts, bends, components, seed)
        self.pull = _FIRST_PULL
        self.chi_squared = np.inf

    def step(self, number: int, steps: int) -> None:
        """One step down the loss; then the pull moves to bring chi^2 to what a fit should leave."""
        if number % _EVERY == 0 and _PRESS[0] * steps <= number <= _PRESS[1] * steps:
            self.problem.press(*self.components.result())
        table_slope, weight_slope = self.slopes()
        late = max(0.0, 2 * number / steps - 1)
        rate = _RATE * min(1.0, (number + 1) / _WARM_UP) * 0.5 * (1 + np.cos(np.pi * late)) + _LEAST_RATE
        self.components.step(table_slope, weight_slope, rate, number)
        # Less pull by a few per cent a step: early on chi^2 is far too large for reasons that more steps will mend.
        ratio = _RESIDUAL * self.problem.cells / self.chi_squared
        pull = self.pull * (min(ratio, 1.2) if ratio > 1 else max(ratio, 1 / 1.2) ** 0.3)
        self.pull = min(max(pull, _LEAST_PULL), _MOST_PULL)

    def slopes(self) -> tuple[Single, Single]:
        """The gradient of the loss, half of chi^2 and the pull, in the logits; sets `chi_squared` on the way."""
        weights, table = self.components.result()
        self.chi_squared, to_weights, to_table = self.problem.slopes(weights, table)
        return self.components.slopes(weights, to_weights, to_table, self.pull * self.problem.cells / 1000)
