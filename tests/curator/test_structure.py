"""Columns that follow from others are found, and nothing that does not."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

from pointillist.curator.table_drafting import draft
from pointillist.schema import Derived, Schema

ROWS = 2_000


def table(**changed: Any) -> pa.Table:
    rng = np.random.default_rng(0)
    time = 100 * rng.integers(0, 24, ROWS) + rng.integers(0, 60, ROWS)
    a, b = rng.gamma(2, 900, ROWS).round(2), rng.gamma(2, 40, ROWS).round(2)
    code = rng.choice(["AA", "DL", "UA"], ROWS, p=[0.5, 0.3, 0.2])
    days = np.datetime64("2013-01-01") + rng.integers(0, 365, ROWS)
    columns = {
        "class": a, "b": b, "total": (a + b).round(2), "time": time, "minute": time % 100, "code": code,
        "airline": np.array([{"AA": "American", "DL": "Delta", "UA": "United"}[each] for each in code]),
        "day": days, "month": days.astype("datetime64[M]").astype(int) % 12 + 1, "noise": rng.integers(0, 50, ROWS),
    }  # fmt: skip
    return pa.table({**columns, **changed})


def derived(schema: Schema) -> dict[str, str]:
    return {
        name: column.derived or f"by {column.of}"
        for name, column in schema.columns.items()
        if isinstance(column, Derived)
    }


FOUND = {"total": "`class` + b", "minute": "time % 100", "airline": "by code", "month": "month(`day`)"}


@pytest.mark.parametrize("file", [True, False])
def test_formulas_and_codes_are_found(file: bool, tmp_path: Path) -> None:
    source: Any = table()
    if file:
        pacsv.write_csv(source, tmp_path / "t.csv")
        source = tmp_path / "t.csv"
    made = draft(source, name="s")
    assert derived(made) == FOUND
    assert made.columns["airline"].values == ("American", "Delta", "United")
    assert made.columns["total"].read_from_data == ("kind", "derived", "decimals")


@pytest.mark.parametrize("name", FOUND)
def test_one_row_that_breaks_a_rule_is_enough(name: str) -> None:
    whole = table()
    values = whole[name].to_pylist()
    values[-1], values[-2] = (values[-2], values[-1]) if values[-1] != values[-2] else (values[0], values[1])
    broken = derived(draft(whole.set_column(whole.column_names.index(name), name, pa.array(values)), name="s"))
    assert name not in broken


def test_what_few_rows_have_decides_nothing() -> None:
    """A code that three rows have would tell what these three have."""
    whole = table()
    code, airline = (whole[name].to_pylist() for name in ("code", "airline"))
    code[:3], airline[:3] = ["XX"] * 3, ["Rare"] * 3
    assert "airline" not in derived(draft(table(code=code, airline=airline), name="s"))


def test_of_two_prices_and_their_difference_the_difference_follows() -> None:
    """Else prices would come out that there are not."""
    rng = np.random.default_rng(0)
    list_price, paid = rng.choice([1.69, 1.79, 1.99, 2.09], 500), rng.choice([1.29, 1.49, 1.59, 1.69], 500)
    rows = pa.table(
        {"list": list_price, "off": (list_price - paid).round(2), "paid": paid, "week": rng.integers(0, 50, 500)}
    )
    assert derived(draft(rows, name="s")) == {"off": "list - paid"}


def test_months_of_a_year_and_what_was_computed_in_single_precision() -> None:
    """A date as a number; a square whose last digits are those of a float."""
    draw = np.random.default_rng(3)
    year, month = draw.integers(2000, 2016, 2_000), draw.integers(1, 13, 2_000)
    income = draw.gamma(2, 30, 2_000).round(1).astype(np.float32)
    columns = {"year": year, "month": month, "date": year + (month - 1) / 12, "income": income, "squared": income**2}
    found = draft(pa.table(columns), name="months").columns
    assert found["date"].derived == "`year` + (`month` - 1) / 12"
    assert found["squared"].derived == "income * income"
