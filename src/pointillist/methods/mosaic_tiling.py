"""The tiles of mosaic: from a column's noisy marginal to tiles that hold enough rows each. Post-processing."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.schema.levels import Levels, coarse

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


_FINER = 2
"""From one tiling of a column to the next finer one, there are so many times more tiles."""
_ROUNDED = 1.25
"""A tiling may have so many times more tiles than would suit a table."""


_FULL = 0.8
"""Cells of a table by how many times more rows than noise there are, at the least."""


class Tilings(NamedTuple):
    """The tiles of a column at several resolutions: each tile is made of tiles of the next finer ones."""

    usual: Tiles
    finer: tuple[Tiles, ...] = ()
    """Of an ordered column, coarser ones first."""

    def at_most(self, count: float) -> Tiles:
        """The finest with no more tiles than so many, or a few more; the usual ones at least."""
        return next((each for each in self.finer[::-1] if each.dimension <= _ROUNDED * count), self.usual)


def tilings(levels: Levels, masses: Floats, smallest: float, usual: int, most: int) -> Tilings:
    """Tiles that suit the usual noise, and for an ordered column finer ones up to `most`; see `tile` for the rest."""
    if not levels.ordered:
        return Tilings(tile(levels, masses, smallest, most))
    counts = [usual]
    while counts[-1] * _FINER <= most:
        counts.append(counts[-1] * _FINER)
    found = [tile(levels, masses, min(smallest, float(masses.sum()) / (2 * counts[-1])), counts[-1])]
    for count in counts[-2::-1]:
        found.append(coarsen(found[-1], levels, masses, count))
    return Tilings(found[-1], tuple(found[-2::-1]))


def suiting_cells(signal: float, strength: float, noises: float) -> float:
    """How many cells a table has room for that has so many times more rows than noise on a cell.

    A tile a side for every `noises` of them, or, where that is few, about as many cells as times. Where the columns
    depend on each other, rows crowd in a part of the cells, and there can be the more of them: as in a table of two normal
    variables whose halves go together as much.
    """
    cells = max((signal / noises) ** 2, _FULL * signal)
    return cells / max(math.cos(math.pi / 2 * min(strength, 1.0)), 1 / math.sqrt(cells) if cells > 1 else 1.0)


def suiting_tiles(first: Tilings, second: Tilings, cells: float) -> tuple[Tiles, Tiles]:
    """The tiles of a table with room for so many cells: where one column has few, there can be more of the other."""
    if first.finer and second.finer:
        return first.at_most(math.sqrt(cells)), second.at_most(math.sqrt(cells))
    return first.at_most(cells / second.usual.dimension), second.at_most(cells / first.usual.dimension)


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
