"""Histories: rows person by person and in order, and what is said of a person by them, against what is known."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.visits import visits, visits_schema

import pointillist as pt
from pointillist.evaluate.tables.histories import Histories

SCHEMA = pt.Schema(
    name="few",
    person=pt.Person(column="who", max_rows=9, order="day"),
    columns={
        "sex": pt.Categorical(categories=("f", "m"), of="person"),
        "day": pt.Integer(min=0, max=100),
        "score": pt.Integer(min=0, max=10),
        "ward": pt.Categorical(categories=("a", "b", "c")),
    },
)
TABLE = pa.table({
    "who": ["y", "x", "y", None, "x", "x"],
    "sex": ["m", "f", "m", "m", "f", "m"],
    "day": [9, 30, 2, 1, None, 10],
    "score": [4, 1, 2, 9, None, 3],
    "ward": ["a", "b", "a", "c", "b", "a"],
})  # fmt: skip


def test_rows_come_person_by_person_and_in_order() -> None:
    found = Histories.read(TABLE, SCHEMA)
    assert found.persons == 2
    both = {int(count): find for count, find in zip(found.counts, found.starts, strict=True)}
    assert both.keys() == {2, 3}
    values = found.sample.values("day")
    assert values[both[2] : both[2] + 2].tolist() == [2, 9]
    assert np.isnan(values[both[3]])  # without an order: first
    assert values[both[3] + 1 : both[3] + 3].tolist() == [10, 30]
    gaps = sorted(found.gaps().tolist(), key=lambda each: (np.isnan(each), each))
    assert gaps[:2] == [7, 20]
    assert np.isnan(gaps[2])


def test_facts_that_change_are_seen() -> None:
    assert Histories.read(TABLE, SCHEMA).constant == 0.5  # one of two persons is both
    assert Histories.read(visits(50), visits_schema()).constant == 1.0


def test_ever_and_features_are_of_persons() -> None:
    found = Histories.read(TABLE, SCHEMA)
    level = found.sample.level("ward")
    assert found.ever(level)[:3].tolist() == [1.0, 0.5, 0.0]
    features = found.features()
    two = int(np.flatnonzero(found.counts == 2)[0])
    assert features["rows"][two] == 2
    assert features["score, mean"][two] == 3
    assert features["score, change"][two] == 2
    assert features["ward, changes"].tolist() == [0 if number == two else 2 for number in range(2)]
    assert features["mean gap"][two] == 7
    assert "sex" not in found.features(without="sex")


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_the_file_does_not_matter(seed: int) -> None:
    table, schema = visits(30), visits_schema()
    mixed = table.take(np.random.default_rng(seed).permutation(table.num_rows))
    one, other = Histories.read(table, schema), Histories.read(mixed, schema)
    assert sorted(one.counts.tolist()) == sorted(other.counts.tolist())
    assert np.nansum(one.gaps()) == np.nansum(other.gaps())


def test_some_persons_keep_all_of_their_rows() -> None:
    whole = Histories.read(visits(40), visits_schema())
    half = np.arange(whole.persons) % 2 == 0
    assert whole.of_persons(half).counts.tolist() == whole.counts[half].tolist()
    assert whole.of_persons(half).sample.rows + whole.of_persons(~half).sample.rows == whole.sample.rows


def test_a_table_without_its_persons_is_told() -> None:
    with pytest.raises(pt.PointillistError, match="who"):
        Histories.read(TABLE.drop_columns(["who"]), SCHEMA)
