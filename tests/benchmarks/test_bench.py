"""The bench with stand-ins for rivals: small scripts that copy, fail or hang."""

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.tables.bench import Place, bench, plan
from benchmarks.tables.datasets import Dataset
from benchmarks.tables.environments import Environment, NotInstalled
from benchmarks.tables.methods import METHODS, Method

import pointillist as pt
from pointillist.errors import UsageError

COPY = """
import shutil, sys
with open({count!r}, "a") as file: file.write("x")
shutil.copy(sys.argv[1] + "/train.npy", sys.argv[1] + "/synthetic.npy")
open(sys.argv[1] + "/versions.json", "w").write('{{"copy": "1.0"}}')
"""
FAIL = "import sys; print('first line'); sys.exit('the rival gave up')"
HANG = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time\\nwhile True: open({beat!r}, 'a').write('x'); time.sleep(0.05)"])
time.sleep(60)
"""


class Here(Environment):
    """An environment that needs no making."""

    def ready(self, folder: Path) -> Path:
        return Path(sys.executable)


class Nowhere(Environment):
    def ready(self, folder: Path) -> Path:
        raise NotInstalled("cannot be installed: no such package")


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, 300)
    table = pa.table({"age": age, "ill": np.where(rng.random(300) * 100 < age, "yes", "no")})
    (tmp_path / "tables").mkdir()
    pq.write_table(table, tmp_path / "tables" / "small.parquet")
    columns = {
        "age": pt.Integer(min=0, max=99, missing=False),
        "ill": pt.Categorical(categories=("no", "yes"), missing=False, out_of_domain="error"),
    }
    # Three columns at least, for tables of three.
    pq.write_table(table.append_column("old", pa.array(age > 50)), tmp_path / "tables" / "small.parquet")
    return Dataset("small", "ill", pt.Schema(name="small", columns={**columns, "old": pt.Boolean()}), ("small",))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "results", tmp_path / "environments", tmp_path)


def _rival(folder: Path, name: str, text: str, environment: type[Environment] = Here) -> Method:
    script = folder / f"{name}.py"
    script.write_text(text)
    return Method(name, name, script, environment(name, script, (3, 99)), {"rounds": 3})


def _go(place: Place, dataset: Dataset, methods: list[Method], limit: float = 30, **options: bool) -> list[dict]:
    runs = plan([dataset.name], methods, [1.0], 1e-5, [0], 16)
    bench(runs, {dataset.name: dataset}, {each.name: each for each in methods}, place, limit=limit, **options)
    return [place.records.run(run.key) for run in runs]


def test_what_fails_or_hangs_is_recorded_and_the_bench_goes_on(tmp_path, place, dataset) -> None:
    beat = tmp_path / "beat"
    methods = [
        _rival(tmp_path, "fail", FAIL),
        _rival(tmp_path, "hang", HANG.format(beat=str(beat))),
        _rival(tmp_path, "absent", "", Nowhere),
        _rival(tmp_path, "empty", ""),  # ends well and leaves nothing
        _rival(tmp_path, "copy", COPY.format(count=str(tmp_path / "count"))),
    ]
    fail, hang, absent, empty, copy = _go(place, dataset, methods, limit=1.5)
    assert (fail["status"], fail["reason"]) == ("failed", "the rival gave up")
    assert (hang["status"], hang["reason"]) == ("timeout", "stopped after 1.5 s")
    assert 1.5 < hang["wall_seconds"] < 10
    assert (absent["status"], absent["reason"]) == ("failed", "cannot be installed: no such package")
    assert empty["status"] == "failed"
    assert copy["status"] == "done"
    assert copy["versions"] == {"copy": "1.0"}
    assert copy["settings"] == {"rounds": 3}
    assert copy["cpu_seconds"] > 0
    assert copy["peak_mb"] > 1
    size = beat.stat().st_size
    time.sleep(0.3)
    assert beat.stat().st_size == size, "a child outlived the time limit"
    scored = [scores for _, _, scores in place.records if scores]
    assert [each["tvd_1"] for each in scored] == [0.0]  # it returned the rows that it got


def test_what_is_done_is_not_done_again_unless_asked(tmp_path, place, dataset) -> None:
    count = tmp_path / "count"
    methods = [_rival(tmp_path, "copy", COPY.format(count=str(count)))]
    _go(place, dataset, methods)
    (scored,) = (place.records.cache / "scores").glob("*.json")
    scored.unlink()  # as if interrupted before the score
    _go(place, dataset, methods)
    assert count.read_text() == "x"
    assert scored.exists()
    _go(place, dataset, methods, again=True)
    assert count.read_text() == "xx"


def test_our_method_and_the_references_run_like_rivals(place, dataset) -> None:
    methods = [METHODS[name] for name in ("mosaic", "real", "shuffled")]
    ours, real, shuffled = _go(place, dataset, methods, limit=120)
    assert [each["status"] for each in (ours, real, shuffled)] == ["done"] * 3
    assert ours["versions"]["pointillist"] == pt.__version__
    assert real["epsilon"] is None
    scores = place.records.scores("small-shuffled")
    assert scores["tvd_1"] == 0.0 < scores["tvd_2"]


def test_references_are_planned_once_and_seeds_come_first() -> None:
    runs = plan(["a"], [METHODS["mosaic"], METHODS["real"]], [0.3, 1], 1e-5, [0, 1], 16)
    assert [(run.method, run.epsilon, run.seed) for run in runs] == [
        ("mosaic", 0.3, 0), ("real", None, 0), ("mosaic", 1, 0), ("mosaic", 0.3, 1), ("mosaic", 1, 1),
    ]  # fmt: skip


def test_bins_that_would_not_nest_in_those_of_scores_are_refused() -> None:
    with pytest.raises(UsageError, match="a multiple or a divisor of 16"):
        plan(["a"], [METHODS["mosaic"]], [1], 1e-5, [0], 20)


def test_samples_are_kept_where_asked_and_scored_anew(tmp_path, place, dataset) -> None:
    place = replace(place, samples=tmp_path / "samples")
    methods = [_rival(tmp_path, "copy", COPY.format(count=str(tmp_path / "count")))]
    _go(place, dataset, methods)
    (kept,) = (tmp_path / "samples").glob("*.parquet")
    pq.write_table(pq.read_table(kept).slice(0, 50), kept)
    _go(place, dataset, methods, rescore=True)
    ((_, _, scores),) = place.records
    assert scores["tvd_1"] > 0
    assert (tmp_path / "count").read_text() == "x"
