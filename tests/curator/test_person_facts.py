"""Person facts: what a draft finds out about persons with several rows."""

import pyarrow as pa
from tests.fixtures.visits import visits

import pointillist as pt

PERSON = pt.Person(column="who", max_rows=12)


def test_constants_order_and_persons_are_drafted_and_marked() -> None:
    schema = pt.draft(visits(80), name="visits", person=PERSON)
    assert {name: column.of for name, column in schema.columns.items() if column.measured} == {
        "sex": "person",
        "day": "row",
        "score": "row",
        "ward": "row",
    }
    assert "of" in schema.columns["sex"].read_from_data
    assert schema.person is not None
    assert (schema.person.order, schema.person.persons) == ("day", 80)
    assert {"order", "persons"} <= set(schema.read_from_data)
    assert schema.to_toml().count("READ FROM THE DATA") > 5


def test_an_order_that_was_stated_stays() -> None:
    stated = PERSON.model_copy(update={"order": "score"})
    drafted = pt.draft(visits(40), name="visits", person=stated).person
    assert drafted is not None
    assert drafted.order == "score"


def test_nothing_is_said_of_persons_with_one_row_each() -> None:
    table = pa.table({"who": [f"p{n}" for n in range(50)], "score": [n % 7 for n in range(50)], "sex": ["f", "m"] * 25})
    schema = pt.draft(table, name="s", person=PERSON)
    assert all(column.of == "row" for column in schema.columns.values())
    assert schema.person is not None
    assert schema.person.order is None
