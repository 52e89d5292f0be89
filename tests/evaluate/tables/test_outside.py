"""Outside: what a schema has no place for is found as the table has it, of every kind, in every batch."""

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.evaluate.tables.sample import Sample, joined, read


def one(column: Any, values: Any, kind: pa.DataType | None = None) -> Sample:
    return read(pa.table({"x": pa.array(values, kind)}), pt.Schema(name="one", columns={"x": column}))


def test_numbers_beyond_the_bounds_are_kept_as_they_are() -> None:
    found = one(pt.Real(min=0, max=10, special=(-1.0,)), [-5.0, -1.0, 0.0, 10.0, 10.5, None, 1e300])
    np.testing.assert_array_equal(found.outside["x"], [-5.0, np.nan, np.nan, np.nan, 10.5, np.nan, 1e100])
    np.testing.assert_allclose(found.as_is("x"), [-5.0, -1.0, 0.0, 10.0, 10.5, np.nan, 1e100])
    np.testing.assert_allclose(found.values("x"), [0.0, -1.0, 0.0, 10.0, 10.0, np.nan, 10.0])


def test_whole_numbers_drop_fractions_before_they_are_beyond() -> None:
    found = one(pt.Integer(min=0, max=10), [10.5, 11.5, -0.5, 3.0])
    np.testing.assert_array_equal(found.as_is("x"), [10, 11, -1, 3])


def test_infinite_numbers_are_outside_and_stay_at_the_bound() -> None:
    found = one(pt.Real(min=0, max=10), [float("inf"), 5.0])
    assert found.outside["x"][0] == np.inf
    np.testing.assert_allclose(found.as_is("x"), [10.0, 5.0])


@pytest.mark.parametrize("values", [["2031-05-01", "2020-05-01"], [dt.date(2031, 5, 1), dt.date(2020, 5, 1)]])
def test_dates(values: list[Any]) -> None:
    found = one(pt.Datetime(min="2020-01-01", max="2025-12-31"), values)
    assert found.level("x").column.show(found.as_is("x")[0]) == "2031-05-01"
    assert found.as_is("x")[1] == found.values("x")[1]


def test_dates_beyond_the_calendar_can_still_be_shown() -> None:
    found = one(pt.Datetime(min="2020-01-01", max="2025-12-31"), [2_000_000_000, -2_000_000_000], pa.date32())
    late, early = (found.level("x").column.show(each) for each in found.as_is("x"))
    assert late.startswith("99")
    assert early.lstrip("0").startswith("5-")


@pytest.mark.parametrize("coded", [False, True])
def test_unlisted_categories_but_not_what_is_called_other(coded: bool) -> None:
    texts = pa.array(["a", "b", "other", None, "b", "NA"])
    found = one(pt.Categorical(categories=("a",)), texts.dictionary_encode() if coded else texts)
    assert found.outside["x"].tolist() == [None, "b", None, None, "b", None]


def test_unlisted_whole_numbers_but_not_gaps() -> None:
    found = one(pt.Categorical(categories=(1, 2), missing=False), [1.0, 7.0, None])
    assert found.outside["x"].tolist() == [None, "7", None]


def test_nothing_is_kept_of_what_lies_inside() -> None:
    assert not one(pt.Real(min=0, max=10), [0.0, 10.0, 5.0]).outside
    assert not one(pt.Categorical(categories=("a",)), ["a", "other"]).outside


def test_parts_and_joined_samples_keep_theirs() -> None:
    column = pt.Real(min=0, max=10)
    first, second = one(column, [1.0, 20.0, 3.0]), one(column, [4.0, 5.0])
    assert first.take(np.array([1, 0])).as_is("x").tolist() == [20.0, pytest.approx(1.0)]
    np.testing.assert_allclose(joined(second, first).as_is("x"), [4.0, 5.0, 1.0, 20.0, 3.0])
