"""Counting: records by the cells of all tables at once. The compiled inner loop of the pass over the rows."""

import numba
import numpy as np
from numpy.typing import NDArray

_CHUNK = 4096
"""Rows counted at a time: their cell numbers stay in the nearest cache while all tables are visited."""


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
