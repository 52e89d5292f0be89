"""Coefficients are those of least squares, over the rows that have all numbers and meet the condition."""

import numpy as np
import pytest

import pointillist as pt
from pointillist.inference.coefficient import Coefficient
from pointillist.inference.sql_expression import ALL_ROWS, Function

RNG = np.random.default_rng(3)
NUMBERS = RNG.standard_normal((200, 3))
OUTCOME, *INPUTS = (Function(name, lambda table: np.zeros(table.num_rows), frozenset({name})) for name in "yab")


def values() -> np.ndarray:
    found = np.column_stack([NUMBERS, np.ones(200)])
    found[:5, 1], found[5:10, -1] = np.nan, 0.0
    return found


def test_they_are_those_of_least_squares() -> None:
    kept = NUMBERS[10:]
    truth = np.linalg.lstsq(np.column_stack([np.ones(190), kept[:, 1:]]), kept[:, 0], rcond=None)[0]
    for place, name in enumerate(("constant", "a", "b")):
        asked = Coefficient(OUTCOME, tuple(INPUTS), place, name, ALL_ROWS)
        assert asked.of(values(), np.ones(200)) == pytest.approx(truth[place])
        assert asked.name == f"{name} in the regression of y"
        influence = asked.influence(values(), np.ones(200))
        assert (influence[:10] == 0).all()
        assert influence.sum() == pytest.approx(0, abs=1e-9)


def test_inputs_that_say_the_same_have_none() -> None:
    same = values()
    same[:, 2] = same[:, 1]
    assert np.isnan(Coefficient(OUTCOME, tuple(INPUTS), 1, "a").of(same, np.ones(200)))


def test_tables_of_every_two_columns_tell_it(counted: pt.Received, known) -> None:
    """At this noise (epsilon 3 and 2,000 rows) the interval is within 5 of a slope that lies near 0."""
    found = counted.regression("y", ["x"])["x"]
    assert found.basis in ("measured", "bounded", "not measured")
    x, y = (np.asarray(known(2_000, 1)[name]) for name in "xy")
    if found.known:
        assert found.high - found.low < 5
        assert abs((found.low + found.high) / 2 - np.polyfit(x, y, 1)[0]) < 7 * (found.high - found.low)
