"""Steps: rows follow each other by what their mixture says."""

import numpy as np
import pytest
from tests.fixtures.visits import visits_schema

import pointillist as pt
from pointillist.features import Tiles
from pointillist.generators.histories.steps import Clock, Steps
from pointillist.generators.mixture.mixture import Mixture
from pointillist.records import Records
from pointillist.schema.history import COUNT, History, before
from pointillist.schema.levels import Levels

HISTORY = History.of(visits_schema())


def mixture() -> Mixture:
    """Three components, one for each ward: who was there stays there. All else is even."""
    tiles = {each.name: Tiles(each.name, tuple(range(each.size))) for each in HISTORY.levels}
    tables = {each.name: np.full((3, each.size), 1 / each.size) for each in HISTORY.levels}
    own, last = HISTORY.rows[1], HISTORY.before[1]
    tables[own.name] = np.eye(3)[:, : own.size]
    tables[before("ward")] = np.concatenate([0.5 * np.eye(3), np.full((3, 1), 0.5)], axis=1)
    assert last.levels.size == 4
    within = {each.name: np.ones(each.size) for each in HISTORY.levels}
    return Mixture(np.full(3, 1 / 3), tiles, tables, within)


def people(counts: list[int]) -> Records:
    codes = {each.name: np.zeros(len(counts), dtype=np.uint16) for each in HISTORY.of_person}
    codes[COUNT] = np.array(counts, dtype=np.uint16) - 1
    return Records(len(counts), codes, {})


def test_rows_are_as_many_as_their_person_has_and_in_order() -> None:
    drawn = Steps(HISTORY, mixture()).draw(people([2, 1, 5, 3]), np.random.default_rng(0), before=10)
    assert np.bincount(drawn.persons - 10).tolist() == [2, 1, 5, 3]
    assert (np.diff(drawn.persons) >= 0).all()
    days = drawn.numbers["day"]
    assert all((np.diff(days[drawn.persons == person]) >= 0).all() for person in range(10, 14))
    assert days.max() <= HISTORY.levels[4].bounds[1]


def test_who_is_somewhere_stays_there_where_the_mixture_says_so() -> None:
    drawn = Steps(HISTORY, mixture()).draw(people([6] * 50), np.random.default_rng(0))
    wards = drawn.records.codes["ward"].reshape(50, 6)
    assert (wards == wards[:, :1]).all()
    assert set(wards[:, 0].tolist()) == {0, 1, 2}


def test_nobody_has_no_rows() -> None:
    drawn = Steps(HISTORY, mixture()).draw(people([]), np.random.default_rng(0))
    assert drawn.records.rows == 0
    assert len(drawn.persons) == 0


def test_a_clock_stops_at_the_end() -> None:
    assert HISTORY.order is not None
    clock = Clock(HISTORY.order, 1.0)
    last = HISTORY.order.bounds[1]
    assert clock.move(np.array([last - 3]), np.array([10.0]))[0] == last
    assert clock.codes(np.array([last]))[0] == HISTORY.order.regular - 1
    assert clock.begin(np.array([0], dtype=np.uint16), np.random.default_rng(0))[0] == pytest.approx(
        HISTORY.order.bounds[0], abs=10
    )


def test_a_clock_of_listed_values_knows_only_these() -> None:
    """As years of a survey."""
    clock = Clock(Levels("year", pt.Integer(min=68, max=75, only=(68, 69, 73, 75), missing=False)), 1.0)
    assert clock.possible(np.array([69.0, 70.0])).tolist() == [True, False]
    assert clock.room(np.array([68.0, 73.0, 75.0])).tolist() == [3, 1, 0]
    assert clock.latest(np.array([0, 2, 9])).tolist() == [75, 69, 68]
    assert clock.move(np.array([69.0]), np.array([3.0]))[0] == 73


@pytest.mark.parametrize(
    ("order", "column"),
    [
        ("day", pt.Datetime(min="2020-01-01", max="2020-03-31", missing=True)),
        ("day", pt.Ordinal(categories=("first", "second", "third"), missing=True)),
        ("day", pt.Real(min=0, max=1, missing=False)),
        (None, pt.Boolean()),
    ],
)
def test_rows_follow_each_other_by_any_order_and_by_none(order: str | None, column: object) -> None:
    """Also where what orders them may be missing, and where there are more rows than places."""
    schema = visits_schema(order=order)
    history = History.of(schema.model_copy(update={"columns": {**schema.columns, "day": column}}))
    tiles = {each.name: Tiles(each.name, tuple(range(each.size))) for each in history.levels}
    tables = {each.name: np.full((2, each.size), 1 / each.size) for each in history.levels}
    even = Mixture(np.full(2, 0.5), tiles, tables, {each.name: np.ones(each.size) for each in history.levels})
    codes = {each.name: np.zeros(20, dtype=np.uint16) for each in history.of_person}
    codes[COUNT] = np.arange(20, dtype=np.uint16) % history.counts[0].size
    drawn = Steps(history, even).draw(Records(20, codes, {}), np.random.default_rng(0))
    assert set(drawn.persons.tolist()) == set(range(20))
    assert all(drawn.records.codes[each.name].max() < each.size for each in history.rows)
    for values in drawn.numbers.values():
        known = drawn.records.codes["day"] != (
            history.order.missing if history.order and history.order.has_missing else -1
        )
        assert np.isfinite(values).all()
        same = np.diff(drawn.persons) == 0
        assert (np.diff(values)[same & known[1:] & known[:-1]] >= 0).all() or history.order.has_missing  # type: ignore[union-attr]
