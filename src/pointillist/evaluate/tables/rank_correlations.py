"""Rank correlations: of all pairs of ordered columns, with their sign, which the information coefficient does not have."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import rankdata

from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.tables.sample import Sample

_LEAST = 0.01
"""The least variance of a correlation, times the rows: one that is 1 in a sample need not be so in all."""


@dataclass(frozen=True)
class Correlation:
    """Of two ordered columns: Spearman's rank correlation, real and synthetic."""

    columns: tuple[str, str]
    real: float
    synthetic: float
    chance: float
    """The standard deviation of the difference between two samples of these sizes, about."""

    @property
    def beyond(self) -> float:
        """The difference beyond three of these: there are many pairs, and the worst of them counts."""
        return max(0.0, abs(self.real - self.synthetic) - 3 * self.chance)


def rank_correlations(real: Sample, synthetic: Sample) -> tuple[Correlation, ...]:
    """Of all pairs of columns with an order, in the schema's order. Gaps count as a middling rank."""
    names = [each.name for each in real.levels if each.ordered]
    if len(names) < 2:
        return ()
    tables = [_matrix(sample, names) for sample in (real, synthetic)]
    chance = np.sqrt(sum(variance for _, variance in tables))
    return tuple(
        Correlation((names[i], names[j]), float(tables[0][0][i, j]), float(tables[1][0][i, j]), float(chance[i, j]))
        for i, j in combinations(range(len(names)), 2)
    )


def _matrix(sample: Sample, names: list[str]) -> tuple[Floats, Floats]:
    """All correlations, and their variances among samples: large where a few rows decide, as in columns that are mostly 0.

    The variance is the mean square of (xy - r (x² + y²) / 2) over the rows, of standardised ranks.
    """
    ranks = np.stack([_ranks(sample, name) for name in names])
    spread = np.sqrt(np.square(ranks).mean(axis=1, keepdims=True))
    x = np.divide(ranks, spread, out=np.zeros_like(ranks), where=spread > 0)
    squares, rows = np.square(x), sample.rows
    found = x @ x.T / rows
    both, cubes = squares @ squares.T / rows, (squares * x) @ x.T / rows
    fourth = np.diag(both)
    spread_out = both - found * (cubes + cubes.T) + found**2 / 4 * (fourth[:, None] + 2 * both + fourth[None, :])
    return found, np.maximum(spread_out, _LEAST) / max(1, rows)


def _ranks(sample: Sample, name: str) -> Floats:
    """Centred ranks; 0 for gaps."""
    level, absent = sample.level(name), sample.missing(name)
    values = sample.as_is(name) if level.numeric else sample.codes(name).astype(np.float64)
    if not level.numeric:
        absent = absent | (sample.codes(name) >= level.regular)
    found = np.zeros(sample.rows)
    if not absent.all():
        known = rankdata(values[~absent])
        found[~absent] = known - known.mean()
    return found
