"""Fit to features: a mixture fitted to any release but landmarks, by gradient descent on its likelihood. Needs torch.

A component is a product of one distribution for each column, and the expected features of such a product are closed
forms for every map of the library. So the loss is exact: no rows are drawn, no batch adds noise of its own. A number
is a bump (a normal distribution on the grid of its bins) beside its special values; categories, and numbers that were
measured over uneven tiles, have free probabilities. With a label, every component belongs to one class.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pointillist.features import Tiles
from pointillist.features.soft_records import SoftColumn, SoftRecords
from pointillist.fitting.descent import falling, move
from pointillist.fitting.evidence import measured_tiles, refine
from pointillist.fitting.likelihood import Likelihood
from pointillist.generators.drawing import even
from pointillist.generators.mixture.mixture import Mixture
from pointillist.generators.mixture.settings import MixtureSettings
from pointillist.progress import Progress
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]

_FIRST_WIDTH = 0.15
"""Standard deviation of a new bump, in parts of the column's range."""
_REACH = 3.0
"""Up to this many columns squared, new bumps lie anywhere in the range."""


def fit_by_descent(
    likelihood: Likelihood,
    levels: tuple[Levels, ...],
    settings: MixtureSettings,
    *,
    label: str | None,
    shares: Floats,
    seed: int,
    progress: Progress,
) -> Mixture:
    """The likeliest mixture; `shares` are those of the label's classes, one share of 1 where there is no label."""
    columns = {each.name: _column(each, likelihood, settings.grain) for each in levels}
    blend = _Blend(columns, label, shares, settings.components, seed)
    rate, steps = settings.rate, settings.steps
    optimiser = torch.optim.Adam(blend.parameters, lr=rate, betas=(0.9, 0.99))
    # Once chi^2 is what the noise alone explains, there is nothing left to learn: the rate runs out soon after.
    last, cooling = steps, max(1, steps // 4)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * falling(step, steps) * min(1.0, (step + 1) / 10, (last - step) / cooling)
        chi_squared = likelihood.chi_squared(blend.records())
        move(optimiser, 0.5 * chi_squared)
        if settings.stop and last == steps and chi_squared.item() <= likelihood.dimension:
            last = min(steps, step + 1 + cooling)
        progress("fit", (step + 1) / last)
        if step + 1 == last:
            break
    return blend.mixture()


def _column(level: Levels, likelihood: Likelihood, grain: int) -> SoftColumn:
    """A column over the coarsest tiles that tell apart what the release does; positions need `grain` tiles."""
    mine = measured_tiles(level.name, [term.map for term in likelihood.terms])
    if any(level.name in term.map.unit_columns for term in likelihood.terms):
        mine.append(_grid(level, grain))
    if not mine:
        raise ValueError(f"column {level.name!r} was not measured")
    return SoftColumn(level, refine(level.name, level.size, mine), placed=False)


def _grid(level: Levels, grain: int) -> Tiles:
    """Regular levels in at most `grain` runs of about the same number; every atom by itself."""
    runs = min(grain, level.regular)
    regular = tuple(number * runs // level.regular for number in range(level.regular))
    return Tiles(level.name, regular + tuple(range(runs, runs + level.size - level.regular)))


class _Free:
    """Columns with as many tiles each, whose probabilities are free."""

    def __init__(self, columns: Sequence[SoftColumn], components: int, generator: torch.Generator):
        self.names = [column.level.name for column in columns]
        size = _tiles(columns[0]).dimension
        self.table = torch.randn(len(columns), components, size, generator=generator)
        self.parameters = [self.table]

    def probabilities(self) -> Tensor:
        return torch.softmax(self.table, dim=2)


class _Bumps:
    """Columns as bumps over the places of their regular tiles, with a free probability for each other tile."""

    def __init__(self, columns: Sequence[SoftColumn], components: int, generator: torch.Generator):
        self.names = [column.level.name for column in columns]
        self.places = torch.stack([_places(column) for column in columns])
        count, regular = self.places.shape
        self.narrowest = (0.5 / regular) ** 2  # half a tile
        self.atoms = torch.randn(count, components, _tiles(columns[0]).dimension - regular + 1, generator=generator)
        # In many dimensions points all over the range would be far from each other and from everything measured.
        reach = min(1.0, _REACH / math.sqrt(count))
        self.middles = 0.5 + reach * (torch.rand(count, components, generator=generator) - 0.5)
        self.widths = torch.full((count, components), math.log(_FIRST_WIDTH))
        self.parameters = [self.atoms, self.middles, self.widths]

    def probabilities(self) -> Tensor:
        free = torch.softmax(self.atoms, dim=2)
        precision = 0.5 / (torch.exp(2 * self.widths) + self.narrowest)
        distance = (self.places[:, None, :] - self.middles[:, :, None]) ** 2
        regular = torch.softmax(-precision[:, :, None] * distance, dim=2)
        return torch.cat([free[:, :, :1] * regular, free[:, :, 1:]], dim=2)


class _Blend:
    """The parameters of a mixture, and the mixture that they make."""

    def __init__(self, columns: dict[str, SoftColumn], label: str | None, shares: Floats, components: int, seed: int):
        generator = torch.Generator().manual_seed(seed)
        self.columns, self.label = columns, label
        present = np.flatnonzero(shares > 0)
        each = max(1, components // len(present))
        self.classes = torch.as_tensor(np.repeat(present, each))  # the same number for each class that has rows
        self.logits = torch.log(torch.as_tensor(shares, dtype=torch.float32)[self.classes] / each)
        found: dict[tuple[type[_Free] | type[_Bumps], int, int], list[SoftColumn]] = {}
        for name, column in columns.items():
            if name != label:
                kind = _Bumps if _is_grid(column) else _Free
                found.setdefault((kind, _tiles(column).dimension, len(_places(column))), []).append(column)
        self.groups = [kind(alike, len(self.classes), generator) for (kind, _, _), alike in found.items()]
        self.parameters = [self.logits, *(each for group in self.groups for each in group.parameters)]
        for parameter in self.parameters:
            parameter.requires_grad_()

    def records(self) -> SoftRecords:
        """Components as records with weights."""
        weights = torch.softmax(self.logits, dim=0)
        probabilities: dict[str, Tensor] = {}
        for group in self.groups:
            probabilities |= dict(zip(group.names, group.probabilities().unbind(), strict=True))
        if self.label is not None:
            size = _tiles(self.columns[self.label]).dimension
            probabilities[self.label] = torch.nn.functional.one_hot(self.classes, size).to(torch.float32)
        return SoftRecords(len(weights), self.columns, probabilities, {}, weights)

    def mixture(self) -> Mixture:
        """The result, in plain numbers; levels of a tile are equally likely."""
        with torch.no_grad():
            soft = self.records()
        assert soft.weights is not None
        weights = soft.weights.numpy().astype(np.float64)
        tiles = {name: _tiles(column) for name, column in self.columns.items()}
        return Mixture(
            weights / weights.sum(),
            tiles,
            {name: soft.probabilities[name].numpy().astype(np.float64) for name in tiles},
            {name: even(each) for name, each in tiles.items()},
        )


def _tiles(column: SoftColumn) -> Tiles:
    assert column.tiles is not None
    return column.tiles


def _is_grid(column: SoftColumn) -> bool:
    """Whether a column's tiles are runs of its bins, about as many each, so that a bump has a shape on them."""
    if not column.level.numeric:
        return False
    return _tiles(column).tile_of == _grid(column.level, len(_places(column))).tile_of


def _places(column: SoftColumn) -> Tensor:
    """The middle of each regular tile of a number."""
    level = column.level
    if not level.numeric:
        return torch.zeros(0)
    low, high = level.spans
    table, middle = _tiles(column).table[: level.regular], ((low + high) / 2)[: level.regular]
    counted = np.bincount(table)
    return torch.as_tensor((np.bincount(table, weights=middle) / counted)[counted > 0], dtype=torch.float32)
