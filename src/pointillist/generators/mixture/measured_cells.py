"""Measured cells: those cells of a matrix over tiles that were measured, one by one, where they are few."""

import numba
import numpy as np
from numpy.typing import NDArray

Single = NDArray[np.float32]
Integers = NDArray[np.int64]


class MeasuredCells:
    """The cells above the diagonal that have a precision."""

    def __init__(self, precision: Single):
        rows, columns = np.nonzero(np.triu(precision))
        self.rows, self.columns = rows.astype(np.int64), columns.astype(np.int64)
        self.precision = precision[rows, columns]

    def push(self, joined: Single, share: Single, wanted: Single) -> tuple[float, Single]:
        """chi^2 of a class, and how far it pushes every component's probabilities, by the component's share."""
        turned = np.ascontiguousarray(joined.T)  # a tile's probabilities stand together
        pushed = np.zeros_like(turned)
        cells = wanted[self.rows, self.columns]
        chi_squared = _push(turned, share, self.rows, self.columns, cells, self.precision, pushed)
        return float(chi_squared), np.ascontiguousarray(pushed.T)


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})  # type: ignore[untyped-decorator]
def _push(
    turned: Single, share: Single, rows: Integers, columns: Integers, wanted: Single, precision: Single, pushed: Single
) -> float:
    chi_squared = 0.0
    for number in range(len(rows)):
        one, other = turned[rows[number]], turned[columns[number]]
        made = np.float32(0)
        for k in range(len(share)):
            made += share[k] * one[k] * other[k]
        gap = made - wanted[number]
        tension = precision[number] * gap
        chi_squared += tension * gap
        to_one, to_other = pushed[rows[number]], pushed[columns[number]]
        for k in range(len(share)):
            to_one[k] += tension * other[k]
            to_other[k] += tension * one[k]
    return chi_squared
