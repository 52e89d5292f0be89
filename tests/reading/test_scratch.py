"""Temporary files: the owner's alone, gone when work ends, and nobody's name in what a killed process leaves."""

import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

from pointillist.reading.connection import connect
from pointillist.reading.scratch import scratch

NAME = "Confidential417"

CAPPING = f"""
    import time
    import numpy as np, pyarrow as pa
    import pointillist as pt
    from pointillist.reading import connection as database
    from pointillist.curator.releasing import embed
    from pointillist.reading.base import Source
    from pointillist.features import Concat, Tiles, Weighted
    from pointillist.privacy.grid import Grid

    database.MEMORY = "60MB"
    COLUMNS = [f"x{{n}}" for n in range(12)]
    PEOPLE = pa.array([f"{NAME}-{{n}}" for n in range(5_000)] * 10)
    BATCH = pa.record_batch({{"id": PEOPLE, **dict.fromkeys(COLUMNS, pa.array(np.arange(50_000) % 7 == 0))}})

    class Endless(Source):
        name = "endless"
        def column_names(self): return BATCH.schema.names
        def query(self, db, sql): raise NotImplementedError
        def read(self, columns, schema, report):
            for _ in range(40):
                yield BATCH
            time.sleep(1000)

    columns = dict.fromkeys(COLUMNS, pt.Boolean(missing=False))
    schema = pt.Schema(name="s", person=pt.Person(column="id", max_rows=2), columns=columns)
    tiles = Concat(tuple(Weighted(Tiles(name, (0, 1)), 0.1) for name in COLUMNS))
    embed(Endless(), schema, tiles, Grid(20), threads=THREADS)
"""
DRAFTING = f"""
    import time
    from pathlib import Path
    import pointillist as pt
    from pointillist.curator import table_drafting
    from pointillist.reading import connection as database

    database.MEMORY = "24MB"
    Path("t.csv").write_text("x,y\\n" + "".join(f"{NAME}-{{n}}-{{n * n}}-{NAME},{{n}}\\n" for n in range(300_000)))
    table_drafting._column = lambda *rest: time.sleep(1000)
    table_drafting.draft("t.csv", name="t")
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files of the test's own."""
    (folder := tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return total


def ended(code: str, end: int, folder: Path, cwd: Path) -> int:
    """Run a program until it has written something to disk, then send it a signal."""
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], cwd=cwd) as process:
        try:
            deadline = time.monotonic() + 60
            while size(folder) < 1 << 20:
                assert process.poll() is None, "it ended by itself"
                assert time.monotonic() < deadline, "nothing was spilled"
                time.sleep(0.02)
            process.send_signal(end)
            return process.wait(timeout=20)
        finally:
            process.kill()


PROGRAMS = {
    "capping": CAPPING.replace("THREADS", "4"),
    "capping on one thread": CAPPING.replace("THREADS", "1"),
    "drafting": DRAFTING,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_terminated_it_leaves_nothing(program: str, temporary: Path, tmp_path: Path) -> None:
    assert ended(PROGRAMS[program], signal.SIGTERM, temporary, tmp_path) == 143
    assert list(temporary.iterdir()) == []


def test_killed_it_leaves_no_names_and_the_next_run_tidies_up(temporary: Path, tmp_path: Path) -> None:
    assert ended(PROGRAMS["capping"], signal.SIGKILL, temporary, tmp_path) == -signal.SIGKILL
    (left,) = temporary.iterdir()
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    files = [path for path in left.rglob("*") if path.is_file()]
    assert files
    assert not any(NAME[:8].encode() in path.read_bytes() for path in files)
    with connect():
        assert not left.exists()


def test_a_folder_is_the_owners_alone_and_goes_with_its_work(temporary: Path) -> None:
    with scratch() as folder:
        assert folder.parent == temporary
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "deep").mkdir()
        (folder / "deep" / "file").write_text("x")
    assert not folder.exists()
    with pytest.raises(ValueError, match="stop"), scratch() as folder:
        raise ValueError("stop")
    assert not folder.exists()


def test_databases_spill_there(temporary: Path) -> None:
    with connect() as db:
        (found,) = db.execute("SELECT current_setting('temp_directory')").fetchone() or ("",)
        assert Path(found).parent == temporary
