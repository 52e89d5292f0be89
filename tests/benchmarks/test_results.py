from pathlib import Path
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest
from benchmarks.records import Records
from benchmarks.tables.__main__ import app, write
from benchmarks.tables.figure import Dot, draw
from benchmarks.tables.forecast import ratios
from benchmarks.tables.results import collect, markdown
from typer.testing import CliRunner

COMMON = {
    "dataset": "adult",
    "delta": 1e-5,
    "bins": 16,
    "rows": 1000,
    "time_limit": 60.0,
    "settings": {},
    "versions": {},
}
COST = {"cpu_seconds": 10.0, "wall_seconds": 12.0, "peak_mb": 100.0}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two seeds of ours, one rival that is done and one that is not, a reference."""

    records = Records(tmp_path)

    def record(key: str, scores: dict[str, float] | None, **facts: object) -> None:
        run = {**COMMON, **COST, "epsilon": 1.0, "seed": 0, "status": "done", "reason": "", **facts}
        records.keep_run(key, run)
        if scores:
            records.keep_scores(key, {**scores, "models": {}, "notes": []})

    record("a", {"tvd_1": 0.01, "tvd_2": 0.02, "tvd_3": 0.05, "auroc": 0.90}, method="mosaic")
    record("b", {"tvd_1": 0.03, "tvd_2": 0.02, "tvd_3": 0.07, "auroc": 0.92}, method="mosaic", seed=1)
    record("c", {"tvd_1": 0.02, "tvd_2": 0.03, "tvd_3": 0.08, "auroc": 0.89}, method="mst", cpu_seconds=400.0)
    record("d", None, method="aim", status="timeout", reason="stopped after | 60 s")
    record("e", {"tvd_1": 0.0, "tvd_2": 0.1, "tvd_3": 0.2, "auroc": 0.5}, method="shuffled", epsilon=None, delta=None)
    return tmp_path


def test_one_row_for_each_run(results: Path) -> None:
    table = collect(results)
    assert table.num_rows == 5
    rows = {(row["method"], row["seed"]): row for row in table.to_pylist()}
    assert rows["mosaic", 1]["auroc"] == 0.92
    assert rows["aim", 0]["status"] == "timeout"
    assert rows["aim", 0]["auroc"] is None


def test_the_markdown_shows_means_spreads_and_failures(results: Path) -> None:
    text = markdown(collect(results))
    assert "### adult, 1,000 rows, ε = 1, δ = 1e-05" in text
    lines = {line.split(" | ")[0]: line for line in text.splitlines()}
    assert "| 2 | 0.0200 ± 0.0141 | 0.0200 ± 0.0000 |" in lines["| Pointillist, told the target"]
    assert "| 0 | timeout: stopped after / 60 s |" in lines["| AIM (dpmm)"]
    assert lines["| real columns, each shuffled"].endswith("| 0.500 |  |  |")
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1


def test_files_are_written(results: Path) -> None:
    write(results)
    assert pq.read_table(results / "results.parquet").num_rows == 5
    drawing = ElementTree.fromstring((results / "adult-epsilon1.svg").read_text())
    assert len(drawing.findall("{http://www.w3.org/2000/svg}circle")) == 2  # what failed has no dot
    assert "columns shuffled" in (results / "adult-epsilon1.svg").read_text()


def test_dots_lie_inside_the_figure() -> None:
    for seconds, errors in (((0.2, 5_000), (0.001, 0.9)), ((10, 10), (0.1, 0.1))):
        dots = [Dot("mosaic", s, e) for s, e in zip(seconds, errors, strict=True)]
        drawing = ElementTree.fromstring(draw("a < b", dots, None))
        for circle in drawing.findall("{http://www.w3.org/2000/svg}circle"):
            assert 60 <= float(circle.get("cx", "")) <= 620
            assert 36 <= float(circle.get("cy", "")) <= 312


def test_the_command_names_what_it_does_not_know(tmp_path: Path) -> None:
    for options, message in (
        (["--datasets", "nowhere"], "data set 'nowhere' is not known. Known: registry, adult"),
        (["--methods", "magic"], "method 'magic' is not known"),
        (["--epsilons", "one"], "'one' is not a list of numbers"),
        (["--datasets", "adult", "--methods", "real"], "POINTILLIST_DATA"),
    ):
        done = CliRunner().invoke(app, [*options, "--out", str(tmp_path)], env={"POINTILLIST_DATA": ""})
        assert done.exit_code == 2
        assert message in done.output


def test_what_is_measured_is_held_against_the_forecast(tmp_path: Path) -> None:
    """Twice the error is twice the ratio, and what is not ours has no forecast."""
    facts = {
        "dataset": "adult", "epsilon": 1.0, "delta": 1e-5, "bins": 16, "rows": 39_073, "status": "done", "reason": "",
        "settings": {}, "versions": {}, "time_limit": 1.0, "cpu_seconds": 1.0, "wall_seconds": 1.0, "peak_mb": 1.0,
    }  # fmt: skip
    found = []
    for error in (0.01, 0.02):
        for method, seed in (("mosaic", 0), ("aim-mbi", 1)):
            Records(tmp_path).keep_run(method, {**facts, "method": method, "seed": seed})
            Records(tmp_path).keep_scores(method, {"tvd_1": error, "tvd_2": error, "tvd_3": error})
        found.append(ratios(tmp_path))
    ((name, epsilon, once),), ((_, _, twice),) = found
    assert (name, epsilon) == ("adult", 1.0)
    assert twice == pytest.approx({each: 2 * ratio for each, ratio in once.items()})
