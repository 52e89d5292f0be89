"""Lookup: what a table says of each record's level. A compiled inner loop of the pass over the rows.

numpy's own `take` first writes every level number down as one of 64 bits, which takes several times as long.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray


def require_levels(table: NDArray[Any], codes: NDArray[np.uint16]) -> None:
    """Stop at a level that a table has no entry for: compiled code would read what stands behind the table."""
    if codes.dtype != np.uint16 or (len(codes) and int(codes.max()) >= len(table)):
        raise IndexError("a record has a level that the table of its column has not")


def look_up(table: NDArray[Any], codes: NDArray[np.uint16], out: NDArray[Any]) -> None:
    """Write the table's entry for each record's level to `out`."""
    if len(out) != len(codes):
        raise IndexError("as many entries as records are needed")
    require_levels(table, codes)
    _look_up(table, codes, out)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _look_up(table: NDArray[Any], codes: NDArray[np.uint16], out: NDArray[Any]) -> None:
    for row in range(len(codes)):
        out[row] = table[codes[row]]
