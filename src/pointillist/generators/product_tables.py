"""Product tables: what components that are products say about the cells of several columns together."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Single = NDArray[np.float32]


def cells_of(tables: Sequence[Single]) -> Single:
    """For each component the probability of every combination of places, the last column's changing fastest."""
    found = tables[0]
    for table in tables[1:]:
        found = (found[:, :, None] * table[:, None, :]).reshape(len(found), -1)
    return found


def joint_table(weights: Single, tables: Sequence[Single]) -> Single:
    """The mixture's probability of every combination, as one product of two halves of the columns."""
    half = len(tables) // 2
    first: Single = weights[:, None] * cells_of(tables[:half]) if half else weights[:, None]
    made = first.T @ cells_of(tables[half:])
    return made.reshape([table.shape[1] for table in tables])


def slopes_of(tables: Sequence[Single], to_cells: Single) -> list[Single]:
    """A slope in the combinations of `cells_of` as slopes in every column's places."""
    sizes = [table.shape[1] for table in tables]
    found = []
    for number in range(len(tables)):
        before, after = tables[:number], tables[number + 1 :]
        slope = to_cells.reshape(len(to_cells), math.prod(sizes[:number]), sizes[number], -1)
        slope = np.einsum("kbtc,kb->ktc", slope, cells_of(before)) if before else slope[:, 0]
        found.append(np.einsum("ktc,kc->kt", slope, cells_of(after)) if after else slope[:, :, 0])
    return found
