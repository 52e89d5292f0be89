"""Tiling: from a column's noisy fine marginal to tiles that hold enough rows each. Post-processing: costs nothing."""

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.levels import Levels

Floats = NDArray[np.float64]


def project_to_simplex(values: Floats, total: float = 1.0) -> Floats:
    """The nearest point with no negative entry and the given total: the least change that makes counts possible."""
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(values) + 1)
    last = np.flatnonzero(ordered > excess)[-1]
    return np.maximum(values - excess[last], 0.0)


def denoise_ordered(values: Floats, sigma: float) -> Floats:
    """Noisy counts of neighbouring levels, with what the noise alone explains smoothed away.

    Haar wavelets: sums and differences of ever longer runs of neighbours. A difference below the largest that noise
    alone would show is set to none, so empty tails become flat while spikes and edges stay. Averaged over shifts, so
    that it does not matter where the runs begin. Without it, the noise in many empty bins of a long tail would be taken
    for mass there, and means of skewed columns would come out too large.
    """
    size = len(values)
    length = 1 << max(0, size - 1).bit_length()
    padded = np.concatenate([values, values[::-1]])[: max(length, size)]
    padded = np.pad(padded, (0, length - len(padded)), mode="edge") if len(padded) < length else padded
    limit = sigma * np.sqrt(2 * np.log(max(2, length)))
    shifts = range(0, length, max(1, length // 16))
    total = np.zeros(length)
    for shift in shifts:
        total += np.roll(_haar_threshold(np.roll(padded, shift), limit), -shift)
    return (total / len(shifts))[:size]


def _haar_threshold(values: Floats, limit: float) -> Floats:
    if len(values) == 1:
        return values
    even, odd = values[0::2], values[1::2]
    sums, gaps = (even + odd) / np.sqrt(2), (even - odd) / np.sqrt(2)
    gaps = np.where(np.abs(gaps) > limit, gaps, 0.0)
    sums = _haar_threshold(sums, limit)
    result = np.empty_like(values)
    result[0::2], result[1::2] = (sums + gaps) / np.sqrt(2), (sums - gaps) / np.sqrt(2)
    return result


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
