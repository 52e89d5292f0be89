"""Person: who a row belongs to, and in which order rows come."""

import pytest
from tests.fixtures.visits import visits_schema

import pointillist as pt
from pointillist.errors import SchemaError

AGE = {"kind": "integer", "min": 0, "max": 99}


def facts(**more: object) -> dict[str, object]:
    return {"name": "s", "person": {"column": "who", "max_rows": 3}, "columns": {"age": AGE, "day": AGE}} | more


def test_what_earlier_versions_did_not_know_is_not_written_where_it_is_not_set() -> None:
    person = pt.Person(column="who", max_rows=3)
    assert person.facts() == {"column": "who", "max_rows": 3}
    assert pt.Schema.parse(facts()).to_json()["person"] == person.facts()
    assert "of" not in pt.Schema.parse(facts()).to_json()["columns"]["age"]


def test_a_schema_with_histories_comes_back_from_its_file(tmp_path: object) -> None:
    import tomllib

    schema = visits_schema()
    assert pt.Schema.parse(tomllib.loads(schema.to_toml())) == schema
    assert pt.Schema.from_json(schema.to_json()) == schema


def test_the_order_of_rows_does_not_matter_to_the_unit() -> None:
    one, other = (pt.Person(column="who", max_rows=3, order=order) for order in ("day", None))
    assert one.unit == other.unit == other


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"person": {"column": "who", "max_rows": 3, "order": "week"}}, "'week' is not a measured column"),
        (
            {"person": {"column": "who", "max_rows": 3, "order": "sex"}, "columns": {"sex": {"kind": "boolean"}}},
            "has no order",
        ),
        ({"person": None, "columns": {"age": {**AGE, "of": "person"}}}, "there is no \\[person\\]"),
        ({"columns": {"age": {**AGE, "of": "person"}}}, "every column has of"),
        (
            {
                "person": {"column": "who", "max_rows": 3, "order": "age"},
                "columns": {"age": {**AGE, "of": "person"}, "day": AGE},
            },
            "rows differ in what orders them",
        ),
    ],
)
def test_what_makes_no_sense_of_persons_is_refused(more: dict[str, object], said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        pt.Schema.parse(facts(**more))
