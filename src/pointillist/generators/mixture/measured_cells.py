"""Measured cells: those cells of a matrix over tiles that were measured, one by one, where they are few."""

import numba
import numpy as np
from numpy.typing import NDArray

Single = NDArray[np.float32]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class MeasuredCells:
    """The cells above the diagonal that have a precision."""

    def __init__(self, precision: Single):
        rows, columns = np.nonzero(np.triu(precision))
        self.rows, self.columns = rows.astype(np.int64), columns.astype(np.int64)
        self.precision = precision[rows, columns]
        self.force = self.precision

    def push(self, joined: Single, share: Single, wanted: Single) -> tuple[float, Single]:
        """chi^2 of a class, and how far it pushes every component's probabilities, by the component's share."""
        turned = np.ascontiguousarray(joined.T)  # a tile's probabilities stand together
        pushed = np.zeros_like(turned)
        cells = wanted[self.rows, self.columns]
        chi_squared = _push(turned, share, self.rows, self.columns, cells, self.precision, self.force, pushed)
        return float(chi_squared), np.ascontiguousarray(pushed.T)

    def press(self, pressure: Floats, starts: Integers) -> None:
        """Weigh cells by the pressure on their two columns, which begin at `starts`."""
        first, second = (np.searchsorted(starts, each, side="right") - 1 for each in (self.rows, self.columns))
        self.force = (self.precision * pressure[first, second]).astype(np.float32)

    def distances(self, joined: Single, share: Single, wanted: Single, starts: Integers) -> Floats:
        """chi^2 of every pair of columns, which begin at `starts`."""
        turned = np.ascontiguousarray(joined.T)
        made = _made(turned, share, self.rows, self.columns)
        squares = self.precision * (made - wanted[self.rows, self.columns]) ** 2
        first, second = (np.searchsorted(starts, each, side="right") - 1 for each in (self.rows, self.columns))
        found = np.bincount(first * len(starts) + second, squares, len(starts) ** 2).reshape(len(starts), -1)
        return np.asarray(found + found.T, dtype=np.float64)


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})  # type: ignore[untyped-decorator]
def _made(turned: Single, share: Single, rows: Integers, columns: Integers) -> Single:
    """What a mixture says about some cells."""
    found = np.empty(len(rows), dtype=np.float32)
    for number in range(len(rows)):
        one, other, made = turned[rows[number]], turned[columns[number]], np.float32(0)
        for k in range(len(share)):
            made += share[k] * one[k] * other[k]
        found[number] = made
    return found


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})  # type: ignore[untyped-decorator]
def _push(
    turned: Single,
    share: Single,
    rows: Integers,
    columns: Integers,
    wanted: Single,
    precision: Single,
    force: Single,
    pushed: Single,
) -> float:
    chi_squared = 0.0
    for number in range(len(rows)):
        one, other = turned[rows[number]], turned[columns[number]]
        made = np.float32(0)
        for k in range(len(share)):
            made += share[k] * one[k] * other[k]
        gap = made - wanted[number]
        chi_squared += precision[number] * gap * gap
        tension = force[number] * gap
        to_one, to_other = pushed[rows[number]], pushed[columns[number]]
        for k in range(len(share)):
            to_one[k] += tension * other[k]
            to_other[k] += tension * one[k]
    return chi_squared
