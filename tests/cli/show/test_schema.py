"""A schema in a terminal: whole names, and a draft of many columns is a screenful."""

from collections.abc import Callable
from pathlib import Path

import pytest

import pointillist as pt
from pointillist.cli.show.schema import show_draft, show_last_look, show_schema

Shown = Callable[[], list[str]]
WIDE = pt.Schema(
    name="wide",
    columns={
        name: column
        for number in range(14)
        for name, column in {
            f"household_income_before_tax_{number}": pt.Real(min=0, max=1e6, read_from_data=("kind", "min", "max")),
            f"marital_status_{number}": pt.Categorical(
                categories=("divorced or separated", "married", "never married")
            ),
            f"children_{number}": pt.Integer(min=0, max=20),
            f"interviewed_{number}": pt.Datetime(min="2020-01-01", max="2025-12-31"),
            f"remarks_{number}": pt.Ignore(description="many different texts"),
        }.items()
    },
)


def test_a_draft_of_70_columns_is_a_screenful(shown: Shown) -> None:
    show_draft(WIDE, Path("wide.toml"))
    lines = shown()
    assert len(lines) <= 32
    assert max(map(len, lines)) <= 80
    assert "… and 50 more columns: see wide.toml." in lines
    assert "Left out: remarks_0, remarks_1, remarks_2, remarks_3, … (14 columns): many" in " ".join(lines)


def test_a_schema_has_a_line_for_each_column_and_whole_names(shown: Shown) -> None:
    show_schema(WIDE)
    lines = shown()
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines[3:73]] == list(WIDE.columns)


def test_a_name_that_is_too_long_is_broken_and_not_cut(shown: Shown) -> None:
    name = "".join(chr(ord("a") + number % 26) for number in range(100))
    show_schema(pt.Schema(name="long", columns={name: pt.Boolean()}))
    assert name in "".join(line.split()[0] for line in shown())


def test_the_last_look_has_the_facts_about_persons(capsys: pytest.CaptureFixture[str]) -> None:
    person = pt.Person(column="id", max_rows=3, order="day", persons=1_500)
    columns = {"day": pt.Integer(min=0, max=365)}
    show_last_look(pt.Schema(name="t", read_from_data=("order", "persons"), person=person, columns=columns))
    assert "the table: order = day; persons = 1500" in capsys.readouterr().err
