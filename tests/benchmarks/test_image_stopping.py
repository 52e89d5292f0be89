"""Stopping: the three ways are run on real digits, briefly, and stand side by side on the page."""

from pathlib import Path

from benchmarks.images import stopping
from typer.testing import CliRunner


def test_the_command_runs_three_ways(tmp_path: Path) -> None:
    page = tmp_path / "results" / "page.md"
    options = ["--epsilons", "10", "--seeds", "1", "--steps", "20", "--images", "400", "--out", str(page)]
    done = CliRunner().invoke(stopping.app, options)
    assert done.exit_code == 0, done.output
    first, *_, one, two, three = page.read_text().splitlines()
    assert first.startswith("> Made at ")
    for line, way in zip((one, two, three), stopping.WAYS, strict=True):
        epsilon, name, runs, accuracy, _, recall, _ = (cell.strip() for cell in line.strip("|").split("|"))
        assert (epsilon, name, runs) == ("10", way, "1")
        assert 0.1 < float(accuracy) <= 1  # a tenth is guessing
        assert 0 <= float(recall) <= 1
