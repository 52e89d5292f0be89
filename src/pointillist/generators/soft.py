"""Soft records: a batch of generated rows that gradients can flow through, and feature maps on them.

A column that a map reads as levels is a row of probabilities; one that it reads as a position is a number in [0, 1].
Every feature map of the library is understood here, so any release can be a network's loss. Needs torch.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from pointillist.features import Concat, FeatureMap, Hermite, Product, RandomFourier, Tiles, Weighted
from pointillist.generators.evidence import aggregation

Tensor = torch.Tensor


@dataclass(frozen=True, eq=False)
class SoftRecords:
    """A batch of rows in the making."""

    rows: int
    tiles: dict[str, Tiles]
    """For each column that is read as levels, the tiles that its probabilities are over."""
    probabilities: dict[str, Tensor]
    units: dict[str, Tensor]


def soft_features(feature_map: FeatureMap, soft: SoftRecords) -> Tensor:
    """The features of every row: (rows, dimension)."""
    match feature_map:
        case Tiles():
            return _tiles(feature_map, soft)
        case RandomFourier():
            x = torch.stack([soft.units[name] for name in feature_map.columns], dim=1)
            angles = x @ _frequencies(feature_map)
            return torch.cat([torch.cos(angles), torch.sin(angles)], dim=1) / len(feature_map.frequencies) ** 0.5
        case Hermite():
            return _hermite(feature_map, soft.units[feature_map.column] - 0.5)
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


def mean_features(feature_map: FeatureMap, soft: SoftRecords) -> Tensor:
    """The mean features of the batch, without ever holding rows x features of a product: A'B instead."""
    match feature_map:
        case Concat():
            return torch.cat([mean_features(part, soft) for part in feature_map.maps])
        case Weighted():
            return feature_map.weight * mean_features(feature_map.map, soft)
        case Product() if len(feature_map.maps) > 1:
            first = soft_features(Product(feature_map.maps[:-1]), soft)
            return (first.T @ soft_features(feature_map.maps[-1], soft)).flatten() / soft.rows
    return soft_features(feature_map, soft).mean(dim=0)


def _tiles(feature_map: Tiles, soft: SoftRecords) -> Tensor:
    base = soft.tiles[feature_map.column]
    probabilities = soft.probabilities[feature_map.column]
    if base == feature_map:
        return probabilities
    return probabilities @ torch.as_tensor(aggregation(base, feature_map), dtype=probabilities.dtype)


def _hermite(feature_map: Hermite, x: Tensor) -> Tensor:
    rho = feature_map.rho
    found = [(1 - rho * rho) ** 0.25 * torch.exp(-rho / (1 + rho) * x * x)]
    if feature_map.order >= 1:
        found.append((2 * rho) ** 0.5 * x * found[0])
    for k in range(1, feature_map.order):
        found.append((2 * rho / (k + 1)) ** 0.5 * x * found[k] - rho * (k / (k + 1)) ** 0.5 * found[k - 1])
    return torch.stack(found, dim=1)


@lru_cache(maxsize=16)
def _frequencies(feature_map: RandomFourier) -> Tensor:
    return torch.as_tensor(np.ascontiguousarray(feature_map.frequencies.T), dtype=torch.float32)
