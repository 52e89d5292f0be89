"""Binning: numbers to the bins of their column. A compiled inner loop of the pass over the rows."""

import math

import numba
import numpy as np
from numpy.typing import NDArray

from pointillist.schema.scale import CODES

OUT_OF_RANGE, MISSING = 1, 2


_LOG, _ASINH = CODES["log"], CODES["asinh"]


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _bent(value: float, scale: int, width: float) -> float:
    """A number on its column's scale."""
    if scale == _LOG:
        return math.log(value)
    return math.asinh(value / width) if scale == _ASINH else value


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def bin_numbers(
    values: NDArray[np.float64],
    edges: NDArray[np.float64],
    closed: bool,
    scale: int,
    width: float,
    specials: NDArray[np.float64],
    missing: int,
    codes: NDArray[np.uint16],
) -> int:
    """Write the level of every value to `codes`; return flags for what was met on the way.

    The bin is defined by `edges` alone; arithmetic only guesses where to look. `closed` says whether the last edge
    itself is in range (real numbers) or the first value past it (whole numbers); `scale` and `width` are those of a
    `Scale`. Values beyond the bounds go to the first or last bin, whatever they are, so a code can never be out of range.
    """
    regular = len(edges) - 1
    low = edges[0]
    start = _bent(low, scale, width)
    stretch = regular / (_bent(edges[-1], scale, width) - start)
    flags = 0
    for row in range(len(values)):
        value = float(values[row])
        if math.isnan(value):
            codes[row] = missing
            flags |= MISSING
            continue
        code = -1
        for number in range(len(specials)):
            if value == specials[number]:
                code = regular + number
                break
        if code < 0:
            if value < low:
                code = 0
                flags |= OUT_OF_RANGE
            elif value >= edges[regular]:
                code = regular - 1
                if not (value == edges[regular] and closed):
                    flags |= OUT_OF_RANGE
            else:
                code = int((_bent(value, scale, width) - start) * stretch)
                code = min(max(code, 0), regular - 1)
                while value < edges[code]:
                    code -= 1
                while code + 1 < regular and value >= edges[code + 1]:
                    code += 1
        codes[row] = code
    return flags
