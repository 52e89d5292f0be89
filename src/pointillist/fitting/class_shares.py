"""Class shares: how many records there are, and how frequent the classes of a label, as far as a release tells."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pointillist.errors import UsageError
from pointillist.features import Constant, Labelled
from pointillist.fitting.denoising import project_to_simplex
from pointillist.fitting.evidence import Table, estimated_rows, readable_tables
from pointillist.fitting.readings import Readings
from pointillist.release import Release
from pointillist.schema.levels import Levels, levels_of

Floats = NDArray[np.float64]

_CHANCE = 1e-6
"""How often noise alone may pass for a class that is there."""


class ClassShares(NamedTuple):
    """What every fit starts from."""

    rows: float
    """The estimated number of records, at least 1."""
    label: Levels | None
    """The images' label, or a table's target if it has classes."""
    shares: Floats
    """Of the label's levels; one share of 1 where there is no label."""


def class_shares(release: Release) -> ClassShares:
    """What a release tells about the number of records and the classes of its label."""
    rows = record_count(release)
    name = release.target if release.schema.label is None else release.schema.label
    label = next((each for each in levels_of(release.schema) if each.name == name), None)
    if label is None or label.numeric:
        return ClassShares(rows, None, np.ones(1))
    return ClassShares(rows, label, shares_of(release, label, _tables(release), rows))


def record_count(release: Release) -> float:
    """The number of records, at least 1: where it is not public, by tables of counts, or by a feature that is always 1."""
    if release.rows is not None:
        return max(1.0, float(release.rows))
    tables = _tables(release)
    if tables:
        return max(1.0, estimated_rows(tables))
    for block in (block for each in release.measurements for block in each.blocks()):
        if isinstance(block.map, Constant):
            return max(1.0, float(block.values[0] / block.added))
    raise UsageError(
        f"the release does not tell how many {release.guarantee.record}s there are. Make one that counts them (count_share)."
    )


def _tables(release: Release) -> list[Table]:
    return [table for each in release.measurements for table in readable_tables(each)]


def shares_of(release: Release, label: Levels, tables: list[Table], rows: float) -> Floats:
    """The share of every level of a label.

    Classes that were counted have their counts. Where they were not, tables by class tell the same with more noise, once
    they are added up. Features that are no counts tell only which classes there are: those are taken to be equally
    frequent. A level that the schema lists, such as unlisted values, may have no record at all.
    """
    counted = [table for table in tables if table.columns == (label.name,) and table.values.size == label.size]
    if counted:
        best = min(counted, key=lambda table: table.sigma)
        return shares_of_counts(best.values, rows)
    view = Readings.of(release).finest((label.name,))
    if view is not None and view.values.size == label.size:
        return shares_of_counts(view.values, rows)
    there = _there(release, label)
    return there / there.sum()


def shares_of_counts(counts: Floats, rows: float) -> Floats:
    """Shares of classes, of noisy counts."""
    return np.asarray(project_to_simplex(counts, rows) / rows)


def _there(release: Release, label: Levels) -> Floats:
    """1 for each class whose features are more than noise; for each category if there is no such class."""
    energy, cells = np.zeros(label.size), 0
    for values in _by_class(release, label):
        energy += (values**2).sum(axis=1)
        cells += values.shape[1]
    if cells:
        felt = special.gammaincc(cells / 2, energy / 2) < _CHANCE / label.size
        if felt.any():
            return felt.astype(np.float64)
    return (np.arange(label.size) < label.regular).astype(np.float64)


def _by_class(release: Release, label: Levels) -> Iterator[Floats]:
    """Features that were measured by class, a row for each, in units of their noise."""
    for each in release.measurements:
        for block in each.blocks():
            by = block.map.label if isinstance(block.map, Labelled) else None
            if by is not None and by.column == label.name and by.dimension == label.size:
                yield (block.values / block.sigma).reshape(label.size, -1)
