"""Compiled inner loops of the pass over private rows: numbers to bins, and bins to counts."""

import math

import numba
import numpy as np
from numpy.typing import NDArray

OUT_OF_RANGE, MISSING = 1, 2
_CHUNK = 4096
"""Rows counted at a time: their cell numbers stay in the nearest cache while all tables are visited."""


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


FIELD_START, PLAIN, QUOTED, AFTER_QUOTE, BROKEN = 0, 1, 2, 3, 4
"""Where a CSV parser stands: at the start of a field, in a plain or a quoted one, after a quote in it, or lost."""


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def follow_quotes(block: NDArray[np.uint8], state: int, delimiter: int) -> int:
    """Where a strict CSV parser stands after `block`: a quote may only open a field, close it, or be doubled in it."""
    for byte in block:
        ends = byte in (10, 13, delimiter)
        if state == QUOTED:
            if byte == 34:
                state = AFTER_QUOTE
        elif state == AFTER_QUOTE:
            state = FIELD_START if ends else (QUOTED if byte == 34 else BROKEN)
        elif ends:
            state = FIELD_START
        elif byte == 34:
            state = QUOTED if state == FIELD_START else BROKEN
        else:
            state = PLAIN
        if state == BROKEN:
            break
    return state


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def count_cells(
    cells: NDArray[np.uint16],
    leaves: NDArray[np.int64],
    sizes: NDArray[np.int64],
    offsets: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    """Add one to each block's cell, for every row.

    `cells` holds a row of cell numbers for each leaf; block b is the product of leaves[b] (-1: none), the last running
    fastest, with the leaves' `sizes` and its counts starting at offsets[b].
    """
    rows = cells.shape[1]
    for start in range(0, rows, _CHUNK):
        end = min(start + _CHUNK, rows)
        for block in range(len(leaves)):
            first, second, third = leaves[block, 0], leaves[block, 1], leaves[block, 2]
            base = offsets[block]
            if second < 0:
                for row in range(start, end):
                    counts[base + np.int64(cells[first, row])] += 1
            elif third < 0:
                size = sizes[second]
                for row in range(start, end):
                    counts[base + np.int64(cells[first, row]) * size + np.int64(cells[second, row])] += 1
            else:
                size, fastest = sizes[second], sizes[third]
                for row in range(start, end):
                    outer = np.int64(cells[first, row]) * size + np.int64(cells[second, row])
                    counts[base + outer * fastest + np.int64(cells[third, row])] += 1
