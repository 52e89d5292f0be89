"""Tiling: from a column's noisy fine marginal to tiles that hold enough rows each. Post-processing: costs nothing."""

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.levels import Levels

Floats = NDArray[np.float64]


def tile(levels: Levels, masses: Floats, smallest: float, most: int) -> Tiles:
    """Tiles of at least `smallest` mass where possible, at most `most` of them beside the atoms.

    Ordered columns: runs of neighbouring levels with about equal mass; a level that is heavy by itself keeps its own
    tile, and so does every special value and what is missing. Other columns: the heaviest levels keep their own tile,
    and the rest share one.
    """
    if levels.ordered:
        regular = masses[: levels.regular]
        tiles = _runs(regular, min(most, int(regular.sum() / smallest) if smallest > 0 else most))
        atoms = range(tiles[-1] + 1, tiles[-1] + 1 + levels.size - levels.regular)
        return Tiles(levels.name, (*tiles, *atoms))
    kept = [level for level in np.argsort(-masses, kind="stable")[: most - 1] if masses[level] >= smallest]
    if len(kept) >= levels.size - 1:
        return Tiles(levels.name, tuple(range(levels.size)))
    number = {level: tile for tile, level in enumerate(sorted(kept))}
    return Tiles(levels.name, tuple(number.get(level, len(kept)) for level in range(levels.size)))


def coarsen(fine: Tiles, levels: Levels, masses: Floats, most: int) -> Tiles:
    """Join tiles to at most `most` beside the atoms; every coarse tile is a union of fine ones."""
    held: Floats = np.bincount(fine.table, weights=masses, minlength=fine.dimension).astype(np.float64)
    if levels.ordered:
        regular = fine.tile_of[levels.regular - 1] + 1
        joined = _runs(held[:regular], most)
        joined += range(joined[-1] + 1, joined[-1] + 1 + fine.dimension - regular)
    elif fine.dimension <= most:
        joined = list(range(fine.dimension))
    else:
        kept = sorted(np.argsort(-held, kind="stable")[: most - 1])
        joined = [kept.index(number) if number in kept else most - 1 for number in range(fine.dimension)]
    return Tiles(fine.column, tuple(joined[number] for number in fine.tile_of))


def _runs(masses: Floats, most: int) -> list[int]:
    """Number the levels in runs of about equal mass, `most` of them or fewer.

    A level goes where the middle of its mass falls among `most` equal parts, so a level as heavy as two parts is always
    alone, and there are never more runs than parts.
    """
    total = float(masses.sum())
    if total <= 0 or most <= 1:
        return [0] * len(masses)
    middle = np.cumsum(masses) - masses / 2
    parts = np.minimum(np.floor(middle / total * most), most - 1)
    return [int(number) for number in np.unique(parts, return_inverse=True)[1]]
