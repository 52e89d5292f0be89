"""Covariances from tables of counts: right where tiles are fine, within their reach where they are not."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import pointillist as pt
from pointillist.features import OneHot, Records, Tiles
from pointillist.fitting.evidence import Table
from pointillist.fitting.readings import Readings
from pointillist.inference.measured_intervals import Asked, NoisyCounts
from pointillist.inference.moments import Moments, coefficient, correlation, moments
from pointillist.inference.sql_expression import ALL_ROWS, Expression, Function
from pointillist.schema.levels import levels_of

Floats = NDArray[np.float64]
ROWS = 4_000
BINS = 64
LEVELS = {
    each.name: each
    for each in levels_of(
        pt.Schema(
            name="moments",
            columns={name: pt.Real(min=0, max=8, bins=BINS, missing=False) for name in ("x", "y", "z")},
        )
    )
}
RNG = np.random.default_rng(1)
_TAIL = RNG.exponential(0.5, ROWS)
PRIVATE = {
    "x": np.clip(_TAIL + 0.2 * RNG.random(ROWS), 0, 7.99),
    "y": np.clip(_TAIL + 0.3 * RNG.random(ROWS), 0, 7.99),
    "z": 8 * RNG.random(ROWS),
}
"""Two numbers with a long tail that they share, and one by itself."""
CODES = {name: (values / 8 * BINS).astype(np.uint16) for name, values in PRIVATE.items()}


def tiles(name: str, count: int) -> Tiles:
    """The first bins by themselves, and all the others in one tile."""
    return Tiles(name, tuple(np.minimum(np.arange(BINS), count - 1)))


def asked(*numbers: Function, count: int = BINS, sigma: float = 1.0, shuffled: bool = False) -> Asked:
    """Exact tables of every two columns, with rows of a model that are the private ones, or those without dependence."""
    pairs = [("x", "y"), ("x", "z"), ("y", "z")]
    found = [Table((OneHot(name, BINS),), np.bincount(CODES[name], minlength=BINS) * 1.0, sigma) for name in LEVELS]
    for pair in pairs:
        leaves = tuple(tiles(name, count) for name in pair)
        cells = np.zeros((count, count))
        np.add.at(cells, tuple(leaf.table[CODES[leaf.column]] for leaf in leaves), 1.0)
        found.append(Table(leaves, cells, sigma))
    places = {name: RNG.permutation(ROWS) if shuffled else np.arange(ROWS) for name in LEVELS}
    codes = {name: CODES[name][places[name]] for name in LEVELS}
    known = NoisyCounts(Readings(tuple(found), None), LEVELS, 0.95)
    names = sorted({name for each in numbers for name in each.columns or ()})
    values = [each.column is not None and PRIVATE[each.name][places[each.name]] for each in numbers]
    return Asked(
        known, names, (*numbers, ALL_ROWS), Records(ROWS, codes, {}), np.column_stack([*values, np.ones(ROWS)]),
        np.full(ROWS, 1 / ROWS),
    )  # fmt: skip


def read(*names: str, **options: object) -> Moments:
    numbers = tuple(Function.of_column(LEVELS[name]) for name in names)
    found = moments(asked(*numbers, **options), numbers)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_fine_tiles_tell_all() -> None:
    found = read("x", "y")
    truth = np.cov(PRIVATE["x"], PRIVATE["y"], bias=True)
    assert found.covariances[0] == pytest.approx(truth, rel=0.02)
    assert found.means[0] == pytest.approx([PRIVATE["x"].mean(), PRIVATE["y"].mean()], rel=0.02)
    assert found.reach[0, 1] < 0.1 * truth[0, 1]


def test_what_a_tail_shares_inside_one_tile_is_within_reach() -> None:
    """Eight tiles hold up to 1, one all the rest: counts see a part of the covariance, and its reach holds the whole."""
    found, truth = read("x", "y", count=9), np.corrcoef(PRIVATE["x"], PRIVATE["y"])[0, 1]
    assert correlation(found.means[0], found.covariances[0]) < truth - 0.1
    interval = found.interval(correlation, 0.95)
    assert interval is not None
    assert interval.low < truth < interval.high
    assert interval.bounded
    assert interval.low > 0.2  # dependence inside tiles hardly goes against that between them


def test_a_model_without_dependence_does_not_narrow_it() -> None:
    truth = np.corrcoef(PRIVATE["x"], PRIVATE["y"])[0, 1]
    interval = read("x", "y", count=9, shuffled=True).interval(correlation, 0.95)
    assert interval is not None
    assert interval.low < truth < interval.high


def test_noise_is_drawn_and_widens() -> None:
    """Ten times the noise moves the correlation about ten times as far; seeded, so there are no false alarms."""
    little, much = (read("x", "z", sigma=sigma).interval(correlation, 0.95) for sigma in (0.1, 1.0))
    assert little is not None
    assert much is not None
    assert 5 < much.error / little.error < 20
    assert not much.bounded
    numbers = tuple(Function.of_column(LEVELS[name]) for name in ("x", "z"))
    assert moments(asked(*numbers, sigma=1e4), numbers) is None  # not even rows are left


def test_coefficients_are_those_of_least_squares() -> None:
    found = read("y", "x", "z", sigma=0.1)
    design = np.column_stack([np.ones(ROWS), PRIVATE["x"], PRIVATE["z"]])
    truth = np.linalg.lstsq(design, PRIVATE["y"], rcond=None)[0]
    for place in range(3):
        interval = found.interval(coefficient(place), 0.95)
        assert interval is not None
        assert interval.low < truth[place] < interval.high
        assert coefficient(place)(found.means[0], found.covariances[0]) == pytest.approx(truth[place], abs=0.03)


def test_columns_that_say_the_same_have_no_coefficients() -> None:
    of = coefficient(1)
    same = np.array([[1.0, 0.5, 0.5], [0.5, 1.0, 1.0], [0.5, 1.0, 1.0]])
    assert math.isnan(of(np.zeros(3), same))
    assert math.isnan(correlation(np.zeros(2), np.array([[1.0, 0.0], [0.0, -1e-9]])))


def test_formulas_of_several_columns_are_not_told() -> None:
    product = Expression.parse("x * y", list(LEVELS)).number
    z = Function.of_column(LEVELS["z"])
    assert moments(asked(z), (product, z)) is None
    assert moments(asked(z), (z, z)) is None
