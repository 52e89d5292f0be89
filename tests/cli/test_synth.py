"""`pointillist synth`."""

import json
from pathlib import Path

from tests.fixtures.command_line import COLUMNS, Run, read, spends, synth_args

from pointillist.privacy.ledger import State


def test_synth_goes_the_whole_way_and_keeps_the_release(run: Run, table: Path) -> None:
    outcome = run(*synth_args("-n", 50, "--seed", 1, "--target", "job"))
    assert outcome.code == 0
    assert "50 synthetic rows written to made.csv" in outcome.shown
    assert read("made.csv").num_rows == 50
    assert json.loads(run("inspect", "made.release", "--json").out)["target"] == "job"
    assert [spend.state for spend in spends()] == [State.DONE]


def test_synth_names_what_comes_after_it_and_no_step_that_it_took(run: Run, table: Path) -> None:
    shown = run(*synth_args()).shown
    assert shown.count("Next:") == 1
    assert "Next: pointillist evaluate people.csv made.csv --release made.release" in shown
    assert "pointillist card made.release" in shown
    assert "pointillist fit" not in shown


def test_synth_keeps_the_release_where_it_is_told(run: Run, table: Path) -> None:
    assert run(*synth_args("--release", "kept.release", "--quiet")).code == 0
    assert Path("kept.release").exists()
    assert not Path("made.release").exists()
    assert read("made.csv").column_names == list(COLUMNS)
