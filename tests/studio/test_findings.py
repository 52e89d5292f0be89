from typing import Any

import pyarrow as pa
from pyarrow import parquet
from tests.studio.conftest import RARE, rows

from pointillist.curator.reviewing import FEW, review
from pointillist.studio import findings


def test_the_most_revealing_comes_first_and_can_be_made_safer(visitor: Any) -> None:
    visitor.work("open")
    schema = visitor.project.schema()
    found = findings.noted(visitor.project, schema)
    assert (found[0].column, found[0].fact, found[0].rows, found[0].revealing) == ("job", "categories", 1, True)
    made = findings.safer(visitor.project, schema, [("job", "categories")])
    assert RARE in schema.columns["job"].categories
    assert RARE not in made.columns["job"].categories
    assert {**made.columns, "job": None} == {**schema.columns, "job": None}


def test_findings_follow_the_schema(visitor: Any) -> None:
    """What was made safer is not warned of again, and what was undone is."""
    visitor.work("open")
    before = visitor.project.schema()
    made = findings.safer(visitor.project, before, [("job", "categories")])
    (job,) = [each for each in findings.noted(visitor.project, made) if each.column == "job"]
    assert (job.revealing, job.mendable) == (False, False)
    assert job.rows >= FEW
    assert RARE not in job.text
    assert findings.complete(visitor.project, made)
    assert findings.noted(visitor.project, before)[0].revealing


def test_a_round_bound_is_safe_whoever_has_it(visitor: Any) -> None:
    table = rows()
    table = table.set_column(1, "age", pa.array([131, *table.column("age").to_pylist()[1:]]))
    parquet.write_table(table, visitor.table)
    visitor.work("open")
    schema = visitor.project.schema()
    high = next(each for each in findings.noted(visitor.project, schema) if (each.column, each.fact) == ("age", "max"))
    assert (high.rows, high.revealing, high.mendable) == (1, True, True)
    made = findings.safer(visitor.project, schema, [("age", "max")])
    again = next(each for each in findings.noted(visitor.project, made) if (each.column, each.fact) == ("age", "max"))
    assert (again.revealing, again.mendable) == (False, False)
    assert "a round number" in again.text


def test_a_column_that_cannot_be_counted_again_is_still_listed(visitor: Any) -> None:
    visitor.work("open")
    visitor.table.unlink()
    schema = visitor.project.schema()
    assert findings.complete(visitor.project, schema)
    job = schema.columns["job"].model_copy(update={"description": "what they do"})
    other = schema.model_copy(update={"columns": {**schema.columns, "job": job}})
    assert not findings.complete(visitor.project, other)
    assert [each.rows for each in findings.noted(visitor.project, other) if each.column == "job"] == [None]


def test_without_counts_facts_are_still_listed(visitor: Any) -> None:
    visitor.work("open")
    (visitor.project.scratch / "findings.json").unlink()
    assert findings.gone(visitor.project)
    schema = visitor.project.schema()
    assert not findings.complete(visitor.project, schema)
    assert [each.fact for each in findings.noted(visitor.project, schema)] == [each.fact for each in review(schema)]
    assert findings.safer(visitor.project, schema, [("job", "categories")]) == schema


def test_what_the_owner_stated_is_no_finding(visitor: Any) -> None:
    visitor.work("open")
    schema = visitor.project.schema()
    job = schema.columns["job"].model_copy(update={"read_from_data": ()})
    stated = schema.model_copy(update={"columns": {**schema.columns, "job": job}})
    assert "job" not in {each.column for each in findings.noted(visitor.project, stated)}
