"""`pointillist join`: an owner's key for a plan."""

import stat
from pathlib import Path

import pytest
from tests.fixtures.command_line import Run, refused_free, schema_text, write

import pointillist as pt

JOIN: list[object] = ["join", "people.plan", "--owner", 2, "-o", "2.join"]


@pytest.fixture(autouse=True)
def plan(at_work: Path) -> Path:
    made = pt.shared_plan(write("people.toml", schema_text()), owners=3, epsilon=1.0, trust="sum")
    return write("people.plan", made.to_bytes())


def test_the_secret_stays_and_the_rest_goes(run: Run) -> None:
    shown = run(*JOIN).shown
    assert "Your secret is in 2.key" in shown
    assert "the collector: pointillist merge *.join --plan people.plan" in shown
    assert stat.S_IMODE(Path("2.key").stat().st_mode) == 0o600
    assert run(*JOIN, "--key", "other.key", "--overwrite", "--quiet").out == ""
    assert Path("other.key").exists()


def test_joins_that_are_refused(run: Run) -> None:
    refused_free(run, [*JOIN, "--owner", 4], 2, "numbered from 1")
    refused_free(run, ["join", "none.plan", "--owner", 2, "-o", "2.join"], 6, "no such file")
    refused_free(run, [*JOIN, "--key", "people.plan"], 2, "never written over")
    run(*JOIN)
    refused_free(run, JOIN, 2, "2.join: is there already")
    refused_free(run, [*JOIN, "-o", "two.join", "--key", "2.key"], 2, "never written over")
