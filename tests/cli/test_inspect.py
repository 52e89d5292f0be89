"""`pointillist inspect`."""

import json
from pathlib import Path

from tests.fixtures.command_line import COLUMNS, JOBS, Made, Run


def test_inspect_shows_a_release(run: Run, made: Made) -> None:
    outcome = run("inspect", "people.release")
    assert outcome.code == 0
    for words in ("Release", "of people", "differentially private", "one-way marginals", "pairs of columns"):
        assert words in outcome.shown
    facts = json.loads(run("inspect", "people.release", "--json").out)
    assert facts["kind"] == "release"
    assert facts["rows"] is None  # the number of rows is private under add-remove
    assert facts["guarantee"]["epsilon"] == 1.0
    assert facts["plan"]["method"] == "mosaic"
    assert list(facts["schema"]["columns"]) == list(COLUMNS)


def test_inspect_shows_a_model(run: Run, made: Made) -> None:
    outcome = run("inspect", "people.model")
    assert outcome.code == 0
    for words in ("Model of people", "differentially private", "mixture", "categorical"):
        assert words in outcome.shown
    facts = json.loads(run("inspect", "people.model", "--json").out)
    assert facts["kind"] == "model"
    assert facts["release"] == json.loads(run("inspect", "people.release", "--json").out)["id"]
    assert list(facts["schema"]["columns"]) == list(COLUMNS)


def test_inspect_shows_a_schema(run: Run, table: Path) -> None:
    outcome = run("inspect", "people.toml")
    assert outcome.code == 0
    for words in ("Schema: people", "cook, nurse, smith", "0 … 120", "Privacy unit: one row."):
        assert words in outcome.shown
    facts = json.loads(run("inspect", "people.toml", "--json").out)
    assert facts["name"] == "people"
    assert facts["columns"]["job"]["categories"] == list(JOBS)
