"""Columns that follow from others."""

import datetime as dt

import pyarrow as pa
import pytest

from pointillist.errors import SchemaError
from pointillist.schema import Categorical, Datetime, Derived, Integer, Schema

COLUMNS = {
    "t": Integer(min=0, max=2359),
    "c": Categorical(categories=("x", "y")),
    "d": Datetime(min=dt.datetime(2020, 1, 1), max=dt.datetime(2021, 1, 1)),
}


def schema(**derived: Derived) -> Schema:
    return Schema.parse({"name": "s", "columns": {**COLUMNS, **derived}})


def test_it_is_not_measured_and_survives_its_files() -> None:
    made = schema(minute=Derived(derived="t % 100", decimals=0), name=Derived(of="c", codes=("x", "y"), values=(1, 2)))
    assert list(made.measured) == ["t", "c", "d"]
    assert Schema.from_json(made.to_json()) == made


@pytest.mark.parametrize(
    ("derived", "why"),
    [
        (Derived(derived="nobody + 1"), "not a measured column"),
        (Derived(derived="c + 1"), "no formula fits"),
        (Derived(derived="d + 1"), "no formula fits"),
        (Derived(derived="day(t)"), "no formula fits"),
        (Derived(of="d", codes=(1,), values=(2,)), "no codes"),
    ],
)
def test_inputs_are_checked(derived: Derived, why: str) -> None:
    with pytest.raises(SchemaError, match=why):
        schema(z=derived)


@pytest.mark.parametrize(
    "facts", [{}, {"derived": "t", "of": "c"}, {"derived": "1 + 1"}, {"of": "c", "codes": ("x",), "values": ()}]
)
def test_one_way_must_be_given(facts: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Derived(**facts)


def test_types_and_gaps() -> None:
    table = pa.table({"t": [1359, None], "c": ["y", "other"]})
    assert Derived(derived="t // 100", decimals=0).of_table(table) == pa.array([13, None])
    assert Derived(derived="t / 1000", decimals=1).of_table(table) == pa.array([1.4, None])
    assert Derived(of="c", codes=("x", "y"), values=("a", "b")).of_table(table) == pa.array(["b", None])
