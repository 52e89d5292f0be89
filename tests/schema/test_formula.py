"""Formulas of columns: what they compute, and that they can do nothing else."""

import numpy as np
import pytest

from pointillist.schema.formula import Formula, quoted

COLUMNS = {
    "a": np.array([1359.0, 7.0, np.nan]),
    "b": np.array([1.0, 2.0, 3.0]),
    "a b": np.array([5.0, 6.0, 7.0]),
    "when": np.array(["2013-03-04T05:06", "1969-12-31T23:00", "NaT"], dtype="datetime64[us]"),
    "then": np.array(["2013-03-01T23:59", "1970-01-02T00:00", "2000-01-01"], dtype="datetime64[us]"),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a % 100", [59, 7, np.nan]),
        ("a // 100", [13, 0, np.nan]),
        ("a + b * 2", [1361, 11, np.nan]),
        ("-(b - `a b`)", [4, 4, 4]),
        ("b / 0", [np.nan] * 3),
        ("log(b)", np.log([1, 2, 3])),
        ("year(when)", [2013, 1969, np.nan]),
        ("month(when)", [3, 12, np.nan]),
        ("day(when)", [4, 31, np.nan]),
        ("hour(when)", [5, 23, np.nan]),
        ("weekday(when)", [0, 2, np.nan]),
        ("days(when - then)", [3, -2, np.nan]),
    ],
)
def test_values(text: str, expected: list[float]) -> None:
    np.testing.assert_allclose(Formula(text).values(COLUMNS), expected)


def test_columns_are_named() -> None:
    assert Formula("a + `a b` - hour(when)").columns == ("a", "a b", "when")
    assert Formula("a + hour(when)").dates == ("when",)
    assert Formula("a + days(when - `b c`)").dates == ("when", "b c")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a +",
        "a ** b",
        "open('x')",
        "a.b",
        "a if b else a",
        "[a]",
        "days(a)",
        "days(a + b)",
        "lambda: 1",
        "True",
        "'a'",
        "a" * 600,
    ],
)
def test_nothing_else_is_understood(text: str) -> None:
    with pytest.raises(ValueError):
        _ = Formula(text).columns


@pytest.mark.parametrize("name", ["x", "class", "a b", "größe", "log", "year", "weekday", "days"])
def test_any_name_can_be_written(name: str) -> None:
    assert Formula(f"{quoted(name)} + 1").columns == (name,)
