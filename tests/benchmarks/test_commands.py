"""Every bench command runs from end to end, at a tiny size, as its documentation says that it is called."""

import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.tables.datasets import datasets

from pointillist import Integer

ROOT = Path(__file__).parents[2]
BENCHES = ROOT / "benchmarks"

SMOKE = {
    "benchmarks.embedding_pass": ("--rows 2000 --repeats 1 --folder {out}", "| 2,000 | pass 2 |"),
    "benchmarks.fitting": ("--rows 2000 --cases registry", "| registry | 2,000 |"),
    "benchmarks.large_sample": ("--rows 400 --part 200 --columns 2", "| 400 | 1 |"),
    "benchmarks.wide": ('--rows 200 --cases "2 numbers"', "| 2 numbers | 200 |"),
    "benchmarks.stamp": ("--root {out}", ""),
    "benchmarks.fuzz": ("--count 3 --only toml --workers 1 --keep {out}", "all              3"),
    "benchmarks.headlines": ("--only tables --quick --out {out}", "| claim | band | now |  |"),
    "benchmarks.tables": (
        "--datasets adult --data {data} --methods mosaic,real --out {out}",
        "adult-mosaic-epsilon1-delta1e-05-bins16-seed0: done",
    ),
    "benchmarks.tables.forecast": ("", "| adult | 1 |"),
    "benchmarks.papers.tables": (
        '--datasets adult --data {data} --methods mosaic --seeds 1 --models "decision tree" --out {out}',
        "| adult | ROC |",
    ),
    "benchmarks.papers.images": ("--out {out}", "## MNIST, ε = 1"),
    "benchmarks.papers.kernel_error": ("--draws 1 --output {out}", "over 1 draws"),
    "benchmarks.images": (
        "--datasets mnist --data {data} --methods real --seeds 1 --images 60 --models LDA --out {out}",
        ": done",
    ),
}
"""By module what it is called with, and what it then prints."""

IN_PROCESS = {
    "benchmarks.startup": "test_startup.py::test_what_is_late_is_named",
    "benchmarks.images.stopping": "test_image_stopping.py::test_the_command_runs_three_ways",
    "benchmarks.papers.research": "test_papers_research.py::test_a_small_run",
    "benchmarks.tables.quick": "test_quick.py::test_a_small_run_is_kept_and_compared_with",
    "benchmarks.first_contact": "test_first_contact.py::test_a_small_run",
    "benchmarks.intervals": "test_intervals.py::test_a_small_study_runs",
    "benchmarks.intervals.real": "test_intervals_real.py::test_a_small_study_runs",
    "benchmarks.receiver.coverage": "test_receiver_coverage.py::test_a_small_study_runs",
    "benchmarks.receiver.hospital": "test_receiver_hospital.py::test_a_small_run",
    "benchmarks.evaluators": "test_evaluators.py::test_a_small_run",
    "benchmarks.owners": "test_owners.py::test_a_small_run",
    "benchmarks.histories": "test_histories.py::test_a_small_run",
    "benchmarks.papers.balog": "test_papers_balog.py::test_a_small_run_leaves_a_page_and_pictures_and_is_not_repeated",
    "benchmarks.papers.mixture": "test_papers_mixture.py::test_the_command_runs_and_goes_on_where_it_stopped",
    "benchmarks.papers.marginals": "test_papers_marginals.py::test_the_command_runs_and_goes_on_where_it_stopped",
    "benchmarks.papers.sweeps": "test_papers_sweeps.py::test_the_command_writes_and_goes_on_where_it_stopped",
}
"""Commands that another test calls whole, and which: here it is only seen that Python can start them."""

SCRIPTS = {
    "benchmarks.evaluators.sdmetrics_judge": "needs an environment of its own",
    "benchmarks.evaluators.synthcity_judge": "needs an environment of its own",
    "benchmarks.tables.ours": "called by benchmarks.tables",
    "benchmarks.tables.reference": "called by benchmarks.tables",
    "benchmarks.rdatasets_tables": "called by benchmarks.fetch",
    "benchmarks.fetch": "needs an environment of its own",
    "benchmarks.images.ours": "called by benchmarks.images",
    "benchmarks.images.scoring": "called by benchmarks.images",
    "benchmarks.tables.rivals.dpmm_rival": "needs an environment of its own",
    "benchmarks.tables.rivals.mbi_rival": "needs an environment of its own",
    "benchmarks.tables.rivals.smartnoise_rival": "needs an environment of its own",
}
"""What is no command: a bench calls it with the folder of a job."""


def runnable() -> set[str]:
    found = (path for path in BENCHES.rglob("*.py") if '__name__ == "__main__"' in path.read_text(encoding="utf-8"))
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__main__") for path in found}


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "POINTILLIST_DATA"}
    return subprocess.run(
        [sys.executable, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=600,
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files like those of Adult and MNIST, at random, with few records."""
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    for part in ("tables", "images"):
        (folder / part).mkdir()
    for name in datasets()["adult"].files:
        table = {
            key: rng.integers(column.min, column.max + 1, 200)
            if isinstance(column, Integer)
            else rng.choice(column.categories, 200)
            for key, column in datasets()["adult"].schema.columns.items()
        }
        pq.write_table(pa.table(table), folder / "tables" / f"{name}.parquet")
    pixels, labels = rng.integers(0, 256, (200, 28, 28), dtype=np.uint8), (np.arange(200) % 10).astype(np.uint8)
    np.savez(folder / "images" / "mnist.npz", x_train=pixels, y_train=labels, x_test=pixels, y_test=labels)
    return folder


def test_no_command_is_without_a_smoke_test() -> None:
    known = [*SMOKE, *IN_PROCESS, *SCRIPTS]
    assert sorted(known) == sorted(runnable()), "every module that can be run stands in exactly one of the three lists"
    for place in IN_PROCESS.values():
        file, _, name = place.partition("::")
        assert f"def {name}(" in (Path(__file__).parent / file).read_text(encoding="utf-8"), place


def ended_with(module: str) -> str | int | None:
    """Run a command in this process: its exit code."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code
    return None


@pytest.mark.parametrize("module", SMOKE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # modules that are loaded already; means of a single draw
def test_a_command_runs(
    module: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In this process, which saves importing the same packages again and again."""
    arguments, printed = SMOKE[module]
    words = [each.format(data=data, out=tmp_path) for each in shlex.split(arguments)]
    monkeypatch.delenv("POINTILLIST_DATA", raising=False)
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", [module, *words])
    code = ended_with(module)
    shown = capfd.readouterr()
    assert not code, shown.err
    assert printed in shown.out


def test_python_can_start_the_other_commands() -> None:
    """All in one process, which saves importing the same packages again and again."""
    start = "import runpy, sys\nfor name in sys.argv[1:]:\n    sys.argv = [name, '--help']\n    try:\n        "
    start += "runpy.run_module(name, run_name='__main__', alter_sys=True)\n    except SystemExit as end:\n        "
    start += "assert not end.code, name\n"
    done = call("-c", start, *IN_PROCESS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Usage:") == len(IN_PROCESS)


def test_commands_are_called_as_modules_and_the_readme_lists_them() -> None:
    """By its path a script has its folder first on the path, where a file of ours hides a package of the same name."""
    pages = [ROOT / "Makefile", ROOT / "README.md", *BENCHES.rglob("*.md"), *(ROOT / "docs").glob("*.md")]
    pages += [*BENCHES.rglob("*.py")]
    for page in pages:
        assert not re.search(r"python3? benchmarks/", page.read_text(encoding="utf-8")), page
    listed = set(re.findall(r"^\| `python -m ([\w.]+)", (BENCHES / "README.md").read_text(encoding="utf-8"), re.M))
    assert listed == {*SMOKE, *IN_PROCESS}
