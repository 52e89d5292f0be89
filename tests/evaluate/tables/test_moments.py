"""Means and spreads, and how much of their difference is chance."""

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.evaluate.tables.moments import Moments, moments_of
from pointillist.evaluate.tables.sample import read

SCHEMA = pt.Schema(name="one", columns={"x": pt.Real(min=-100, max=100)})


def test_of_a_column() -> None:
    first, second = ([1.0, 2.0, 3.0, None], [2.0, 4.0, 6.0])
    found = moments_of(*(read(pa.table({"x": values}), SCHEMA) for values in (first, second)), "x")
    assert found is not None
    assert found.mean == pytest.approx((2.0, 4.0))
    assert found.spread == pytest.approx((np.std([1, 2, 3]), np.std([2, 4, 6])))
    assert found.rows == (3, 3)
    assert found.shift == pytest.approx(2 / np.std([1, 2, 3]))
    assert found.stretch == pytest.approx(1.0)


def test_without_values_there_are_none() -> None:
    empty = read(pa.table({"x": pa.nulls(3, pa.float64())}), SCHEMA)
    full = read(pa.table({"x": [1.0, 2.0]}), SCHEMA)
    assert moments_of(empty, full, "x") is None
    assert moments_of(full, empty, "x") is None


def test_chance_is_what_two_samples_show() -> None:
    """Shift and stretch of 400 pairs of samples spread as stated, to 15 %: four standard deviations of a spread of 400."""
    rng = np.random.default_rng(0)
    pairs = rng.normal(size=(400, 2, 500))
    found = Moments((0.0, 0.0), (1.0, 1.0), (500, 500))
    shifts = (pairs[:, 1].mean(axis=1) - pairs[:, 0].mean(axis=1)) / pairs[:, 0].std(axis=1)
    stretches = pairs[:, 1].std(axis=1) / pairs[:, 0].std(axis=1) - 1
    assert shifts.std() == pytest.approx(found.chance, rel=0.15)
    assert stretches.std() == pytest.approx(found.stretch_chance, rel=0.15)


def test_a_constant_column_has_neither_shift_nor_stretch() -> None:
    assert (Moments((1.0, 5.0), (0.0, 2.0), (9, 9)).shift, Moments((1.0, 5.0), (0.0, 2.0), (9, 9)).stretch) == (
        0.0,
        0.0,
    )
