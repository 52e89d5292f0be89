"""Readings: as least squares says, with the noise of all that they add up."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from pointillist.features import OneHot, Tiles
from pointillist.fitting.evidence import Table
from pointillist.fitting.readings import Readings

Floats = NDArray[np.float64]


def dense(tables: list[tuple[Tiles, Floats, float]], function: Floats) -> tuple[float, float]:
    """The sum of a function of one column and its standard error, by least squares with matrices written out."""
    rows = [np.eye(tiles.dimension)[tiles.table].T / sigma for tiles, _, sigma in tables]
    wanted = np.concatenate([values / sigma for _, values, sigma in tables])
    inverse = np.linalg.pinv(np.concatenate(rows).T @ np.concatenate(rows))
    weights = inverse @ function
    return float(weights @ np.concatenate(rows).T @ wanted), math.sqrt(float(function @ weights))


def test_several_tables_of_one_column_are_weighed_by_least_squares() -> None:
    rng = np.random.default_rng(0)
    fine, coarse = OneHot("x", 6), Tiles("x", (0, 0, 1, 1, 1, 2))
    tables = [
        (fine, rng.normal(100, 5, 6), 5.0),
        (coarse, rng.normal(200, 2, 3), 2.0),
        (fine, rng.normal(100, 1, 6), 3.0),
    ]
    readings = Readings(tuple(Table((tiles,), values, sigma) for tiles, values, sigma in tables), None)
    over, under = rng.normal(size=6), np.ones(6)
    read = readings.ratios(["x"], over[:, None], under)
    assert read is not None
    ratio = dense(tables, over)[0] / dense(tables, under)[0]
    assert read[0][0] == pytest.approx(ratio)
    assert read[1][0] == pytest.approx(dense(tables, over - ratio * under)[1] / dense(tables, under)[0])


def test_tables_of_more_columns_count_with_the_noise_of_all_they_add_up() -> None:
    """Two tables of x and y over the same tiles are as one with half of the variance; their sums add up the noise of y."""
    x, y = OneHot("x", 2), OneHot("y", 3)
    counts = np.array([[10.0, 20, 30], [5, 15, 25]])
    both = Readings((Table((x, y), counts, 1.0), Table((y, x), counts.T, 1.0)), None)
    view = both.finest(["x"])
    assert view is not None
    assert view.values.tolist() == [60, 45]
    assert view.precision == pytest.approx(2 / 3)
    assert both.finest(["x", "z"]) is None
    assert both.ratios(["z"], np.ones((1, 1)), np.ones(1)) is None


def test_a_public_number_of_rows_takes_its_noise_away() -> None:
    table = Table((OneHot("x", 2),), np.array([40.0, 70.0]), 5.0)
    free, known = (Readings((table,), rows).ratios(["x"], np.eye(2), np.ones(2)) for rows in (None, 100))
    assert free is not None
    assert known is not None
    assert known[0].tolist() == pytest.approx([0.35, 0.65])  # the surplus is shared out
    assert known[1] == pytest.approx([5 / math.sqrt(2) / 100] * 2, rel=1e-3)
    assert Readings((table,), 100).total == 100
