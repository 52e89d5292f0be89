"""Binning: numbers to the bins of their column. A compiled inner loop of the pass over the rows."""

import math

import numba
import numpy as np
from numpy.typing import NDArray

OUT_OF_RANGE, MISSING = 1, 2


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def bin_numbers(
    values: NDArray[np.float64],
    edges: NDArray[np.float64],
    closed: bool,
    log: bool,
    specials: NDArray[np.float64],
    missing: int,
    codes: NDArray[np.uint16],
) -> int:
    """Write the level of every value to `codes`; return flags for what was met on the way.

    The bin is defined by `edges` alone; arithmetic only guesses where to look. `closed` says whether the last edge
    itself is in range (real numbers) or the first value past it (whole numbers). Values beyond the bounds go to the
    first or last bin, whatever they are, so a code can never be out of range.
    """
    regular = len(edges) - 1
    low = edges[0]
    start = math.log(low) if log else low
    stretch = regular / ((math.log(edges[-1]) if log else edges[-1]) - start)
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
                code = int(((math.log(value) if log else value) - start) * stretch)
                code = min(max(code, 0), regular - 1)
                while value < edges[code]:
                    code -= 1
                while code + 1 < regular and value >= edges[code + 1]:
                    code += 1
        codes[row] = code
    return flags
