"""Quotes of CSV files: whether they are in order. A compiled loop over every byte."""

import numba
import numpy as np
from numpy.typing import NDArray

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
