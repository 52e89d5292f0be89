"""A review shows what few rows share first, and what would say less."""

import numpy as np
import pyarrow as pa
import pytest

from pointillist.curator.reviewing import FEW, review, safer
from pointillist.curator.table_drafting import draft
from pointillist.reading.opening import open_source
from pointillist.schema import Schema

ROWS = 1_000


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(0)
    job = rng.choice(["cook", "nurse", "pilot"], ROWS).tolist()
    job[0] = "astronaut"
    age = rng.integers(18, 91, ROWS)
    age[1] = 131
    return pa.table(
        {"sex": rng.choice(["f", "m"], ROWS), "job": job, "age": age, "pay": rng.gamma(2, 900, ROWS).round(2)}
    )


@pytest.fixture(scope="module")
def schema(table: pa.Table) -> Schema:
    return draft(table, name="s")


def test_what_one_row_has_comes_first(table: pa.Table, schema: Schema) -> None:
    found = review(schema, open_source(table))
    first = {(each.column, each.fact) for each in found if each.rows == 1}
    assert ("job", "categories") in first
    assert ("age", "max") in first
    assert [each.rows for each in found] == sorted(each.rows for each in found)
    assert next(each for each in found if each.column == "sex").rows > FEW


def test_safer_changes_only_what_few_rows_share(table: pa.Table, schema: Schema) -> None:
    made = safer(schema, review(schema, open_source(table)))
    assert made.columns["job"].categories == ("cook", "nurse", "pilot")
    assert made.columns["age"].max > schema.columns["age"].max
    assert made.columns["sex"] == schema.columns["sex"]
    assert not made.reviewed
    again = [each for each in review(made, open_source(table)) if each.column == "job"]
    assert not again[0].revealing


def test_without_the_data_nothing_is_counted_or_changed(schema: Schema) -> None:
    found = review(schema)
    assert {each.rows for each in found} == {None}
    assert found[0].fact == "categories"
    assert safer(schema, found) == schema


def test_only_what_was_read_from_the_data_is_shown(schema: Schema) -> None:
    known = Schema.parse(
        {
            **schema.model_dump(),
            "columns": {name: {**c.model_dump(), "read_from_data": ()} for name, c in schema.columns.items()},
        }
    )
    assert review(known) == ()


def test_what_was_found_about_persons_is_named() -> None:
    schema = Schema.parse(
        {
            "name": "visits",
            "read_from_data": ["rows", "order", "persons"],
            "person": {"column": "patient", "max_rows": 5, "order": "day", "persons": 1_500},
            "columns": {"day": {"kind": "integer", "min": 0, "max": 365}},
        }
    )
    found = {each.fact: each.text for each in review(schema)}
    assert "in the order of day" in found["order"]
    assert "1,500 persons" in found["persons"]
    assert review(schema.model_copy(update={"read_from_data": ("rows",)})) == ()


def test_one_row_is_and_two_rows_are(table: pa.Table, schema: Schema) -> None:
    texts = {(each.column, each.fact): each for each in review(schema, open_source(table))}
    assert "; 1 row is that high" in texts["age", "max"].text
    low = texts["age", "min"]
    assert f"; {low.rows:,} rows are that low" in low.text


def test_a_round_bound_gives_nobody_away(table: pa.Table, schema: Schema) -> None:
    source = open_source(table)
    made = safer(schema, review(schema, source))
    assert not [each for each in review(made, source) if each.revealing]


@pytest.mark.parametrize(
    ("column", "high", "round_number"),
    [
        ({"kind": "integer", "min": 0, "max": 9}, 9, False),  # no rounding hides that somebody has 9 children
        ({"kind": "integer", "min": 0, "max": 90}, 90, True),
        ({"kind": "integer", "min": 0, "max": 91}, 91, False),
        ({"kind": "real", "min": 0.0, "max": 2.6}, 2.6, True),
        ({"kind": "real", "min": 0.0, "max": 2.43}, 2.43, False),
    ],
)
def test_what_a_round_number_is(column: dict[str, object], high: float, round_number: bool) -> None:
    schema = Schema.parse({"name": "t", "columns": {"x": {**column, "read_from_data": ["min", "max"]}}})
    found = {each.fact: each for each in review(schema, open_source(pa.table({"x": [high]})))}
    assert found["max"].revealing is not round_number
    assert ("a round number" in found["max"].text) is round_number
    assert not found["min"].revealing  # a zero is where counting begins
