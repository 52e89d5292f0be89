"""Counting: records by the cells of all tables at once. The compiled inner loop of the pass over the rows."""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

_CHUNK = 4096
"""Rows counted at a time: their cell numbers stay in the nearest cache while all tables are visited."""
_NARROW = 1 << 16
"""Tables of so many cells have numbers of 16 bits: many of them are reckoned by one instruction."""


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
    narrow, wide = np.empty(_CHUNK, dtype=np.uint16), np.empty(_CHUNK, dtype=np.uint32)
    for start in range(0, rows, _CHUNK):
        end = min(start + _CHUNK, rows)
        for block in range(len(leaves)):
            size = 1
            for leaf in leaves[block]:
                size *= sizes[leaf] if leaf >= 0 else 1
            own = counts[offsets[block] : offsets[block] + size]
            if size <= _NARROW:
                _count(cells, start, end, leaves[block], sizes, narrow, own)
            else:
                _count(cells, start, end, leaves[block], sizes, wide, own)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _count(
    cells: NDArray[np.uint16],
    start: int,
    end: int,
    leaves: NDArray[np.int64],
    sizes: NDArray[np.int64],
    places: NDArray[Any],
    counts: NDArray[np.int64],
) -> None:
    """First where each row belongs, in loops that a processor does many steps of at a time; then one for each."""
    rows, kind = end - start, places.dtype.type
    first = cells[leaves[0], start:end]
    for row in range(rows):
        places[row] = first[row]
    for leaf in leaves[1:]:
        if leaf >= 0:
            size, more = kind(sizes[leaf]), cells[leaf, start:end]
            for row in range(rows):
                places[row] = kind(places[row] * size) + more[row]
    for row in range(rows):
        counts[places[row]] += 1
