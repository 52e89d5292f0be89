"""Measured intervals: intervals that hold whatever the data and wherever bins are cut."""

import math

import numpy as np
import pyarrow as pa
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
from pointillist.sampling.recoding import numbers_of, recode
from pointillist.schema.levels import Levels

NOISELESS = 1e-9
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


def asked(*tables: Table) -> NoisyCounts:
    return NoisyCounts(Readings(tables, None), {"age": AGE, "pay": PAY}, 0.95)


def noiseless(rows: Rows) -> tuple[NoisyCounts, dict[str, pa.ChunkedArray], dict[str, NDArray[np.uint16]]]:
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
    return asked(*tables), arrays, codes


@given(ROWS, st.integers(-1, 19), st.integers(0, 20), st.floats(1, 900))
def test_without_noise_a_share_lies_in_its_interval_whatever_the_bins(
    rows: Rows, low: int, width: int, pay: float
) -> None:
    """Ranges cut bins and tiles anywhere: what a cell does not tell is taken at its worst, so the truth is always inside."""
    counts, _, _ = noiseless(rows)
    age = (low, min(low + width, 19))
    alone = counts.share_of(Condition.of((AGE, PAY), {"age": age}))
    both = counts.share_of(Condition.of((AGE, PAY), {"age": age, "pay": (pay, 1000)}))
    assert alone is not None
    assert both is not None
    in_age = [a is not None and age[0] <= a <= age[1] for a, _ in rows]
    in_both = [inside and p is not None and pay <= p for inside, (_, p) in zip(in_age, rows, strict=True)]
    assert alone.low - 1e-6 <= np.mean(in_age) <= alone.high + 1e-6
    assert both.low - 1e-6 <= np.mean(in_both) <= both.high + 1e-6


@given(ROWS, st.floats(0.001, 1))
def test_without_noise_a_quantile_lies_in_its_interval(rows: Rows, order: float) -> None:
    counts, arrays, _ = noiseless(rows)
    for levels in (AGE, PAY):
        values = numbers_of(levels, arrays[levels.name])
        values = values[~np.isnan(values)]
        found = counts.quantile(levels, order)
        assert found is not None
        if len(values):
            exact = float(np.quantile(values, order, method="inverted_cdf"))
            at_the_edge = abs(order * len(values) - round(order * len(values))) < 1e-6
            assert at_the_edge or found.low <= exact <= found.high


@given(ROWS)
def test_a_mean_is_within_the_widths_of_its_bins(rows: Rows) -> None:
    counts, arrays, codes = noiseless(rows)
    for levels in (AGE, PAY):
        values = numbers_of(levels, arrays[levels.name])
        shares = np.bincount(codes[levels.name], minlength=levels.size) / len(rows)
        found = counts.mean(levels, shares)
        assert found is not None
        low, high = spans(levels)
        assert np.nanmin(low) <= found.low <= found.high <= np.nanmax(high)
        if not np.isnan(values).all():
            widest = float(np.nanmax((high - low)[np.unique(codes[levels.name])]))
            assert abs((found.low + found.high) / 2 - np.nanmean(values)) <= widest + 1e-6


def test_what_was_not_measured_has_no_interval() -> None:
    coarse = asked(Table((Tiles("age", tuple(level // 2 for level in range(AGE.size))),), np.ones(5), 1.0))
    assert coarse.mean(AGE, np.ones(AGE.size) / AGE.size) is None
    assert coarse.quantile(AGE, 0.5) is None
    assert coarse.share_of(Condition.of((PAY,), {"pay": (1, 10)})) is None


def test_where_noise_drowns_the_rows_anything_is_possible() -> None:
    drowned = asked(Table((OneHot("age", AGE.size),), np.ones(AGE.size), 100.0))
    assert drowned.share_of(Condition.of((AGE,), {"age": (0, 5)})) == Interval(0, 1, math.inf)
    for found in (
        drowned.mean(AGE, np.ones(AGE.size) / AGE.size),
        drowned.quantile(AGE, 0.5),
    ):
        assert found == Interval(-1, 19, math.inf)
