"""Stamps: results know the commit that they were made at, and pages say when the code has moved on."""

import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.papers import output
from typer.testing import CliRunner

from benchmarks import stamp

FOLDERS = ("src/pointillist/generators", "src/pointillist/features")


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    return subprocess.run(["git", "-C", str(root), *who, *arguments], check=True, capture_output=True, text=True).stdout


def change(root: Path, folder: str, text: str) -> None:
    (root / folder).mkdir(parents=True, exist_ok=True)
    (root / folder / "code.py").write_text(text)


def commit(root: Path, folder: str, text: str) -> str:
    change(root, folder, text)
    git(root, "add", "-A")
    git(root, "commit", "-qm", text)
    return git(root, "rev-parse", "--short=12", "HEAD").strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    for folder in FOLDERS:
        commit(tmp_path, folder, "first")
    return tmp_path


def test_a_stamp_is_the_commit_and_tells_of_changes(root: Path) -> None:
    here = git(root, "rev-parse", "--short=12", "HEAD").strip()
    assert stamp.now(root) == here
    change(root, FOLDERS[0], "not committed")
    assert stamp.now(root) == here, "taken once: what this process runs was read before"
    stamp.now.cache_clear()
    assert stamp.now(root) == f"{here} + changes"


def test_results_that_are_being_written_do_not_count_as_changes(root: Path) -> None:
    commit(root, "benchmarks/papers/results", "old")
    change(root, "benchmarks/papers/results", "new")
    stamp.now.cache_clear()
    assert "changes" not in stamp.now(root)


def test_without_git_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stamp.now.cache_clear()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert stamp.now(tmp_path) == stamp.UNKNOWN
    monkeypatch.setenv("PATH", str(tmp_path))
    stamp.now.cache_clear()
    assert stamp.now(tmp_path) == stamp.UNKNOWN
    assert stamp.CHANGED not in stamp.line([stamp.UNKNOWN], FOLDERS, tmp_path)


def test_a_page_says_what_has_changed_since_its_oldest_run(root: Path) -> None:
    first = git(root, "rev-parse", "--short=12", "HEAD").strip()
    assert stamp.line([first, first], FOLDERS, root) == f"> Made at {first}. Measures {', '.join(FOLDERS)}."
    second = commit(root, FOLDERS[0], "second")
    commit(root, FOLDERS[0], "third")
    commit(root, "docs", "elsewhere")
    assert stamp.line([second + stamp.CHANGES], FOLDERS, root).endswith(f"since: {FOLDERS[0]} (1 commit).**")
    assert stamp.line([second, first], FOLDERS, root).endswith(f"since: {FOLDERS[0]} (2 commits).**")
    assert stamp.line([second], FOLDERS[1:], root).endswith(f"Measures {FOLDERS[1]}.")
    assert "not in this history" in stamp.line(["0123456789ab"], FOLDERS, root)


def test_runs_without_a_stamp_are_told(root: Path) -> None:
    first = git(root, "rev-parse", "--short=12", "HEAD").strip()
    for runs in ([], [None, None]):
        assert stamp.line(runs, FOLDERS, root).startswith("> Made before stamps were kept. Measures ")
    mixed = stamp.line([None, first, stamp.NOT_DUE], FOLDERS, root)
    assert mixed.startswith(f"> Made at {first}; 1 of 2 runs before stamps were kept.")


def test_the_line_stands_below_the_title_once() -> None:
    page = stamp.put("# Title\n\ntext\n", "> Made at a.")
    assert page == "# Title\n\n> Made at a.\n\ntext\n"
    assert stamp.put(page, "> Made at b.") == "# Title\n\n> Made at b.\n\ntext\n"
    assert stamp.put("text\n", "> Made at a.") == "> Made at a.\n\ntext\n"


def test_new_rows_are_stamped_and_old_ones_stay_as_they_were(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "rows.parquet")
    output.write([*output.read("rows", tmp_path), {"a": 2}], "rows", tmp_path, FOLDERS)
    assert [row["commit"] for row in output.read("rows", tmp_path)] == [None, stamp.now()]
    assert stamp.read(tmp_path / "rows.parquet") == ([None, stamp.now()], FOLDERS)
    text = output.write_page("# Rows\n", "rows", tmp_path)
    assert (tmp_path / "rows.md").read_text() == text
    assert f"> Made at {stamp.now()}; 1 of 2 runs before stamps were kept. Measures {FOLDERS[0]}" in text


def test_the_command_writes_the_lines_anew_or_only_tells(root: Path) -> None:
    made_at = git(root, "rev-parse", "--short=12", "HEAD").strip()
    folder = root / "benchmarks" / "papers" / "results"
    output.write([{stamp.COLUMN: made_at}], "rows", folder, FOLDERS)
    (folder / "rows.md").write_text("# Rows\n")
    app = stamp.typer.Typer()
    app.command()(stamp.main)
    assert CliRunner().invoke(app, ["--check", "--root", str(root)]).exit_code == 0
    commit(root, FOLDERS[0], "second")
    told = CliRunner().invoke(app, ["--check", "--root", str(root)])
    assert told.exit_code == 1
    assert "(1 commit)" in told.output
    assert (folder / "rows.md").read_text() == "# Rows\n"
    assert CliRunner().invoke(app, ["--root", str(root)]).exit_code == 0
    assert f"> Made at {made_at}." in (folder / "rows.md").read_text()
