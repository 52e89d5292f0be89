"""Statistics: values as rows give them, derivatives, names, units and bounds."""

import math

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.inference.coefficient import Coefficient
from pointillist.inference.sql_expression import ALL_ROWS, Expression, Function
from pointillist.inference.statistic import Correlation, Count, Mean, Quantile, Share, Statistic, Total
from pointillist.schema.levels import Levels

TABLE = pa.table({"x": [1.0, 2.0, None, 4.0, 10.0], "y": [2.0, 1.0, 5.0, 5.0, 8.0]})
DAYS = Levels("x", pt.Datetime(min="2020-01-01", max="2020-12-31", missing=False))


def number(text: str) -> Function:
    return Expression.parse(text, TABLE.column_names).number


def event(text: str) -> Function:
    return Expression.parse(text, TABLE.column_names).event


@pytest.mark.parametrize(
    ("statistic", "name", "value"),
    [
        (Mean(number("x")), "mean of x", 17 / 4),
        (Mean(number('"x"'), event("y > 1.5")), "mean of x where y > 1.5", 5.0),
        (Share(event("x > 1")), "share of x > 1", 3 / 5),
        (Count(event("x > 1")), "count of x > 1", 3 / 5),
        (Count(ALL_ROWS), "count", 1.0),
        (Total(number("x + 1"), event("y > 4")), "sum of x + 1 where y > 4", 16 / 5),
        (Quantile(number("x"), 0.5), "median of x", 2.0),
        (Quantile(number("x"), 0.9, event("y < 8")), "quantile 0.9 of x where y < 8", 4.0),
        (Correlation(number("y"), number("2 - y")), "correlation of y and 2 - y", -1.0),
        (Coefficient(number("3 * y + 1"), (number("y"),), 1, "y"), "y in the regression of 3 * y + 1", 3.0),
        (Mean(number("x"), event("y > 100")), "mean of x where y > 100", math.nan),
    ],
)
def test_values_and_names(statistic: Statistic, name: str, value: float) -> None:
    assert statistic.name == name
    assert statistic.of_table(TABLE) == pytest.approx(value, nan_ok=True)


def test_a_column_gives_its_unit_and_its_bounds() -> None:
    for statistic in (Mean(Function.of_column(DAYS)), Quantile(Function.of_column(DAYS), 0.5)):
        assert statistic.unit == "day"
        assert statistic.bounds == DAYS.bounds
    assert Mean(number("x")).unit == "number"
    assert Mean(number("x")).bounds == (-math.inf, math.inf)
    assert (Share(event("x > 1")).unit, Share(event("x > 1")).bounds) == ("share", (0.0, 1.0))
    assert Correlation(number("x"), number("y")).bounds == (-1.0, 1.0)


def test_weights_count() -> None:
    values, weights = Mean(number("y")).values(TABLE), np.array([0.5, 0.5, 0.0, 0.0, 0.0])
    assert Mean(number("y")).of(values, weights) == pytest.approx(1.5)
    assert Quantile(number("y"), 1.0).of(values, weights) == 2.0


def test_influences_are_derivatives(received: pt.Received) -> None:
    """Every statistic, against differences: moving weight to a row moves it by the row's influence."""
    table = received.rows
    x, y, event = (Expression.parse(text, received.columns).number for text in ("x", "y", "cast(x > 0 as int)"))
    weights = np.random.default_rng(1).random(table.num_rows)
    weights /= weights.sum()
    for statistic in (
        Mean(x, event),
        Share(event),
        Total(x, event),
        Correlation(x, y),
        Coefficient(y, (x,), 1, "x"),
        Coefficient(y, (x,), 0, "constant", event),
    ):
        values = statistic.values(table)
        influence = statistic.influence(values, weights)
        assert weights @ influence == pytest.approx(0, abs=1e-9)
        for row in (3, 77):
            step = 1e-6
            moved = (1 - step) * weights
            moved[row] += step
            slope = (statistic.of(values, moved) - statistic.of(values, weights)) / step
            assert slope == pytest.approx(influence[row], abs=1e-3 * (1 + abs(influence[row])))
