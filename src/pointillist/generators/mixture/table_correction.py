"""Table correction: a model's table of two columns, moved towards its measurement by what is more than noise.

What is left between a model and the measurement of a table is noise, the same on every cell, and the model's error, which is
the larger, the more rows a cell has: a cell that the model leaves empty is empty, as a rule. So the error has a variance in
proportion to the cell's share, by a factor that is found from the table itself (empirical Bayes, the most likely one), and
each cell's gap is shrunk by the part that noise has in it. One part for all cells would let noise into many empty ones.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ERRORS = np.concatenate([[0.0], np.geomspace(1e-3, 1e4, 36)])
"""Variances of the model's error in a cell of the mean share that are tried, as multiples of the noise's."""
_RAKES, _LEAST = 10, 1e-12


def corrected(modelled: Floats, measured: NDArray[np.floating[Any]], precision: float) -> Floats:
    """A table with the model's marginals, and with as much of the measurement as is more than noise."""
    gap = _centred(np.asarray(measured - modelled, dtype=np.float64))
    share = np.maximum(modelled, 0.0)
    noise, mean = 1 / precision, float(share.mean())
    if mean <= _LEAST:
        return share
    errors = _ERRORS[:, None] * (noise / mean) * share.ravel()
    variance = noise + errors
    likely = -0.5 * (np.log(variance) + gap.ravel() ** 2 / variance).sum(axis=1)
    best = int(likely.argmax())
    if best == 0:
        return share
    moved = share + (errors[best] / variance[best]).reshape(gap.shape) * gap
    return _raked(np.maximum(moved, 0.0), share.sum(axis=1), share.sum(axis=0))


def _centred(gap: Floats) -> Floats:
    """A gap between two tables with the same marginals: what rows and columns add up to is noise."""
    return gap - gap.mean(axis=0) - gap.mean(axis=1, keepdims=True) + gap.mean()


def _raked(table: Floats, down: Floats, across: Floats) -> Floats:
    """A table scaled to given marginals."""
    for _ in range(_RAKES):
        table = table * _ratio(down, table.sum(axis=1))[:, None]
        table = table * _ratio(across, table.sum(axis=0))
    return table


def _ratio(wanted: Floats, found: Floats) -> Floats:
    return np.where(found > 0, wanted / np.where(found > 0, found, 1.0), 0.0)
