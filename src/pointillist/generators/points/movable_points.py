"""Movable points: rows whose places, levels and weights a gradient can still move; and rows once they are settled.

A number is a place in [0, 1]; a category, and whether a number is a special value or missing, is a softmax over tiles that
grows sharper as it cools. Settled, every point is a valid row of the schema. Needs torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import qmc
from torch import Tensor

from pointillist.errors import UsageError
from pointillist.features import FeatureMap, OneHot, Records, Tiles
from pointillist.features.indicator import aggregation
from pointillist.features.soft_records import SoftColumn, SoftRecords
from pointillist.fitting.denoising import project_to_simplex
from pointillist.fitting.evidence import Table, measured_tiles, refine
from pointillist.generators.drawing import draw_levels, even, quota
from pointillist.schema.level_values import placed
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]
Columns = dict[str, SoftColumn]

_SURE = 0.5
"""How much of its first level a point is sure of; the rest is spread like the column."""


def soft_columns(feature_maps: Sequence[FeatureMap], levels: Sequence[Levels]) -> Columns:
    """How each column is held, given the maps that will read it. A column that none reads stays as it begins."""
    for leaf in (leaf for each in feature_maps for leaf in each.leaves):
        if not leaf.has_soft:
            raise UsageError(
                f"points cannot be moved under {type(leaf).__name__} features: they have no gradient here. Fit the release "
                "by its own method."
            )
    positions = frozenset[str]().union(*(each.unit_columns for each in feature_maps))
    columns = {}
    for level in levels:
        mine = measured_tiles(level.name, feature_maps)
        others = [leaf for each in feature_maps for leaf in each.leaves if not isinstance(leaf, Tiles)]
        if any(level.name in leaf.code_columns for leaf in others) or not (mine or level.name in positions):
            mine.append(_levels(level, level.name in positions))
        tiles = refine(level.name, level.size, mine) if mine else None
        placed_only = tiles is not None and tiles.dimension == 1 and level.name in positions  # one tile tells nothing
        columns[level.name] = SoftColumn(level, None if placed_only else tiles, level.name in positions)
    return columns


def _levels(level: Levels, placed: bool) -> Tiles:
    """Every level by itself; where numbers have a place, only special values and gaps are told apart."""
    if not placed:
        return OneHot(level.name, level.size)
    return Tiles(level.name, (0,) * level.regular + tuple(range(1, level.size - level.regular + 1)))


@dataclass(frozen=True, eq=False)
class MovablePoints:
    """Points in the making."""

    columns: Columns
    fixed: dict[str, Tensor]
    """Probabilities that stay: the label's, one-hot."""
    logits: dict[str, Tensor]
    places: dict[str, Tensor]
    masses: Tensor
    """Logarithms of weights that need not add up to 1."""

    def __len__(self) -> int:
        return len(self.masses)

    @classmethod
    def blind(
        cls,
        columns: Columns,
        count: int,
        *,
        label: str | None,
        shares: Floats,
        tables: Sequence[Table],
        equal: bool,
        seed: int,
    ) -> Self:
        """Points all over the domain, from public facts alone: evenly placed, levels as often as noisy counts say.

        Rare classes get more points than their share, each with less weight; unless all must weigh the same (`equal`).
        """
        generator = np.random.default_rng(seed)
        spread = [name for name, column in columns.items() if column.placed]
        grid = qmc.Halton(len(spread), rng=generator).random(count) if spread else np.zeros((count, 0))
        places = {name: _float(grid[:, number]) for number, name in enumerate(spread)}
        fixed, masses = {}, np.zeros(count)
        if label is not None:
            tiles = columns[label].tiles
            assert tiles is not None
            present = shares > 0
            given = shares if equal else 0.5 * shares + 0.5 * present / present.sum()
            classes = generator.permutation(quota(given, count, generator))
            held = np.bincount(classes, minlength=len(shares))
            if not equal:
                masses = np.log(shares[classes] * count / held[classes])
            fixed[label] = torch.nn.functional.one_hot(torch.as_tensor(tiles.table[classes].astype(np.int64))).float()
            fixed[label] = torch.nn.functional.pad(fixed[label], (0, tiles.dimension - fixed[label].shape[1]))
        logits = {}
        for name, column in columns.items():
            if column.tiles is None or name == label:
                continue
            expected = _expected(column, tables)
            first = generator.permutation(quota(expected, count, generator))
            chances = (1 - _SURE) * expected + 1e-3
            logits[name] = _float(np.log(chances + _SURE * np.eye(len(expected))[first]))
        return cls(columns, fixed, logits, places, _float(masses))

    def parts(self, size: int) -> list["MovablePoints"]:
        """The same points in parts of at most this size."""
        return [self._part(slice(start, start + size)) for start in range(0, len(self), size)]

    def _part(self, rows: slice) -> "MovablePoints":
        cut = {
            field: {name: each[rows].clone() for name, each in getattr(self, field).items()}
            for field in ("fixed", "logits", "places")
        }
        return MovablePoints(self.columns, **cut, masses=self.masses[rows].clone())

    def records(self, temperature: float) -> SoftRecords:
        """As soft rows whose weights need not add up to 1."""
        chances = {name: torch.softmax(each / temperature, dim=1) for name, each in self.logits.items()}
        return SoftRecords(len(self), self.columns, {**self.fixed, **chances}, self.places, torch.exp(self.masses))

    def free(self, *, weights: bool, rate: float) -> torch.optim.Optimizer:
        """An optimiser of what can be moved."""
        moved = [
            {"params": list(self.places.values()), "lr": rate},
            {"params": list(self.logits.values()), "lr": 5 * rate},
            {"params": [self.masses] if weights else [], "lr": 2.5 * rate},
        ]
        for group in moved:
            group["rate"] = group["lr"]
            for each in group["params"]:  # type: ignore[attr-defined]
                each.requires_grad_()
        return torch.optim.Adam([group for group in moved if group["params"]], betas=(0.9, 0.99))

    def clamp(self) -> None:
        """Put what has left the range back to its end."""
        with torch.no_grad():
            for place in self.places.values():
                place.clamp_(0.0, 1.0)


def settled(parts: Sequence[MovablePoints], generator: np.random.Generator) -> tuple[Records, Floats]:
    """Every point as the row that it is nearest to, and weights that add up to 1."""
    columns = parts[0].columns
    count = sum(map(len, parts))
    codes: dict[str, NDArray[np.uint16]] = {}
    units: dict[str, Floats] = {}
    for name, column in columns.items():
        tile = _joined([part.fixed.get(name, part.logits.get(name)) for part in parts])
        place = _joined([part.places.get(name) for part in parts])
        found = np.zeros(count, dtype=np.uint16)
        if tile is not None:
            assert column.tiles is not None
            found = draw_levels(column.tiles, even(column.tiles), tile.argmax(axis=1), generator)
        codes[name] = found
        if column.level.numeric:
            low, high = (each[found] for each in column.level.spans)
            unit = low + generator.random(count) * (high - low) if place is None else place
            codes[name], units[name] = on_grid(column.level, found, unit, moved=place is not None)
    masses = _joined([part.masses for part in parts])
    assert masses is not None
    weights = np.exp(masses - masses.max())
    return Records(count, codes, units), weights / weights.sum()


def on_grid(
    level: Levels, codes: NDArray[np.uint16], units: Floats, *, moved: bool
) -> tuple[NDArray[np.uint16], Floats]:
    """Levels and places of the numbers that the rows will show: whole where they must be, special or missing as they are.

    Where points were `moved` by place, a regular level follows from the place.
    """
    regular = codes < level.regular
    if moved:
        codes = np.where(regular, _bin(level, units), codes).astype(np.uint16)
    values = placed(level, codes, units)
    places = level.to_unit(np.where(codes == level.missing, np.nan, values) if level.has_missing else values)
    # Rounding to decimals may have carried a number over the edge of its bin.
    return np.where(regular, _bin(level, places), codes).astype(np.uint16), places


def _bin(level: Levels, units: Floats) -> NDArray[np.intp]:
    values = level.from_unit(units)
    return np.searchsorted(level.edges[1:-1], np.round(values) if level.whole else values, side="right")


def _expected(column: SoftColumn, tables: Sequence[Table]) -> Floats:
    """The share of every tile of a column, by the best noisy count of it; evenly where it was not counted."""
    assert column.tiles is not None
    name, tiles = column.level.name, column.tiles
    shares = np.full(tiles.dimension, 1 / tiles.dimension)
    mine = [table for table in tables if name in table.columns and _nests(tiles, table, name)]
    if not mine:
        return shares
    best = max(mine, key=lambda table: (table.leaves[table.columns.index(name)].dimension, -table.sigma))
    axis = best.columns.index(name)
    counts = best.values.sum(axis=tuple(other for other in range(best.values.ndim) if other != axis))
    above = aggregation(tiles, best.leaves[axis])
    inside = above / above.sum(axis=0)
    return np.asarray(inside @ project_to_simplex(counts / max(1.0, counts.sum())))


def _nests(tiles: Tiles, table: Table, name: str) -> bool:
    leaf = table.leaves[table.columns.index(name)]
    return tiles.dimension == len(set(zip(tiles.tile_of, leaf.tile_of, strict=True)))


def _joined(parts: Sequence[Tensor | None]) -> Floats | None:
    there = [part.detach().numpy().astype(np.float64) for part in parts if part is not None]
    return np.concatenate(there) if there else None


def _float(values: Floats) -> Tensor:
    return torch.as_tensor(values, dtype=torch.float32)
