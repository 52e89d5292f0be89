"""The tiles of mosaic: from a column's noisy marginal to tiles that hold enough rows each. Post-processing."""

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.schema.levels import Levels, coarse

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def tile(levels: Levels, masses: Floats, smallest: float, most: int) -> Tiles:
    """Tiles of at least `smallest` mass where possible, at most `most` of them beside the atoms.

    Ordered columns: runs of neighbouring levels. They follow the public bins, in which people count: a heavy bin is cut
    into parts of about equal mass, light ones are joined. Every special value and what is missing keep their own tile.
    Other columns: the heaviest levels keep their own tile, and the rest share one.
    """
    if levels.ordered:
        runs = _runs(masses[: levels.regular], coarse(levels)[: levels.regular], smallest, most)
        atoms = range(int(runs[-1]) + 1, int(runs[-1]) + 1 + levels.size - levels.regular)
        return Tiles(levels.name, (*runs.tolist(), *atoms))
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
        joined = _equal(held[:regular], most).tolist()
        joined += range(joined[-1] + 1, joined[-1] + 1 + fine.dimension - regular)
    elif fine.dimension <= most:
        joined = list(range(fine.dimension))
    else:
        kept = sorted(np.argsort(-held, kind="stable")[: most - 1])
        joined = [kept.index(number) if number in kept else most - 1 for number in range(fine.dimension)]
    return Tiles(fine.column, tuple(joined[number] for number in fine.tile_of))


def _runs(masses: Floats, bins: Integers, smallest: float, most: int) -> Integers:
    """Number the levels in runs: heavy bins cut into equal parts, then the lightest run joined to a neighbour as long
    as it is too light or there are too many."""
    part = max(float(masses.sum()) / most, smallest)
    runs: list[tuple[int, float]] = []  # how many levels, how much mass
    for number in np.unique(bins):
        inside = masses[bins == number]
        pieces = _equal(inside, max(1, int(inside.sum() / part + 0.3)) if part > 0 else 1)
        sizes, held = np.bincount(pieces), np.bincount(pieces, weights=inside)
        runs += zip(sizes.tolist(), held.tolist(), strict=True)
    while len(runs) > 1:
        lightest = min(range(len(runs)), key=lambda place: runs[place][1])
        if runs[lightest][1] >= smallest and len(runs) <= most:
            break
        sides = [place for place in (lightest - 1, lightest + 1) if 0 <= place < len(runs)]
        first = min(lightest, min(sides, key=lambda place: runs[place][1]))
        (size, mass), (more_levels, more_mass) = runs[first : first + 2]
        runs[first : first + 2] = [(size + more_levels, mass + more_mass)]
    return np.repeat(np.arange(len(runs)), [size for size, _ in runs])


def _equal(masses: Floats, most: int) -> Integers:
    """Number the levels in runs of about equal mass, `most` of them or fewer.

    A level goes where the middle of its mass falls among `most` equal parts, so a level as heavy as two parts is always
    alone, and there are never more runs than parts.
    """
    total = float(masses.sum())
    if total <= 0 or most <= 1:
        return np.zeros(len(masses), dtype=np.int64)
    middle = np.cumsum(masses) - masses / 2
    parts = np.minimum(np.floor(middle / total * most), most - 1)
    return np.unique(parts, return_inverse=True)[1].astype(np.int64)
