"""Pushforward: questions about a table that was made of the rows are answered as questions about the release."""

from typing import Any

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import UsageError


def test_the_weights_column_has_a_name_of_its_own(received: pt.Received) -> None:
    pushed = received.push({"weight": "x", "weight_": "y"})
    assert pushed.weight_name == "weight__"
    assert pushed.to_frame("pyarrow").column_names == ["weight", "weight_", "weight__"]


def test_questions_go_through(received: pt.Received) -> None:
    pushed = received.push({"square": "x * x", "letter": "upper(kind)"})
    assert pushed.columns == ["square", "letter"]
    asked = [
        (pushed.expect("square + 1"), received.expect("x * x + 1")),
        (pushed.probability("square > 1"), received.probability("x * x > 1")),
        (pushed.quantile("square", 0.7), received.quantile("x * x", 0.7)),
        (pushed.probability("letter = 'A'"), received.probability("kind = 'a'")),
        (pushed.push({"root": "sqrt(square)"}).expect("root"), received.expect("abs(x)")),
    ]
    for through, direct in asked:
        assert (through.value, through.low, through.high) == pytest.approx(
            (direct.value, direct.low, direct.high), rel=1e-6, abs=1e-9
        )
        assert through.basis == direct.basis


def test_functions_of_frames(received: pt.Received) -> None:
    def made(table: pa.Table) -> pa.Table:
        return pa.table({"twice": 2 * table["x"].to_numpy()})

    pushed = received.push(made)
    assert pushed.expect("twice").low == pytest.approx(received.expect("2 * x").low)
    assert pushed.to_frame("polars").columns == ["twice", "weight"]
    assert pushed.to_frame("pandas", count=7).shape == (7, 1)
    assert "1 columns" in repr(pushed)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ("x * 2", "give the new column a name"),
        ({}, "at least one column"),
        ({"a": "wage"}, "'wage' is not a column"),
        (3, "formulas by name or a function"),
    ],
)
def test_mistakes_are_named(made: Any, message: str, received: pt.Received) -> None:
    with pytest.raises(UsageError, match=message):
        received.push(made)


def test_a_function_must_keep_the_rows(received: pt.Received) -> None:
    with pytest.raises(UsageError, match="made 3 rows of 200"):
        received.push(lambda table: table.slice(0, 3)).expect("x")
    with pytest.raises(UsageError, match="must return a frame"):
        received.push(lambda table: 3).expect("x")
    with pytest.raises(UsageError, match="frame 'cudf' is not known"):
        received.push({"a": "x"}).to_frame("cudf")
