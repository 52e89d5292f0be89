"""Noisy embedding: the noisy mean of the features that a release measured, and what rows of one's own look like in it.

Features are counted in standard deviations of their noise, so that noise has the same length in every direction. There
may be very many of them (a release by mosaic has a hundred thousand counts), so a table of rows by features is never made:
for a row, an indicator is the number of its cell, and only what stands behind the indicators is a vector.
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.features import FeatureMap, Product, Records
from pointillist.features.algebra import outer
from pointillist.fitting.evidence import Table, estimated_rows, readable_tables
from pointillist.release import MeasuredBlock, Measurement, Release

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_BATCH = 4096
"""Rows whose features are held at a time."""
_PAIRS = 1 << 22
"""The most pairs of rows that are compared at a time."""


@dataclass(frozen=True, eq=False)
class Piece:
    """One block of features: indicators in front, which say in which cell a row is, and a vector behind."""

    map: FeatureMap
    weight: float
    """The features' weight in the release's map."""
    front: Product | None
    """The indicators; none if there are none."""
    behind: tuple[FeatureMap, ...]
    """The features behind are all products of one from each of these; none means the single feature 1."""
    target: Floats
    """The noisy mean, (cells, features behind), in standard deviations of its noise."""
    scale: float
    """How many standard deviations a feature of 1 is, as a mean over all rows."""

    @classmethod
    def of(cls, block: MeasuredBlock, rows: float) -> Self:
        """A block of a measurement, of some number of rows."""
        added = float(block.added) if block.map.most_ones is not None else block.scale
        parts = block.map.factors
        front = tuple(itertools.takewhile(lambda part: part.indicator, parts))
        behind = parts[len(front) :]
        cells = math.prod(part.dimension for part in front)
        target, scale = (block.values / block.sigma).reshape(cells, -1), added * rows / block.sigma
        return cls(block.map, block.weight, Product(front) if front else None, behind, target, scale)

    @property
    def counts(self) -> bool:
        """Whether its features are counts."""
        return not self.behind

    def cells(self, records: Records) -> Integers:
        """The cell of every row."""
        return np.zeros(records.rows, dtype=np.int64) if self.front is None else self.front.cells(records)

    def vectors(self, records: Records) -> Floats:
        """What stands behind a row's indicators, in standard deviations: (rows, features)."""
        if not self.behind:
            return np.full((records.rows, 1), self.scale)
        return np.asarray(self.scale * outer([part(records) for part in self.behind]))

    def mean(self, records: Records, weights: Floats) -> Floats:
        """The weighted sum of the rows' features: (cells, features)."""
        found = np.zeros(self.target.shape)
        for part, place in batches(records):
            cells = self.cells(part)
            if self.counts:
                found[:, 0] += self.scale * np.bincount(cells, weights=weights[place], minlength=len(found))
                continue
            weighted = self.vectors(part) * weights[place, None]
            if len(found) == 1:
                found[0] += weighted.sum(axis=0)
            else:
                np.add.at(found, cells, weighted)
        return found

    def along(self, records: Records, direction: Floats) -> Floats:
        """The inner product of every row's features with a direction."""
        found = np.empty(records.rows)
        for part, place in batches(records):
            cells = self.cells(part)
            found[place] = (
                self.scale * direction[cells, 0]
                if self.counts
                else np.einsum("ij,ij->i", self.vectors(part), direction[cells])
            )
        return found

    def products(self, first: Records, second: Records) -> Floats:
        """The inner products of all rows of two tables: the kernel that the features stand for."""
        same = self.cells(first)[:, None] == self.cells(second)[None, :]
        if self.counts:
            return self.scale**2 * same
        return np.where(same, self.vectors(first) @ self.vectors(second).T, 0.0)


@dataclass(frozen=True, eq=False)
class MeanEmbedding:
    """All that a release measured, as a mean over its rows."""

    pieces: tuple[Piece, ...]
    rows: float
    """The number of private rows, exact or estimated."""
    exact: bool
    """Whether that number is public. If not, no more than the direction of the embedding is known for sure."""

    @classmethod
    def of(cls, release: Release) -> Self:
        """The embedding of a release."""
        tables = [table for each in release.measurements for table in readable_tables(each)]
        return cls(
            tuple(piece for each in release.measurements for piece in _pieces(each, _rows(release, tables))),
            _rows(release, tables),
            release.rows is not None,
        )

    @property
    def dimension(self) -> int:
        return sum(piece.target.size for piece in self.pieces)

    @cached_property
    def target(self) -> "Embedded":
        """The noisy mean itself."""
        return Embedded(tuple(piece.target for piece in self.pieces))

    def of_rows(self, records: Records, weights: Floats) -> "Embedded":
        """The mean of the features of weighted rows."""
        return Embedded(tuple(piece.mean(records, weights) for piece in self.pieces))

    def along(self, records: Records, direction: "Embedded") -> Floats:
        """The inner product of every row's features with a direction."""
        found = np.zeros(records.rows)
        for piece, part in zip(self.pieces, direction.parts, strict=True):
            found += piece.along(records, part)
        return found

    def products(self, first: Records, second: Records) -> Floats:
        """The kernel of all rows of two tables."""
        found = np.zeros((first.rows, second.rows))
        step = max(1, _PAIRS // max(1, second.rows))
        for start in range(0, first.rows, step):
            part = first.part(slice(start, start + step))
            for piece in self.pieces:
                found[start : start + step] += piece.products(part, second)
        return found

    def lengths(self, records: Records) -> Floats:
        """The squared length of every row's features."""
        found = np.zeros(records.rows)
        for piece in self.pieces:
            if piece.counts:
                found += piece.scale**2
                continue
            for part, place in batches(records):
                vectors = piece.vectors(part)
                found[place] += np.einsum("ij,ij->i", vectors, vectors)
        return found


@dataclass(frozen=True, eq=False)
class Embedded:
    """A vector in the space of the features, a part for each piece."""

    parts: tuple[Floats, ...]

    def __sub__(self, other: "Embedded") -> "Embedded":
        return Embedded(tuple(a - b for a, b in zip(self.parts, other.parts, strict=True)))

    def dot(self, other: "Embedded") -> float:
        return math.fsum(float(np.vdot(a, b)) for a, b in zip(self.parts, other.parts, strict=True))


def has_features(release: Release, columns: Iterable[str]) -> bool:
    """Whether some of the columns were measured by features that are no counts and no scores, such as waves."""
    maps = [block.map for each in release.measurements for block in each.blocks()]
    wanted = frozenset(columns)
    return any(each.most_ones is None and wanted & (each.code_columns | each.unit_columns) for each in maps)


def _rows(release: Release, tables: list[Table]) -> float:
    if release.rows is not None:
        return max(1.0, float(release.rows))
    if not tables:
        raise UsageError("the release counts nothing, so the number of its rows is not known.")
    return estimated_rows(tables)


def _pieces(measurement: Measurement, rows: float) -> Iterator[Piece]:
    for block in measurement.blocks():
        if block.weight > 0:
            yield Piece.of(block, rows)


def batches(records: Records) -> Iterator[tuple[Records, slice]]:
    """Rows in parts, and where each part stands."""
    for start in range(0, records.rows, _BATCH):
        place = slice(start, min(records.rows, start + _BATCH))
        yield records.part(place), place
