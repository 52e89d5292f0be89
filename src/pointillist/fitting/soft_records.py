"""Soft records: a batch of generated rows that gradients can flow through, and feature maps on them.

A row's column is a distribution: probabilities over tiles, a position in [0, 1], or both (a number that may also be a
special value or missing). Columns are independent given the row, so expected features of products are products of
expected features. The same form serves rows of a network, which all count the same, and components of a mixture, which
have weights. Every feature map of the library but landmarks is understood here. Needs torch.
"""

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from pointillist.features import Concat, FeatureMap, Hermite, Product, Products, RandomFourier, Tiles, Weighted
from pointillist.fitting.evidence import aggregation
from pointillist.schema.levels import Levels

Tensor = torch.Tensor
Floats = NDArray[np.float64]
LEAVES = (Tiles, RandomFourier, Hermite)
"""The simplest maps that have a soft form."""


@dataclass(frozen=True, eq=False)
class SoftColumn:
    """What is settled about a column before any row is made."""

    level: Levels
    tiles: Tiles | None
    """What its probabilities are over; none: it has a position only."""
    placed: bool
    """Whether rows give regular levels a position of their own; otherwise positions follow from the tiles."""
    _matrices: dict[FeatureMap, Tensor] = field(default_factory=dict, repr=False)

    def matrix(self, leaf: FeatureMap) -> Tensor:
        """The expected features of a leaf in each tile, levels of a tile being equally likely; (tiles, features).

        For random Fourier features: the waves of this column, cosines then sines. Tiles whose levels are placed by the
        row itself read 0: `row_features` adds what they give.
        """
        if leaf not in self._matrices:
            assert self.tiles is not None
            inside = aggregation(Tiles(self.level.name, tuple(range(self.level.size))), self.tiles).T
            inside /= inside.sum(axis=1, keepdims=True)
            if self.placed:
                inside[self._regular() > 0] = 0.0
            if isinstance(leaf, Tiles):
                found = aggregation(self.tiles, leaf)
            elif isinstance(leaf, RandomFourier):
                waves = leaf.level_waves(self.level.name, self.level.spans if self.level.numeric else None)
                found = inside @ np.concatenate([waves.real, waves.imag], axis=1)
            else:
                found = leaf.expectation(Products({self.level.name: inside}, {self.level.name: self.level.spans}))
            self._matrices[leaf] = torch.as_tensor(found, dtype=torch.float32)
        return self._matrices[leaf]

    def regular(self) -> Tensor:
        """1 for tiles of regular levels, 0 for atoms and gaps."""
        return torch.as_tensor(self._regular(), dtype=torch.float32)

    def _regular(self) -> Floats:
        assert self.tiles is not None
        found = np.zeros(self.tiles.dimension)
        found[np.unique(self.tiles.table[: self.level.regular])] = 1.0
        return found


@dataclass(frozen=True, eq=False)
class SoftRecords:
    """A batch of rows in the making."""

    rows: int
    columns: dict[str, SoftColumn]
    probabilities: dict[str, Tensor]
    """For each column with tiles, one row of probabilities for each record."""
    places: dict[str, Tensor]
    """For each placed column the position of every record, if it is regular."""
    weights: Tensor | None = None
    """How much each record counts, 1 in all; none: all the same."""

    def weigh(self, features: Tensor) -> Tensor:
        """Features (..., rows, dimension) such that a plain sum over records is their mean."""
        return features / self.rows if self.weights is None else self.weights[:, None] * features


def soft_features(feature_map: FeatureMap, soft: SoftRecords) -> Tensor:
    """The expected features of every record: (rows, dimension)."""
    match feature_map:
        case Tiles():
            return _tiles(feature_map, soft)
        case RandomFourier():
            return _fourier(feature_map, soft)
        case Hermite():
            return _hermite(feature_map, soft)
        case Concat():
            return torch.cat([soft_features(part, soft) for part in feature_map.maps], dim=1)
        case Weighted():
            return feature_map.weight * soft_features(feature_map.map, soft)
        case Product():
            found = soft_features(feature_map.maps[0], soft)
            for part in feature_map.maps[1:]:
                found = (found[:, :, None] * soft_features(part, soft)[:, None, :]).flatten(1)
            return found
    raise TypeError(f"{type(feature_map).__name__} has no soft form")


def _tiles(feature_map: Tiles, soft: SoftRecords) -> Tensor:
    column = soft.columns[feature_map.column]
    if column.tiles is None and feature_map.dimension == 1:  # every row counts 1
        return torch.ones(soft.rows, 1)
    probabilities = soft.probabilities[feature_map.column]
    if column.tiles == feature_map:
        return probabilities
    return probabilities @ column.matrix(feature_map)


def _hermite(feature_map: Hermite, soft: SoftRecords) -> Tensor:
    column, place = soft.columns[feature_map.column], soft.places.get(feature_map.column)
    found = None if place is None else _recursion(feature_map, place - 0.5)
    if column.tiles is None:
        assert found is not None
        return found
    probabilities = soft.probabilities[feature_map.column]
    held = probabilities @ column.matrix(feature_map)
    return held if found is None else held + (probabilities @ column.regular())[:, None] * found


def _recursion(feature_map: Hermite, x: Tensor) -> Tensor:
    rho, x = feature_map.rho, feature_map.scale * x
    found = [(1 - rho * rho) ** 0.25 * torch.exp(-rho / (1 + rho) * x * x)]
    if feature_map.order >= 1:
        found.append((2 * rho) ** 0.5 * x * found[0])
    for k in range(1, feature_map.order):
        found.append((2 * rho / (k + 1)) ** 0.5 * x * found[k] - rho * (k / (k + 1)) ** 0.5 * found[k - 1])
    return torch.stack(found, dim=1)


def _fourier(feature_map: RandomFourier, soft: SoftRecords) -> Tensor:
    """E exp(i w.x) is a product over columns; those with a position alone are one matrix product of angles."""
    found = None
    plain = [name for name in feature_map.columns if soft.columns[name].tiles is None]
    if plain:
        places = torch.stack([soft.places[name] for name in plain], dim=1)
        found = _turn(places @ torch.stack([_frequency(feature_map, name) for name in plain]))
    for name in feature_map.read:
        if name in plain:
            continue
        column, probabilities = soft.columns[name], soft.probabilities[name]
        cosines, sines = column.matrix(feature_map).chunk(2, dim=1)
        both = torch.stack([cosines, sines], dim=2).flatten(1)
        wave = torch.view_as_complex((probabilities @ both).reshape(soft.rows, -1, 2))
        if name in soft.places:
            share = (probabilities @ column.regular())[:, None]
            wave = wave + share * _turn(soft.places[name][:, None] * _frequency(feature_map, name))
        found = wave if found is None else found * wave
    assert found is not None
    return torch.cat([found.real, found.imag], dim=1) / len(feature_map.frequencies) ** 0.5


def _turn(angles: Tensor) -> Tensor:
    """exp(i a)."""
    return torch.polar(torch.ones_like(angles), angles)


def _frequency(feature_map: RandomFourier, name: str) -> Tensor:
    return torch.as_tensor(feature_map.frequencies[:, feature_map.columns.index(name)], dtype=torch.float32)
