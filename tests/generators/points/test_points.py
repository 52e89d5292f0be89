"""Weighted points: they are the rows that they were made from, whatever the column's kind."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.errors import UsageError
from pointillist.generators.points.points import Points
from pointillist.reading.encoding import Encoder
from pointillist.schema import Schema
from pointillist.schema.levels import levels_of

SCHEMA = Schema.parse(
    {
        "name": "people",
        "reviewed": True,
        "columns": {
            "age": {"kind": "integer", "min": 0, "max": 1000, "bins": 16},
            "size": {"kind": "real", "min": 0.5, "max": 8000.0, "scale": "log", "special": [-1.0], "missing": True},
            "price": {"kind": "real", "min": 0.0, "max": 10.0, "decimals": 2},
            "born": {"kind": "datetime", "min": dt.datetime(1900, 1, 1), "max": dt.datetime(2020, 1, 1)},
            "sex": {"kind": "categorical", "categories": ["F", "M"]},
        },
    }
)
LEVELS = levels_of(SCHEMA)


def _points(table: pa.Table, weights: list[float] | None = None) -> Points:
    columns = frozenset(table.column_names)
    numeric = frozenset(each.name for each in LEVELS if each.numeric)
    records = Encoder(LEVELS, columns, numeric, "test")(table.to_batches()[0])
    return Points(records, np.array(weights or [1 / table.num_rows] * table.num_rows))


rows = st.lists(
    st.tuples(
        st.integers(0, 1000),
        st.one_of(st.none(), st.just(-1.0), st.floats(0.5, 8000.0)),
        st.integers(0, 1000).map(lambda cents: cents / 100),
        st.dates(dt.date(1900, 1, 1), dt.date(2020, 1, 1)),
        st.sampled_from("FM"),
    ),
    min_size=1,
    max_size=30,
)


@given(rows)
def test_a_table_comes_back_as_it_went_in(values):
    table = pa.table({name: [row[place] for row in values] for place, name in enumerate(SCHEMA.measured)})
    found = _points(table).table(LEVELS)
    for name in ("age", "price", "born", "sex"):
        assert found[name].to_pylist() == table[name].to_pylist()
    for one, other in zip(found["size"].to_pylist(), table["size"].to_pylist(), strict=True):
        assert one == pytest.approx(other, rel=1e-9) if other is not None else one is None


TABLE = pa.table(
    {
        "age": [10, 200, 300],
        "size": [1.0, None, -1.0],
        "price": [1.0, 2.0, 3.0],
        "born": [dt.date(2000, 1, day) for day in (1, 2, 3)],
        "sex": ["F", "M", "M"],
    }
)


def test_points_are_sampled_as_often_as_they_weigh():
    codes = _points(TABLE, [0.5, 0.3, 0.2]).sample(1000, np.random.default_rng(0)).codes
    ages = np.bincount(codes["age"])
    assert np.abs(ages[ages > 0] - [500, 300, 200]).max() <= 1


def test_signed_points_cannot_be_sampled():
    with pytest.raises(UsageError, match="below 0"):
        _points(TABLE, [0.7, 0.5, -0.2]).sample(10, np.random.default_rng(0))


def test_a_condition_keeps_its_share_of_the_weight():
    points = _points(TABLE, [0.5, 0.3, 0.2])
    share, kept = points.given({"sex": np.array([0.0, 1.0])})
    assert share == pytest.approx(0.5)
    assert kept.weights.tolist() == pytest.approx([0.0, 0.6, 0.4])
    assert points.given({"sex": np.array([0.0, 0.0])})[0] == 0


def test_points_survive_a_file():
    points = _points(TABLE, [0.5, 0.3, 0.2])
    again = Points.from_facts(*points.to_facts(), SCHEMA)
    assert again.table(LEVELS).equals(points.table(LEVELS))
    assert np.array_equal(again.weights, points.weights)


def test_weights_must_fit():
    with pytest.raises(ValueError, match="one finite weight"):
        _points(TABLE, [0.5, 0.5])
