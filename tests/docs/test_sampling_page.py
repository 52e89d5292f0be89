"""The page on sampling: its schema's constraints are those that its Python states."""

import re
import tomllib
from pathlib import Path

import pointillist as pt
from pointillist.demo.people import SCHEMA

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "sampling.md").read_text(encoding="utf-8")


def test_the_schema_takes_the_constraints() -> None:
    (block,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    schema = pt.Schema.parse({**SCHEMA.to_json(), **tomllib.loads(block)})
    assert [str(each) for each in schema.constraints] == [
        "occupation = homemaker and hours_per_week = 1.. is impossible",
        "birth_date <= last_visit",
        "bmi is missing exactly when last_visit is missing",
    ]
