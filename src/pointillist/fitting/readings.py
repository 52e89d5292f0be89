"""Readings: what a release itself says about the private rows, without any model.

A noisy count is the true count plus noise of a known scale. So the sum over rows of any function of a few columns can be
read off the tables that hold those columns: without bias, and with an error that is known. Every table that has some of
the columns says something about them (its other columns are added up); least squares weighs what they say.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.fitting.evidence import Table, estimated_rows, readable_tables
from pointillist.release import Release

Floats = NDArray[np.float64]
Key = tuple[Tiles | None, ...]
"""For each column its tiles, or none where the column is added up."""

_CERTAIN = 1e-3
"""Standard deviation, in rows, that stands for none: where the number of rows is public."""
_MOST_STEPS = 500


@dataclass(frozen=True, eq=False)
class View:
    """All that was measured of some columns over one choice of tiles."""

    key: Key
    values: Floats
    """Noisy counts; a column that is added up has an axis of length 1."""
    precision: float
    """One over the variance of the noise on each of them."""


@dataclass(frozen=True, eq=False)
class Readings:
    """The tables of a release, ready to be read."""

    tables: tuple[Table, ...]
    rows: int | None
    """The number of rows, where it is public."""
    _views: dict[tuple[str, ...], list[View]] = field(default_factory=dict, repr=False)
    _systems: dict[tuple[str, ...], "_System"] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, release: Release) -> Self:
        """All tables of a release."""
        return cls(tuple(table for each in release.measurements for table in readable_tables(each)), release.rows)

    @cached_property
    def total(self) -> float:
        """The number of rows, at least 1, as far as the tables tell it."""
        return max(1.0, float(self.rows)) if self.rows is not None else estimated_rows(list(self.tables))

    def finest(self, columns: Sequence[str]) -> View | None:
        """What was measured of these columns together over the finest tiles; none if they were not."""
        together = [view for view in self.views(columns) if None not in view.key]
        return max(together, key=lambda view: view.values.size, default=None)

    def views(self, columns: Sequence[str]) -> list[View]:
        """All that was measured of any of these columns, joined where tiles are the same."""
        if tuple(columns) not in self._views:
            self._views[tuple(columns)] = self._collect(columns)
        return self._views[tuple(columns)]

    def _collect(self, columns: Sequence[str]) -> list[View]:
        held: dict[Key, list[tuple[Floats, float]]] = {}
        for table in self.tables:
            axes = {leaf.column: axis for axis, leaf in enumerate(table.leaves)}
            mine = [axes[name] for name in columns if name in axes]
            if not mine:
                continue
            others = [axis for axis in range(len(table.leaves)) if axis not in mine]
            added = math.prod(table.leaves[axis].dimension for axis in others)
            key = tuple(table.leaves[axes[name]] if name in axes else None for name in columns)
            values = table.values.transpose(mine + others).reshape([*_shape(key), added]).sum(axis=-1)
            held.setdefault(key, []).append((values, 1 / (added * table.sigma**2)))
        if self.rows is not None:
            held[(None,) * len(columns)] = [(np.full((1,) * len(columns), float(self.rows)), 1 / _CERTAIN**2)]
        return [_joined(key, parts) for key, parts in held.items()]

    def ratios(self, columns: Sequence[str], over: Floats, under: Floats) -> tuple[Floats, Floats] | None:
        """Sums over rows of some functions, by that of another one; and the standard deviation of the noise in them.

        Functions are given by their values on the tiles of `finest`, an axis for each column; `over` has one more axis,
        for several functions. None where the noise leaves nothing of the sum to divide by.
        """
        system = self._system(columns)
        if system is None:
            return None
        functions = np.concatenate([over, under[..., None]], axis=-1)
        sums, weights = system.read(functions)
        axes = tuple(range(len(columns)))
        if sums[-1] <= 3 * math.sqrt(float((functions * weights).sum(axis=axes)[-1])):
            return None
        ratios = sums[:-1] / sums[-1]
        # Where a ratio is right, over - ratio * under adds up to nothing: what it does add up to is noise.
        gaps, gap_weights = (each[..., :-1] - ratios * each[..., -1:] for each in (functions, weights))
        return ratios, np.sqrt(np.maximum((gaps * gap_weights).sum(axis=axes), 0.0)) / sums[-1]

    def sums(self, columns: Sequence[str], functions: Floats) -> tuple[Floats, Floats] | None:
        """Sums over rows of functions (on the tiles of `finest`, one more axis for several), and their covariance."""
        system = self._system(columns)
        if system is None:
            return None
        found, weights = system.read(functions)
        count = functions.shape[-1]
        return found, functions.reshape(-1, count).T @ weights.reshape(-1, count)

    def _system(self, columns: Sequence[str]) -> "_System | None":
        finest = self.finest(columns)
        if finest is not None and tuple(columns) not in self._systems:
            nested = [view for view in self.views(columns) if _nests(finest.key, view.key)]
            self._systems[tuple(columns)] = _System(nested, finest.key)
        return self._systems.get(tuple(columns))


def _shape(key: Key) -> tuple[int, ...]:
    return tuple(1 if tiles is None else tiles.dimension for tiles in key)


def _joined(key: Key, parts: list[tuple[Floats, float]]) -> View:
    precision = math.fsum(each for _, each in parts)
    return View(key, np.asarray(sum(values * each for values, each in parts) / precision), precision)


def _nests(fine: Key, coarse: Key) -> bool:
    """Whether every tile of `fine` lies in one tile of `coarse`."""
    return all(
        b is None or (a is not None and len(set(zip(a.tile_of, b.tile_of, strict=True))) == a.dimension)
        for a, b in zip(fine, coarse, strict=True)
    )


class _System:
    """Least squares for the private counts over the finest tiles; solved only for what is asked."""

    def __init__(self, views: list[View], key: Key):
        self.shape = _shape(key)
        self.precisions = [view.precision for view in views]
        self.nests = [
            tuple(_Nest.of(fine, coarse) for fine, coarse in zip(key, view.key, strict=True)) for view in views
        ]
        self.wanted = np.zeros(self.shape)
        for view, nests in zip(views, self.nests, strict=True):
            self.wanted += view.precision * _spread(view.values, nests)

    def apply(self, cells: Floats) -> Floats:
        """The normal equations' matrix, on functions along the last axis."""
        found = np.zeros_like(cells)
        for precision, nests in zip(self.precisions, self.nests, strict=True):
            added = cells
            for axis, nest in enumerate(nests):
                added = nest.add_up(added, axis)
            found += precision * _spread(added, nests)
        return found

    def read(self, functions: Floats) -> tuple[Floats, Floats]:
        """For each function f (last axis) its sum over rows, and the weights P^-1 f that the cells have in it."""
        scale = 1 / sum(self.precisions)
        weights = scale * _solve(lambda cells: scale * self.apply(cells), functions)
        return (weights * self.wanted[..., None]).sum(axis=tuple(range(len(self.shape)))), weights


@dataclass(frozen=True, eq=False)
class _Nest:
    """How the tiles of a column lie in coarser ones."""

    parents: NDArray[np.intp]
    """For every fine tile the coarse one."""
    order: NDArray[np.intp] | None
    """The fine tiles sorted by their coarse one; none if they are the same."""
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, fine: Tiles | None, coarse: Tiles | None) -> Self:
        assert fine is not None
        parents = np.zeros(fine.dimension, dtype=np.intp)
        if coarse is not None:
            parents[fine.table] = coarse.table
        order = np.argsort(parents, kind="stable")
        starts = np.searchsorted(parents[order], np.arange(1 if coarse is None else coarse.dimension))
        return cls(parents, None if fine == coarse else order, starts)

    def add_up(self, cells: Floats, axis: int) -> Floats:
        """Fine cells added up to coarse ones, along one axis."""
        if self.order is None:
            return cells
        return np.asarray(np.add.reduceat(cells.take(self.order, axis=axis), self.starts, axis=axis))


def _spread(values: Floats, nests: tuple[_Nest, ...]) -> Floats:
    """Every fine cell gets the value of its coarse one: the transpose of adding up."""
    for axis, nest in enumerate(nests):
        if nest.order is not None:
            values = values.take(nest.parents, axis=axis)
    return values


def _solve(apply: Callable[[Floats], Floats], wanted: Floats) -> Floats:
    """Conjugate gradients, for several right-hand sides at once. There are few different tiles, so it takes few steps."""
    axes = tuple(range(wanted.ndim - 1))
    found, left = np.zeros_like(wanted), wanted.copy()
    way, square = left.copy(), np.square(left).sum(axis=axes)
    enough = 1e-20 * square
    for _ in range(_MOST_STEPS):
        if (square <= enough).all():
            break
        moved = apply(way)
        length = square / np.maximum((way * moved).sum(axis=axes), np.finfo(float).tiny)
        found += length * way
        left -= length * moved
        before, square = square, np.square(left).sum(axis=axes)
        way = left + square / np.maximum(before, np.finfo(float).tiny) * way
    return found
