from typing import Any

import pytest
from starlette.datastructures import FormData

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.studio.steps.make import asked_in, conditions

SCHEMA = pt.Schema(
    name="t",
    columns={"sex": pt.Categorical(categories=("female", "male")), "age": pt.Integer(min=0, max=110)},
)


def test_women_over_sixty() -> None:
    assert conditions([["sex", "female"], ["age", "60.."]], SCHEMA) == {"sex": "female", "age": (60, None)}
    assert conditions([["age", "20"], ["age", "30"]], SCHEMA) == {"age": [20, 30]}


def test_a_form_in_full() -> None:
    form = FormData(
        {"rows": "50", "seed": "1", "format": "tsv", "column0": "age", "value0": "60..70", "balance": "sex"}
    )
    found = asked_in(form, SCHEMA)
    assert found == {"rows": "50", "seed": "1", "format": "tsv", "given": [["age", "60..70"]], "balance": "sex"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rows": "-3"}, "rows must be a whole number"),
        ({"rows": "99999999999"}, "rows must be"),
        ({"format": "exe"}, "format 'exe' is not known"),
        ({"column0": "sex", "value0": "robot"}, "'robot' is not one of its values"),
        ({"column0": "age", "value0": "old"}, "neither a number nor a range"),
        ({"column0": "nothing", "value0": "1"}, "not a measured column"),
        ({"balance": "nothing"}, "not a measured column"),
    ],
)
def test_mistakes_are_told_before_anything_is_fitted(fields: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        asked_in(FormData({"format": "csv", **fields}), SCHEMA)


def test_rows_are_shown_and_can_be_taken(walked: Any) -> None:
    page = walked.get("make").text
    assert "200 synthetic rows" in page
    table = walked.get("make/file").text.splitlines()
    assert len(table) == 201
    assert table[0].replace('"', "") == "sex,age,job,member"
