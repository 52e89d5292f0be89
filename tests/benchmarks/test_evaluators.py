"""Evaluators: the jobs that judges get, and the pages of what they say. The judges have environments of their own."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from benchmarks.evaluators import __main__ as bench
from benchmarks.tables.datasets import Dataset, datasets

from pointillist.adapters.sdv_metadata import Metadata
from pointillist.demo.people import SCHEMA

REGISTRY = datasets()["registry"]


def test_a_small_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With one column, and a judge that is found at once; everything else is what the command runs."""
    few = SCHEMA.model_copy(update={"columns": {"sex": SCHEMA.columns["sex"]}, "constraints": ()})
    small = Dataset("small", "", few, simulate=lambda: REGISTRY.load(None).slice(0, 200).select(["sex"]))
    asked = {}

    def judged(name: str, folder: Path, environments: Path) -> bench.Row:
        job = (folder / "job.json").read_text(encoding="utf-8")
        asked[name] = (job, {path.stem: pq.read_table(path).num_rows for path in folder.glob("*.parquet")})
        row = {"contender": "mosaic | ours", "quality": 0.9}
        line = {"contender": "a", "metric": "ks", "value": 0.5, "direction": "maximize"}
        return {"rows": [row if name == "sdmetrics" else line], "versions": {name: "1.0"}}

    monkeypatch.setattr(bench, "datasets", lambda: {"small": small})
    monkeypatch.setattr(bench, "judge", judged)
    bench.main("small", "sdmetrics,synthcity", "2", 100, 1, tmp_path, tmp_path, None)
    assert asked["sdmetrics"][1] == {"mosaic, ε = 2": 160, "real": 160, "real rows held out": 40}
    assert asked["synthcity"][1] == {"real": 100}
    assert '"schema"' in asked["synthcity"][0]
    assert "| mosaic / ours | 0.900 |" in (tmp_path / "sdmetrics.md").read_text(encoding="utf-8")
    assert "| ks | higher | 0.500 |" in capsys.readouterr().out


def test_metadata_are_such_as_the_adapter_reads() -> None:
    measured = SCHEMA.model_copy(update={"columns": dict(SCHEMA.measured)})
    Metadata.read(bench.metadata(REGISTRY)).require(measured)
