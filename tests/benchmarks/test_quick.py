"""The quick bench: a line for each setting, ratios to an earlier run, and their geometric means."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from benchmarks.tables import quick
from benchmarks.tables.bench import Place
from benchmarks.tables.datasets import datasets
from benchmarks.tables.job import Run
from typer.testing import CliRunner


def test_errors_and_losses_are_compared_each_in_their_way() -> None:
    before, now = {"tvd_2": 0.02, "auroc_loss": 0.015}, {"tvd_2": 0.01, "auroc_loss": 0.005}
    assert quick.ratio("tvd_2", now, before) == 0.5
    assert quick.ratio("auroc_loss", now, before) == pytest.approx(0.5)  # with a little added to both
    assert quick.ratio("tvd_3", now, before) is None


def test_means_are_geometric_and_by_epsilon() -> None:
    before = {key: {"tvd_2": 0.1} for key in ("a 1", "b 1", "a 0.3", "c 0.1")}
    now = {"a 1": {"tvd_2": 0.05}, "b 1": {"tvd_2": 0.2}, "a 0.3": {"tvd_2": 0.1 / 8}, "d 3": {"tvd_2": 1.0}}
    least, one, both = quick.summary(now, before)
    assert least.split() == ["mean,", "0.3", "(1)", "x0.125"]
    assert one.split() == ["mean,", "1", "(2)", "x1.000"]
    assert both.split() == ["mean,", "all", "(3)", "x0.500"]


def test_a_small_run_is_kept_and_compared_with(tmp_path: Path) -> None:
    import typer

    app = typer.Typer()
    app.command()(quick.main)
    kept = tmp_path / "kept.json"
    call = ["--tables", "xor2", "--epsilons", "1", "--rows", "300", "--against", str(kept)]
    first = CliRunner().invoke(app, [*call, "--keep", str(kept)])
    assert first.exit_code == 0, first.output
    assert "xor2, independent" in first.output
    facts = json.loads(kept.read_text())["xor2[300] 1"]
    assert {"tvd_2", "tvd_strongest", "dependence", "auroc_loss", "auprc_loss", "cpu_seconds", "runs"} <= set(facts)
    second = CliRunner().invoke(app, call)
    assert "mean, 1 (1)" in second.output


def test_rows_that_the_bench_kept_are_scored_and_others_are_passed_over(tmp_path: Path, capsys) -> None:
    table = quick.Table(datasets()["pairs40"], None).cut(200)
    run = Run("pairs40", "rival", 1.0, quick.DELTA, 0)
    place = Place(tmp_path, tmp_path, samples=tmp_path / "samples")
    place.records.keep_run(run.key, {"cpu_seconds": 7.0})
    place.synthetic(run).parent.mkdir()
    pq.write_table(table.split.train, place.synthetic(run))
    quick.run(["pairs40"], [0.3, 1.0], 2, 200, quick.kept(place, "rival"), {}, tmp_path / "kept.json", None)
    (facts,) = json.loads((tmp_path / "kept.json").read_text()).values()
    assert (facts["tvd_2"], facts["cpu_seconds"], facts["runs"]) == (0.0, 7.0, 1)
    assert "pairs40[200] 0.3" not in capsys.readouterr().out


def test_the_stored_baseline_is_of_known_tables() -> None:
    stored = json.loads(quick.BASELINE.read_text(encoding="utf-8"))
    assert {key.split()[0].split("[")[0] for key in stored} <= set(datasets())
    assert all(facts["tvd_2"] > 0 for facts in stored.values())
