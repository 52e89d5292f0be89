"""Constraints in a schema: what they say, that they travel, and what is refused."""

import json
import tomllib
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.errors import SchemaError
from pointillist.evaluate.audit.audited_pipeline import AuditedPipeline, Pipeline
from pointillist.schema import Schema

COLUMNS: dict[str, Any] = {
    "id": {"kind": "ignore"},
    "sex": {"kind": "categorical", "categories": ["f", "m"]},
    "pregnant": {"kind": "boolean"},
    "age": {"kind": "integer", "min": 0, "max": 110},
    "pay": {"kind": "real", "min": 0, "max": 9},
    "in": {"kind": "datetime", "min": "2020-01-01", "max": "2020-12-31"},
    "out": {"kind": "datetime", "min": "2020-01-01", "max": "2020-12-31", "resolution": "second"},
}


def parsed(*constraints: Any) -> Schema:
    return Schema.parse({"name": "s", "columns": COLUMNS, "constraints": list(constraints)}, origin="s.toml")


def test_both_ways_to_write_an_order_are_the_same() -> None:
    short, long = (
        parsed(each).constraints[0] for each in ({"rule": "in <= out"}, {"columns": ["in", "out"], "rule": "<="})
    )
    assert short == long == pt.Order(columns=("in", "out"), rule="<=")
    assert str(short) == "in <= out"
    assert parsed({"rule": "age < pay"}).constraints[0].rule == "<"
    assert parsed({"rule": "in <= out", "columns": ["in", "out"]}).constraints == (short,)


def test_constraints_are_values_in_python_too() -> None:
    made = pt.Schema(
        name="s",
        columns={"a": pt.Integer(min=0, max=9), "b": pt.Integer(min=0, max=9)},
        constraints=(pt.Order(columns=("a", "b")), pt.Impossible(impossible={"a": (3, None), "b": None})),
    )
    assert made.constraints[1].impossible == {"a": {"min": 3}, "b": {"missing": True}}
    assert made.constraints[1].names == ("a", "b")
    assert str(made.constraints[1]) == "a = 3.. and b = missing is impossible"


selections = {
    "sex": st.sampled_from(["f", ["f", "m"], None, "other"]),
    "pregnant": st.sampled_from([True, [True, None]]),
    "age": st.sampled_from([5, (3, 9), (None, 7), [1, (5, 6)], {"min": 4}]),
    "pay": st.sampled_from([(0.5, 1), (2.5, None)]),
    "in": st.sampled_from(["2020-02-03", ("2020-02-03", None)]),
}


@given(
    st.lists(
        st.fixed_dictionaries({}, optional=selections).filter(lambda s: len(s) > 1).map(lambda s: {"impossible": s})
        | st.sampled_from([{"rule": "in < out"}, {"columns": ["pay", "age"], "rule": "<="}]),
        max_size=4,
    )
)
def test_constraints_survive_toml_and_json(constraints: list[Any]) -> None:
    schema = parsed(*constraints)
    assert len(schema.constraints) == len(constraints)
    assert Schema.parse(tomllib.loads(schema.to_toml())) == schema
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema


def test_odd_names_survive() -> None:
    columns = {"a <= b": pt.Integer(min=0, max=9), 'c "x"': pt.Integer(min=0, max=9)}
    schema = pt.Schema(name="s", columns=columns, constraints=(pt.Order(columns=("a <= b", 'c "x"')),))
    assert Schema.parse(tomllib.loads(schema.to_toml())) == schema


REFUSED: dict[str, tuple[Any, str]] = {
    "unknown column": (
        {"rule": "age <= weight"},
        "(age <= weight): column 'weight' is not a measured column. Measured",
    ),
    "ignored column": ({"impossible": {"id": 1, "age": 3}}, "column 'id' is not a measured column"),
    "names have no order": ({"rule": "sex <= age"}, "column 'sex' is categorical: only numbers and dates"),
    "a date and a number": ({"rule": "age <= in"}, "column 'age' is a number and column 'in' a date"),
    "itself": ({"rule": "age < age"}, "compares a column with itself"),
    "another rule": ({"rule": "age >= pay"}, "is not of the form"),
    "three columns": ({"columns": ["age", "pay", "age"], "rule": "<="}, "columns"),
    "two sets of columns": ({"columns": ["pay", "age"], "rule": "age <= pay"}, "names other columns"),
    "no columns": ({"rule": "<="}, "columns: is required"),
    "one column": ({"impossible": {"age": 3}}, "fewer than two columns"),
    "no table": ({"impossible": "age"}, "impossible"),
    "an unknown value": ({"impossible": {"sex": "F", "age": 3}}, "column 'sex': 'F' is not one of its values"),
    "out of bounds": ({"impossible": {"sex": "f", "age": 300}}, "column 'age': 300 is outside its bounds"),
    "another type": ({"impossible": {"sex": "f", "pregnant": "yes"}}, "column 'pregnant': 'yes' is not one of"),
    "no range": ({"impossible": {"sex": "f", "age": {"low": 3}}}, "a range is { min = ..., max = ... }"),
    "unknown setting": ({"rule": "age <= pay", "why": "law"}, "why: is not a known setting"),
    "no constraint": (5, "valid dictionary"),
    "a gap by two": ({"missing": "age", "exactly_when": {"sex": "f", "pay": 1}}, "names one column"),
    "a gap by itself": ({"missing": "age", "exactly_when": {"age": 3}}, "names one column"),
    "a gap by what is not there": ({"missing": "age", "exactly_when": {"sex": "F"}}, "column 'sex': 'F' is not one of"),
}


@pytest.mark.parametrize(("constraint", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_a_constraint_without_sense_is_refused_by_number_and_rule(constraint: Any, words: str) -> None:
    with pytest.raises(SchemaError) as caught:
        parsed({"rule": "in <= out"}, constraint)
    assert str(caught.value).startswith("s.toml: constraint 2")
    assert words in str(caught.value)


def test_a_release_keeps_the_constraints_and_private_rows_are_not_held_against_them() -> None:
    """Half of these rows break the constraint; the release neither stops nor says so."""
    facts = {"name": "s", "columns": {"age": COLUMNS["age"], "pay": COLUMNS["pay"]}}
    schema = Schema.parse({**facts, "constraints": [{"rule": "pay <= age"}]})
    rows = {"age": [0, 1, 2, 3] * 50, "pay": [2.0] * 200}
    release = pt.release(pa.table(rows), schema, epsilon=1.0)
    plain = pt.release(pa.table(rows), Schema.parse(facts), epsilon=1.0)
    assert release.schema.constraints == schema.constraints
    assert release.plan.rounds[0] == plain.plan.rounds[0]


def test_an_audit_of_fewer_columns_keeps_the_constraints_about_them() -> None:
    schema = parsed({"rule": "in <= out"}, {"impossible": {"sex": "m", "pregnant": True}})
    subject = AuditedPipeline(schema, 1.0, 1e-5, None, pt.Neighbours.ADD_REMOVE, pt.Mosaic(), Pipeline())
    narrow = subject.narrowed(columns=2, levels=10).schema
    assert set(narrow.columns) == {"sex", "pregnant"}
    assert [str(each) for each in narrow.constraints] == ["sex = m and pregnant = True is impossible"]


def test_gaps_are_said_in_words_and_kept_in_files() -> None:
    schema = parsed({"missing": "pregnant", "exactly_when": {"sex": "m"}})
    assert [str(each) for each in schema.constraints] == ["pregnant is missing exactly when sex is m"]
    assert schema.constraints[0].names == ("pregnant", "sex")
    assert Schema.parse(tomllib.loads(schema.to_toml())) == schema == Schema.from_json(schema.to_json())
