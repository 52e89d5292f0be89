"""Clipping: features of records on the integer grid, none of them longer than the limit.

They are rounded towards zero, their integer norm is checked against the limit, and who is over it is shortened. So the
bound on what one record can add holds in the arithmetic that runs, whatever the features are.
"""

import math

import numpy as np
from numpy.typing import NDArray

from pointillist.privacy.grid import Grid

Integers = NDArray[np.int64]


def quantise(features: NDArray[np.float64], grid: Grid) -> Integers:
    """Features of records on the grid: rounded towards zero, then clipped so that no integer norm is over the limit."""
    if not grid.holds(features.shape[1]):
        raise OverflowError(f"a grid of {grid.bits} bits is too fine for {features.shape[1]} features")
    bounded = np.clip(np.nan_to_num(features, nan=0.0), -1.0, 1.0)
    values = np.trunc(bounded * grid.scale).astype(np.int64)
    squared = np.einsum("ij,ij->i", values, values)
    for row in np.flatnonzero(squared > grid.squared_norm):
        # |v| * scale // ceil(norm): rounded towards zero again, so the norm ends at or below the limit.
        norm = math.isqrt(int(squared[row]) - 1) + 1
        values[row] = np.sign(values[row]) * (np.abs(values[row]) * grid.scale // norm)
    return values
