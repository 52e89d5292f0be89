"""Questions: every one makes the statistic that it says, of the release and of what was made of it."""

import pytest

import pointillist as pt
from pointillist.errors import UsageError


def test_questions_are_called_by_what_they_ask(counted: pt.Received) -> None:
    names = [
        counted.mean("x").name,
        counted.expect("x * 2", where="y > 0").name,
        counted.probability("y > 0").name,
        counted.count().name,
        counted.count("y > 0").name,
        counted.total("x").name,
        counted.quantile("x").name,
        counted.quantile("x", 0.25, where="y > 0").name,
        counted.correlation("x", "y").name,
    ]
    assert names == [
        "mean of x",
        "mean of x * 2 where y > 0",
        "share of y > 0",
        "count",
        "count of y > 0",
        "sum of x",
        "median of x",
        "quantile 0.25 of x where y > 0",
        "correlation of x and y",
    ]


def test_inputs_of_a_regression_are_told_apart(counted: pt.Received) -> None:
    assert list(counted.regression("y", ["x", "x * x"])) == ["constant", "x", "x * x"]
    assert list(counted.regression("y", ["x", "x"])) == ["constant", "x (1)", "x (2)"]
    with pytest.raises(UsageError, match="name the inputs in a list"):
        counted.regression("y", [])


def test_bounds_and_units_are_those_of_a_column_and_of_nothing_made_of_it(counted: pt.Received) -> None:
    number = pt.receive(counted.release, model=counted.model, rows=100)
    assert number.expect("x", where="x > 3.99").high <= 4
    made = number.push({"x": "x * 100"})
    assert made.step is not None
    assert made.received is number
    assert made.expect("x").value == pytest.approx(100 * number.expect("x").value)


def test_a_column_must_be_there(counted: pt.Received) -> None:
    with pytest.raises(UsageError, match=r"'wage' is not a column\. Columns: x, y, kind"):
        counted.mean("wage")
