"""The bench of several owners: splits lose no row, and a small run ends in a page."""

from pathlib import Path

import pyarrow as pa
import pytest
import typer
from benchmarks.owners import __main__ as bench
from benchmarks.owners.split import SPLITS
from typer.testing import CliRunner

from pointillist.demo.people import simulate


@pytest.mark.parametrize("split", SPLITS)
def test_every_row_is_at_one_owner(split: str) -> None:
    table = simulate(100)
    parts = SPLITS[split](table, 0)
    assert len(parts) == 3
    whole = pa.concat_tables(parts).to_pylist()
    assert sorted(map(str, whole)) == sorted(map(str, table.to_pylist()))


def test_people_are_split_by_where_they_were_born() -> None:
    born = ["United-States", "Mexico", "India", None, "Cuba"]
    parts = SPLITS["by region"](pa.table({"native_country": born}), 0)
    assert [part["native_country"].to_pylist() for part in parts] == [
        ["United-States"],
        ["Mexico", "Cuba"],
        ["India", None],
    ]


def test_a_small_run(tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(bench.main)
    call = [
        "--table",
        "xor2",
        "--runs",
        "1",
        "--rows",
        "200",
        "--ways",
        "none colludes, at random",
        "--out",
        str(tmp_path),
    ]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    page = (tmp_path / "owners.md").read_text()
    assert "trust in the sum, one may collude, at random | 1 |" in page
    assert CliRunner().invoke(app, ["--table", "adult", "--out", str(tmp_path)]).exit_code == 2
