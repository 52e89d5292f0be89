"""`pointillist synth`."""

import json
import re
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


def test_a_file_leaves_as_it_came(run: Run) -> None:
    """Semicolons, decimal commas, signs; and bytes of Windows."""
    lines = [f"{n % 7},5;{n % 40},{n % 10} %;{'Köln' if n % 2 else 'Bonn'}\n" for n in range(400)]
    Path("t.csv").write_bytes(("größe;anteil;ort\n" + "".join(lines)).encode("cp1252"))
    refused = run("schema", "draft", "t.csv", "-o", "t.toml")
    assert refused.code == 4
    assert "--encoding cp1252" in " ".join(refused.err.split())
    drafted = run("schema", "draft", "t.csv", "--encoding", "cp1252", "-o", "t.toml")
    assert drafted.code == 0, drafted.err
    Path("t.toml").write_text(Path("t.toml").read_text().replace("reviewed = false", "reviewed = true"))
    made = run(
        "synth", "t.csv", "--encoding", "cp1252", "--schema", "t.toml", "--epsilon", 9, "-o", "made.csv", "--yes",
    )  # fmt: skip
    assert made.code == 0, made.err
    first, *rows = Path("made.csv").read_text().splitlines()
    assert first == '"größe";"anteil";"ort"'
    assert all(re.fullmatch(r'"\d,5";"\d+,\d %";"(Köln|Bonn|other)"', row) for row in rows)
    judged = run("evaluate", "t.csv", "made.csv", "--encoding", "cp1252", "--schema", "t.toml", "--json")
    assert judged.code == 0, judged.err
