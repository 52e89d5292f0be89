"""What a caller asks about: formulas and Python functions, made one value for each row."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pointillist.errors import UsageError
from pointillist.inference.python_function import event, number

TABLE = pa.table({"age": [10, 20, 30], "name": ["a", None, "c"]})


def as_is(table: pa.Table) -> pa.Table:
    return table


@pytest.mark.parametrize(
    "made",
    [
        "age * 2",
        lambda table: table["age"].to_numpy() * 2,
        lambda table: [20, 40, 60],
        lambda table: pd.Series([20, 40, 60]),
        lambda table: pl.Series([20, 40, 60]),
        lambda table: pa.array([20, 40, 60]),
    ],
)
def test_every_way_to_write_a_number(made: object) -> None:
    assert number(made, TABLE.column_names, as_is)(TABLE).tolist() == [20, 40, 60]  # type: ignore[arg-type]


def test_events_are_0_or_1_and_what_is_unknown_does_not_hold() -> None:
    assert event("name <> 'a'", TABLE.column_names, as_is)(TABLE).tolist() == [0, 0, 1]
    assert event(lambda table: np.array([1.0, np.nan, 0.0]), [], as_is)(TABLE).tolist() == [1, 0, 0]
    with pytest.raises(UsageError, match="true or false"):
        event(lambda table: [1, 2, 3], [], as_is)(TABLE)


def test_only_formulas_say_what_they_read() -> None:
    assert number("age + 1", TABLE.column_names, as_is).columns == {"age"}
    assert number(lambda table: [1, 2, 3], TABLE.column_names, as_is).columns is None
    made = number("age", TABLE.column_names, as_is)
    assert number(made, [], as_is) is made


def test_functions_are_called_by_their_name() -> None:
    def bonus(table: pa.Table) -> list[int]:
        return [1, 2, 3]

    assert number(bonus, [], as_is).name == "bonus"
    assert number(lambda table: [1, 2, 3], [], as_is).name == "a function"


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (3, "not int"),
        (lambda table: 3, "one value for each row, not int"),
        (lambda table: [1], "returned 1 values for 3 rows"),
        (lambda table: ["a", "b", "c"], "is not a number"),
    ],
)
def test_mistakes_are_named(made: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        number(made, TABLE.column_names, as_is)(TABLE)  # type: ignore[arg-type]
