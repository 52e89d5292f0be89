"""The Dask engine: the bits of the local one on a real cluster, whatever the cut, and although workers die."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fixtures.killed import kill_driver
from tests.fixtures.passes import IMAGES, PEOPLE, PHOTOS, SCHEMA, TABLES, passes, photos, spends, table

import pointillist as pt
from pointillist.engines.dask import Dask
from pointillist.errors import DataError, UsageError

pytestmark = pytest.mark.xdist_group("dask")
dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")


def cut(rows: Any, parts: int) -> Any:
    """A Dask frame of so many pieces, some of them perhaps empty."""
    frame = rows.to_pandas()
    ends = np.linspace(0, len(frame), parts + 1).astype(int)
    return dd.from_map(lambda start, end: frame.iloc[start:end], ends[:-1], ends[1:], meta=frame.iloc[:0])


@pytest.mark.usefixtures("dask")
@pytest.mark.parametrize(("method", "schema"), [*((name, SCHEMA) for name in TABLES), ("mosaic", PEOPLE)])
def test_every_method_has_the_bits_of_the_local_engine_on_dask(method: str, schema: pt.Schema) -> None:
    rows = table(400)
    for number, each in enumerate(passes(method, schema, rows)):
        assert each.agrees(cut(rows, 3 + number))


@pytest.mark.usefixtures("dask")
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 80), st.integers(1, 5), st.integers(0, 5))
def test_any_number_of_rows_and_pieces_on_dask(rows: int, parts: int, seed: int) -> None:
    whole = table(rows, seed)
    for schema in (SCHEMA, PEOPLE):
        (first, *_) = passes("hermite", schema, whole)
        assert first.agrees(cut(whole, parts))


def test_files_and_images_are_read_by_dask_workers(dask: Any, tmp_path: Path) -> None:
    rows = table(300)
    pq.write_table(rows, tmp_path / "t.parquet", row_group_size=50)
    engine = Dask(4, dask.scheduler.address)  # by address, as from the command line
    for schema in (SCHEMA, PEOPLE):
        assert passes("merf", schema, rows)[0].agrees(tmp_path / "t.parquet", engine)
    np.savez(tmp_path / "p.npz", **photos(40))
    assert all(each.agrees(tmp_path / "p.npz", engine) for each in passes(IMAGES, PHOTOS, tmp_path / "p.npz"))


def test_a_dask_worker_that_is_killed_changes_nothing(dask: Any, tmp_path: Path) -> None:
    rows = table(400)
    each = passes("mosaic", SCHEMA, rows)[-1]
    frame = rows.to_pandas()

    def slowly(start: int) -> Any:
        (tmp_path / f"started-{start}").touch()
        time.sleep(0.2)
        return frame.iloc[start : start + 20]

    slow = dd.from_map(slowly, range(0, 400, 20), meta=frame.iloc[:0])
    killed = threading.Thread(target=_kill_one_worker, args=(dask, tmp_path))
    killed.start()
    assert each.agrees(slow)
    killed.join()
    assert (tmp_path / "killed").exists()


def _kill_one_worker(client: Any, folder: Path) -> None:
    while len(list(folder.glob("started-*"))) < 4:
        time.sleep(0.02)
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    (folder / "killed").touch()


DRIVER = """
import dask.dataframe as dd
from distributed import Client
frame = table(200).to_pandas()
def slowly(start):
    time.sleep(0.05)
    return frame.iloc[start:start + 20]
with Client(sys.argv[2]):
    rows = dd.from_map(slowly, range(0, 200, 20), meta=frame.iloc[:0])
"""


@pytest.mark.parametrize(("step", "spent"), [("pass 1 of", 0), ("pass 2 of", 1)])
def test_a_driver_that_is_killed_leaves_nothing_half_written(dask: Any, tmp_path: Path, step: str, spent: int) -> None:
    kill_driver(DRIVER, step, tmp_path, dask.scheduler.address)
    assert not (tmp_path / "out.release").exists()
    assert len(spends(tmp_path / "ledger")) == spent


@pytest.mark.usefixtures("dask")
def test_what_is_wrong_with_the_rows_comes_from_a_dask_worker_and_nothing_is_spent(own_ledger: Path) -> None:
    faulty = cut(table(40), 3).assign(age="SECRETVALUE")
    with pytest.raises(DataError, match="column 'age' holds a value that cannot be read as integer") as caught:
        pt.release(faulty, SCHEMA, epsilon=1)
    assert "SECRETVALUE" not in str(caught.value)
    assert not spends(own_ledger)


def test_a_dask_scheduler_that_is_not_there(tmp_path: Path) -> None:
    pq.write_table(table(3), tmp_path / "t.parquet")
    with pytest.raises(UsageError, match=r"tcp://127.0.0.1:9: no Dask scheduler answers"):
        pt.release(tmp_path / "t.parquet", SCHEMA, epsilon=1, engine=Dask(None, "tcp://127.0.0.1:9"))
    with pytest.raises(UsageError, match="is in this process's memory"):
        pt.release(table(3), SCHEMA, epsilon=1, engine="dask")
