"""The bench of histories at a tiny size: all ways end, and the page has a row for each."""

from pathlib import Path

import typer
from benchmarks.histories import __main__ as bench
from typer.testing import CliRunner


def test_a_small_run(tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(bench.main)
    done = CliRunner().invoke(app, ["--persons", "120", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "histories.md").read_text(encoding="utf-8")
    assert "| chronicle | 1 | 1.000 |" in page
    assert "| by row | 1 |" in page


def test_a_folder_is_asked_for(tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(bench.main)
    done = CliRunner().invoke(app, ["--tables", "star", "--out", str(tmp_path)], env={"POINTILLIST_DATA": ""})
    assert done.exit_code == 2
    assert "--data FOLDER" in done.output
