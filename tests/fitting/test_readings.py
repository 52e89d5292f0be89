"""Readings: exact without noise, as least squares says with it, and intervals that hold whatever the data."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import pointillist as pt
from pointillist.features import OneHot, Tiles
from pointillist.fitting.evidence import Table
from pointillist.fitting.readings import Readings
from pointillist.inference.estimate import Interval
from pointillist.inference.measured_intervals import NoisyCounts, spans
from pointillist.sampling.condition import Condition
from pointillist.sampling.decoding import decode
from pointillist.sampling.recoding import numbers_of, recode
from pointillist.schema.levels import Levels, levels_of

Floats = NDArray[np.float64]
NOISELESS = 1e-9


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


AGE = Levels("age", pt.Integer(min=0, max=19, missing=True, bins=7, special=(-1,)))
PAY = Levels("pay", pt.Real(min=1, max=1000, scale="log", bins=5, special=(0.0,), missing=True))
ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(min_value=-1, max_value=19)),
        st.one_of(st.none(), st.just(0.0), st.floats(min_value=1, max_value=1000)),
    ),
    min_size=1,
    max_size=40,
)
Rows = list[tuple[int | None, float | None]]


def counts(readings: Readings) -> NoisyCounts:
    return NoisyCounts(readings, {each.name: each for each in (AGE, PAY)}, 0.95)


def noiseless(rows: Rows) -> tuple[Readings, dict[str, pa.ChunkedArray], dict[str, NDArray[np.uint16]]]:
    """Readings of rows without noise, over levels and over coarse tiles of both columns together."""
    arrays = {
        "age": pa.chunked_array([pa.array([age for age, _ in rows], pa.int64())]),
        "pay": pa.chunked_array([pa.array([pay for _, pay in rows], pa.float64())]),
    }
    codes = {each.name: recode(each, arrays[each.name]) for each in (AGE, PAY)}
    coarse = {each.name: Tiles(each.name, tuple(level // 2 for level in range(each.size))) for each in (AGE, PAY)}
    tables = [
        Table(
            (OneHot(each.name, each.size),), np.bincount(codes[each.name], minlength=each.size).astype(float), NOISELESS
        )
        for each in (AGE, PAY)
    ]
    cells = np.zeros((coarse["age"].dimension, coarse["pay"].dimension))
    np.add.at(cells, tuple(coarse[name].table[codes[name]] for name in ("age", "pay")), 1.0)
    tables.append(Table((coarse["age"], coarse["pay"]), cells, NOISELESS))
    return Readings(tuple(tables), None), arrays, codes


@given(ROWS, st.integers(-1, 19), st.integers(0, 20), st.floats(1, 900))
def test_without_noise_a_share_lies_in_its_interval_whatever_the_bins(
    rows: Rows, low: int, width: int, pay: float
) -> None:
    """Ranges cut bins and tiles anywhere: what a cell does not tell is taken at its worst, so the truth is always inside."""
    readings, _, _ = noiseless(rows)
    age = (low, min(low + width, 19))
    alone = counts(readings).share_of(Condition.of((AGE, PAY), {"age": age}))
    both = counts(readings).share_of(Condition.of((AGE, PAY), {"age": age, "pay": (pay, 1000)}))
    assert alone is not None
    assert both is not None
    in_age = [a is not None and age[0] <= a <= age[1] for a, _ in rows]
    in_both = [inside and p is not None and pay <= p for inside, (_, p) in zip(in_age, rows, strict=True)]
    assert alone.low - 1e-6 <= np.mean(in_age) <= alone.high + 1e-6
    assert both.low - 1e-6 <= np.mean(in_both) <= both.high + 1e-6


@given(ROWS, st.floats(0.001, 1))
def test_without_noise_a_quantile_lies_in_its_interval(rows: Rows, order: float) -> None:
    readings, arrays, _ = noiseless(rows)
    for levels in (AGE, PAY):
        values = numbers_of(levels, arrays[levels.name])
        values = values[~np.isnan(values)]
        found = counts(readings).quantile(levels, order)
        assert found is not None
        if len(values):
            exact = float(np.quantile(values, order, method="inverted_cdf"))
            at_the_edge = abs(order * len(values) - round(order * len(values))) < 1e-6
            assert at_the_edge or found.low <= exact <= found.high


@given(ROWS)
def test_a_mean_is_within_the_widths_of_its_bins(rows: Rows) -> None:
    readings, arrays, codes = noiseless(rows)
    for levels in (AGE, PAY):
        values = numbers_of(levels, arrays[levels.name])
        shares = np.bincount(codes[levels.name], minlength=levels.size) / len(rows)
        found = counts(readings).mean(levels, shares)
        assert found is not None
        low, high = spans(levels)
        assert np.nanmin(low) <= found.low <= found.high <= np.nanmax(high)
        if not np.isnan(values).all():
            widest = float(np.nanmax((high - low)[np.unique(codes[levels.name])]))
            assert abs((found.low + found.high) / 2 - np.nanmean(values)) <= widest + 1e-6


def test_what_was_not_measured_has_no_interval() -> None:
    coarse = Readings((Table((Tiles("age", tuple(level // 2 for level in range(AGE.size))),), np.ones(5), 1.0),), None)
    assert counts(coarse).mean(AGE, np.ones(AGE.size) / AGE.size) is None
    assert counts(coarse).quantile(AGE, 0.5) is None
    assert counts(coarse).share_of(Condition.of((PAY,), {"pay": (1, 10)})) is None


def test_where_noise_drowns_the_rows_anything_is_possible() -> None:
    drowned = Readings((Table((OneHot("age", AGE.size),), np.ones(AGE.size), 100.0),), None)
    assert counts(drowned).share_of(Condition.of((AGE,), {"age": (0, 5)})) == Interval(0, 1, math.inf)
    for found in (
        counts(drowned).mean(AGE, np.ones(AGE.size) / AGE.size),
        counts(drowned).quantile(AGE, 0.5),
    ):
        assert found == Interval(-1, 19, math.inf)


def test_recoding_undoes_decoding(schema: pt.Schema) -> None:
    """Every level of every kind of column, many times. Rounding may carry a number into the next bin, so there is none."""
    rng = np.random.default_rng(0)
    exact = {**schema.columns, "income": pt.Real(min=1, max=100_000, special=(0.0,), scale="log")}
    second = {"time": pt.Datetime(min="2020-01-01", max="2020-01-03", resolution="second")}
    for levels in levels_of(pt.Schema(name="exact", columns={**exact, **second})):
        codes = rng.integers(0, levels.size, 3_000).astype(np.uint16)
        table = pa.table({levels.name: decode(levels, codes, rng)})
        assert recode(levels, table[levels.name]).tolist() == codes.tolist()
