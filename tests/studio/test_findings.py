from typing import Any

from tests.studio.conftest import RARE

from pointillist.curator.reviewing import review
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


def test_without_counts_facts_are_still_listed(visitor: Any) -> None:
    visitor.work("open")
    (visitor.project.scratch / "findings.json").unlink()
    schema = visitor.project.schema()
    assert [each.fact for each in findings.noted(visitor.project, schema)] == [each.fact for each in review(schema)]
    assert findings.safer(visitor.project, schema, [("job", "categories")]) == schema


def test_what_the_owner_stated_is_no_finding(visitor: Any) -> None:
    visitor.work("open")
    schema = visitor.project.schema()
    job = schema.columns["job"].model_copy(update={"read_from_data": ()})
    stated = schema.model_copy(update={"columns": {**schema.columns, "job": job}})
    assert "job" not in {each.column for each in findings.noted(visitor.project, stated)}
