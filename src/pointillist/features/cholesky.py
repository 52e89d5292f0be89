"""Pivoted Cholesky: points one after the other, each the one that the span of those before is farthest from.

For a kernel matrix K over M points it finds pivots and an M x r factor L with K = L L' + rest, where the rest is positive
semi-definite and every number on its diagonal is at most the tolerance. That diagonal is the squared distance of k(z, .)
from the span of the pivots, so the first r pivots span about the best r-dimensional subspace that r of the points can.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pointillist.features.kernel import Floats, Kernel
from pointillist.records import Records

_BLOCK = 64
"""Columns of the kernel matrix that are worked out together, as one matrix product."""
_ENOUGH = 0.5
"""A point of the block is taken as long as its distance is at least this part of the largest anywhere."""


@dataclass(frozen=True, eq=False)
class PivotedCholesky:
    """Pivots in order, and what they explain."""

    pivots: NDArray[np.int64]
    factor: Floats
    """One row for each point, one column for each pivot."""
    missed: Floats
    """The mean squared distance of the points from the span of the first 0, 1, ... r pivots."""

    @property
    def rank(self) -> int:
        return len(self.pivots)

    def triangle(self, rank: int) -> Floats:
        """The factor of the kernel matrix of the first `rank` pivots: lower triangular."""
        return np.tril(self.factor[self.pivots[:rank], :rank])


def pivoted_cholesky(kernel: Kernel, points: Records, *, tolerance: float, most: int | None = None) -> PivotedCholesky:
    """Stop when no point is farther than `tolerance` (squared) from the span, or at `most` pivots.

    Memory is points x pivots. The kernel matrix itself is never held: a block of the columns of the farthest points is
    worked out in one product, and pivots are taken from it as long as they are nearly the farthest of all.
    """
    most = points.rows if most is None else min(most, points.rows)
    distance = np.full(points.rows, kernel.peak)
    factor = np.empty((points.rows, min(most, 4 * _BLOCK)))
    pivots: list[int] = []
    missed = [float(distance.mean())]
    while len(pivots) < most and distance.max() > tolerance:
        start = len(pivots)
        size = min(_BLOCK, most - start)
        block = np.argpartition(-distance, size - 1)[:size]
        columns = kernel(points, points.part(block)) - factor[:, :start] @ factor[block, :start].T
        if factor.shape[1] < start + size:
            factor = np.concatenate([factor, np.empty((points.rows, min(most, 2 * start + size) - start))], axis=1)
        while len(pivots) < most:
            place = int(np.argmax(distance[block]))
            farthest, rank = int(block[place]), len(pivots)
            if distance[farthest] <= max(tolerance, _ENOUGH * float(distance.max())):
                break
            column = columns[:, place] - factor[:, start:rank] @ factor[farthest, start:rank]
            if column[farthest] <= tolerance:  # rounding: the running distance was a little off
                distance[farthest] = max(0.0, column[farthest])
                continue
            column /= np.sqrt(column[farthest])
            column[pivots] = 0.0  # as it is but for rounding
            factor[:, rank] = column
            distance -= column * column
            np.maximum(distance, 0.0, out=distance)
            distance[farthest] = 0.0
            pivots.append(farthest)
            missed.append(float(distance.mean()))
    rank = len(pivots)
    return PivotedCholesky(np.array(pivots, dtype=np.int64), factor[:, :rank], np.array(missed))
