"""The console shows names and paths as they are."""

from pathlib import Path

import pytest
from tests.fixtures.command_line import Run, release_args, write


def test_names_in_square_brackets_are_shown_as_they_are(run: Run) -> None:
    write("units.toml", 'name = "survey[/v1]"\n[columns."weight [kg]"]\nkind = "integer"\nmin = 0\nmax = 200\n')
    outcome = run("inspect", "units.toml")
    assert outcome.code == 0, outcome
    assert "weight [kg]" in outcome.shown
    assert "survey[/v1]" in outcome.shown
    outcome = run("release", "nowhere.csv", "--schema", "units.toml", "--epsilon", 1, "--plan")
    assert outcome.code == 0, outcome
    assert "survey[/v1]" in outcome.shown


@pytest.mark.parametrize("name", ["out [new]", "a[/b]"])
def test_paths_in_square_brackets_are_shown_as_they_are(run: Run, table: Path, name: str) -> None:
    output = Path(name) / "people.release"
    output.parent.mkdir(parents=True)
    outcome = run(*release_args("-o", output))
    assert outcome.code == 0, outcome
    assert f"Written to {output}." in outcome.shown
