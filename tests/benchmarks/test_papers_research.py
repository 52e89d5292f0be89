"""The figures of docs/how-to/research.md: a small run leaves every table, and what needs data stays as it was."""

from pathlib import Path

import pytest
from benchmarks.papers import research
from benchmarks.papers.output import read, write


def test_a_small_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    adult = {"part": "adult", "hard_roc real": 0.73, "hard_prc real": 0.65, "AUROC real": 0.906, "commit": None}
    write([adult], research.NAME, tmp_path)
    research.main(rows=300, mixture_rows=300, models="Gaussian naive Bayes", data=None, out=tmp_path)
    rows = read(research.NAME, tmp_path)
    assert {row["part"] for row in rows} == {"protocols", "dp-hp", "curve", "mixture", "adult"}
    (scored,) = (row for row in rows if row["part"] == "protocols")
    assert all(0 <= scored[f"{name} {part}"] <= 1 for name in research.MEASURES for part in ("synthetic", "real"))
    assert {row["rows"] for row in rows if row["part"] == "curve"} == {20, 22, 112, 225}  # 225 to learn from
    (kept,) = (row for row in rows if row["part"] == "adult")
    assert kept["commit"] is None  # real rows of Adult: without the folder an earlier figure stays
    assert all(row["commit"] for row in rows if row["part"] != "adult")
    page = (tmp_path / "research.md").read_text()
    assert page.strip() == capsys.readouterr().out.strip()
    for part in ("## Two protocols", "| **mean** |", "| 225 real |", "## The known mixture", "hard_roc 0.730"):
        assert part in page
