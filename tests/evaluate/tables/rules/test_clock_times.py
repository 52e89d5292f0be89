"""Clock times: told from other whole numbers by their last two digits."""

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.evaluate.tables.rules.base import Rule, facts_of
from pointillist.evaluate.tables.rules.clock_times import ClockTimes, valid
from pointillist.evaluate.tables.sample import read

SCHEMA = pt.Schema(name="clock", columns={"t": pt.Integer(min=0, max=9_999)})


def found(real: np.ndarray, made: np.ndarray) -> list[Rule]:
    samples = [read(pa.table({"t": pa.array([*each.tolist(), None])}), SCHEMA) for each in (real, made)]
    return list(ClockTimes().find(facts_of(*samples)))


def times(seed: int, rows: int = 999) -> np.ndarray:
    minutes = np.random.default_rng(seed).integers(0, 1440, rows)
    return minutes // 60 * 100 + minutes % 60


def test_times_and_what_is_none() -> None:
    (rule,) = found(times(1), np.concatenate([times(2)[:900], np.full(99, 1361)]))
    assert rule.columns == ("t",)
    assert rule.broken == pytest.approx(0.099)


@pytest.mark.parametrize(
    "values",
    [np.arange(1_000) * 2, np.repeat([100, 500, 1_000, 2_000], 250), np.arange(1_000) % 60, times(1, 60) + 3_000],
    ids=["even numbers", "round numbers", "small numbers", "large numbers"],
)
def test_other_numbers_are_no_times(values: np.ndarray) -> None:
    assert found(values, values) == []


def test_the_ends_of_a_day() -> None:
    assert valid(np.array([0.0, 59.0, 60.0, 2359.0, 2400.0, 2401.0, -1.0, np.nan])).tolist() == [
        True, True, False, True, True, False, False, False,
    ]  # fmt: skip
