"""Histories: what a person adds to a sum never exceeds one weight, and depends on nobody else's rows."""

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixtures.visits import visits, visits_schema

import pointillist as pt
from pointillist.curator.job import EmbeddingJob
from pointillist.features import Concat, FeatureMap, OneHot, Product, Score, ScoreProducts, Weighted
from pointillist.privacy.grid import Grid
from pointillist.privacy.guarantee import Neighbours
from pointillist.privacy.sensitivity import squared_sensitivity
from pointillist.schema.history import COUNT, PLACE, History, before, gap, usually

FIRST = dt.date(2020, 1, 1)
SCHEMA = pt.Schema(
    name="s",
    person=pt.Person(column="who", max_rows=5, order="day"),
    columns={
        "sex": pt.Categorical(categories=("f", "m"), of="person"),
        "day": pt.Datetime(min="2020-01-01", max="2020-12-31"),
        "score": pt.Integer(min=0, max=9),
    },
)
GRID = Grid.of_persons()
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bo", 7, "7.0", None]),
        st.sampled_from(["f", "m", "x", None]),
        st.one_of(st.none(), st.integers(-9, 400)),
        st.one_of(st.none(), st.integers(-3, 15)),
    ),
    max_size=25,
)
"""Persons by names of mixed type, with ties, gaps and values that are out of range; more rows than are used."""


def one_hot(name: str) -> OneHot:
    levels = next(each for each in History.of(SCHEMA).levels if each.name == name)
    return OneHot(name, levels.size)


def score(name: str) -> Score:
    size = one_hot(name).dimension
    return Score(name, tuple((-1, 1, 0)[level % 3] for level in range(size)))


def counts() -> FeatureMap:
    """Tables of a few columns of records, in one vector of length 1."""
    maps: list[FeatureMap] = [one_hot("sex"), one_hot(COUNT), one_hot(gap("day"))]
    maps.append(Product((one_hot("score"), one_hot(before("score")))))
    maps.append(Product((one_hot(usually("score")), one_hot(PLACE))))
    return Concat(tuple(Weighted(each, 0.2**0.5) for each in maps))


def products() -> FeatureMap:
    names = ("sex", "score", before("score"), usually("score"))
    pairs = ((0, 1), (1, 2), (1, 3), (2, 3))
    return Weighted(ScoreProducts(tuple(map(score, names)), pairs), 0.5)


def batch(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    days = [None if row[2] is None else FIRST + dt.timedelta(days=row[2]) for row in rows]
    return pa.record_batch(
        {
            "who": pa.array([None if row[0] is None else str(row[0]) for row in rows], pa.string()),
            "sex": pa.array([row[1] for row in rows], pa.string()),
            "day": pa.array(days, pa.date32()),
            "score": pa.array([row[3] for row in rows], pa.int64()),
        }
    )


def summed(rows: list[tuple[Any, ...]], feature_map: FeatureMap, size: int = 1000) -> list[int]:
    """The exact sum over rows that come in batches of a size."""
    job = EmbeddingJob(SCHEMA, feature_map, GRID, "t", b"key" * 11)
    parts = [batch(rows[start : start + size]) for start in range(0, max(len(rows), 1), size)]
    total = job.start()
    for item in job.stream(job.prepared(parts)):
        total.add(item)
    return [int(value) for value in job.sums(total.partial())]


def squared(one: list[int], other: list[int]) -> int:
    """In Python's integers, which do not overflow."""
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


@settings(max_examples=12)
@given(rest=ROWS, one=ROWS, other=ROWS)
@pytest.mark.parametrize("feature_map", [counts(), products()], ids=["counts", "products"])
def test_a_person_moves_the_sum_by_no_more_than_the_stated_sensitivity(
    feature_map: FeatureMap, rest: list[Any], one: list[Any], other: list[Any]
) -> None:
    """Whatever rows she has: added or removed, and replaced by another."""
    nonnegative = feature_map.nonnegative
    one, other = ([("cy", *row[1:]) for row in rows] for rows in (one, other))
    without, first, second = (summed([*rest, *rows], feature_map) for rows in ([], one, other))
    for neighbours, distance in (
        (Neighbours.ADD_REMOVE, squared(without, first)),
        (Neighbours.REPLACE_ONE, squared(first, second)),
    ):
        person = SCHEMA.person
        bound = squared_sensitivity(GRID.squared_norm, neighbours, person, nonnegative=nonnegative, shared=True)
        assert distance <= bound
    assert squared(without, first) == squared([0] * len(first), summed(one, feature_map))  # nobody else matters


@settings(max_examples=10)
@given(rows=ROWS, size=st.integers(1, 7), data=st.data())
def test_sums_are_the_same_bits_in_any_order_and_in_any_batches(
    rows: list[Any], size: int, data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(rows))
    assert summed(rows, counts()) == summed(list(shuffled), counts(), size)


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 10_000])
def test_a_person_counts_as_one_however_many_rows_she_has(rows: int) -> None:
    """But for what is lost by cutting a weight into whole parts; and by no more than her whole weight."""
    found = summed([("ann", "f", number % 300, number % 10) for number in range(rows)], Weighted(one_hot("sex"), 1.0))
    assert GRID.scale * (1 - 6 / GRID.parts) <= sum(found) <= GRID.scale
    assert max(found) == sum(found)


def test_records_tell_what_follows_what() -> None:
    rows = [("ann", "f", 40, 5), ("ann", "m", 10, 3), ("ann", "f", 10, 3), ("bo", "m", None, 9)]
    tables = {name: summed(rows, Weighted(one_hot(name), 1.0)) for name in (gap("day"), before("score"), "sex", COUNT)}
    shares = {name: np.array(values) / GRID.scale for name, values in tables.items()}
    history = History.of(SCHEMA)
    assert history.gap is not None
    third = pytest.approx(1 / 3, abs=1e-4)
    assert shares[gap("day")][history.gap.missing] == pytest.approx(4 / 3, abs=1e-4)  # both begin somewhere
    assert shares[gap("day")][history.gap.regular] == third  # no day between two of ann's
    assert shares[before("score")][3] == pytest.approx(2 / 3, abs=1e-4)
    assert shares["sex"].max() == pytest.approx(1.0, abs=1e-4)  # hers is that of her first row, of all of hers
    assert shares[COUNT][[0, 2]].tolist() == [1.0, pytest.approx(1.0, abs=1e-4)]


def test_many_persons_come_through_in_parts() -> None:
    schema, table = visits_schema(), visits(60)
    feature_map = Weighted(OneHot("sex", 2), 1.0)
    job = EmbeddingJob(schema, feature_map, GRID, "t")
    total = job.start()
    for item in job.stream(job.prepared(table.to_batches(max_chunksize=17))):
        total.add(item)
    assert sum(job.sums(total.partial())) / GRID.scale == pytest.approx(60, rel=1e-3)
