"""The Spark engine: the bits of the local one on a real cluster, whatever the cut, and although executors die."""

import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fixtures.killed import kill_driver
from tests.fixtures.passes import IMAGES, PEOPLE, PHOTOS, SCHEMA, passes, photos, spends, table

import pointillist as pt
from pointillist.engines.spark import Spark
from pointillist.errors import DataError

pytestmark = pytest.mark.xdist_group("spark")


def frame(session: Any, rows: pa.Table, parts: int) -> Any:
    """A Spark frame of so many partitions, some of them perhaps empty."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return session.createDataFrame(rows).repartition(parts)


@pytest.mark.parametrize(("schema", "numbers"), [(SCHEMA, (1, 2)), (PEOPLE, (0, 2))])
def test_passes_have_the_bits_of_the_local_engine_on_spark(
    spark: Any, schema: pt.Schema, numbers: tuple[int, int]
) -> None:
    """Every kind of sum. Dask tries every method: what a worker does is the same on both, and a pass costs seconds here."""
    rows = table(400)
    found = passes("mosaic", schema, rows)
    for number in numbers:
        assert found[number].agrees(frame(spark, rows, 1 + 2 * number), workers=3)


@settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 80), st.integers(1, 5), st.integers(1, 4), st.integers(0, 5))
def test_any_number_of_rows_partitions_and_tasks_on_spark(
    spark: Any, rows: int, parts: int, workers: int, seed: int
) -> None:
    whole = table(rows, seed)
    for schema in (SCHEMA, PEOPLE):
        (first, *_) = passes("hermite", schema, whole)
        assert first.agrees(frame(spark, whole, parts), workers=workers)


def test_parquet_is_read_by_spark_and_all_else_by_its_workers(spark: Any, tmp_path: Path) -> None:
    rows = table(300)
    (tmp_path / "csv").mkdir()
    (tmp_path / "parquet").mkdir()
    for number in range(2):
        part = rows.slice(150 * number, 150)
        pacsv.write_csv(part, tmp_path / "csv" / f"{number}.csv")
        pq.write_table(part, tmp_path / "parquet" / f"{number}.parquet")
    (first, *_) = passes("merf", SCHEMA, rows)
    engine = Spark(2)
    for folder, reader in (("csv", None), ("parquet", "spark")):
        source = engine.open(tmp_path / folder)
        assert (source.engine, source.whole) == (reader, True)
        assert first.agrees(source, engine)
    np.savez(tmp_path / "p.npz", **photos(40))
    (first, *_) = passes(IMAGES, PHOTOS, tmp_path / "p.npz")
    assert first.agrees(engine.open(tmp_path / "p.npz"), engine)


def test_a_value_of_several_lines_is_one_row_on_spark(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('job,note\ncook,"a\nnurse,b\nnurse\nnurse,c"\nsmith,ok\n')
    schema = pt.Schema(name="s", reviewed=True, columns={"job": SCHEMA.columns["job"]})  # the note is not read
    (first, *_) = passes("hermite", schema, path)
    engine = Spark(2)
    assert first.rows == 2
    assert first.agrees(engine.open(path), engine)
    path.write_text("job,note\ncook,SECRETVALUE,too many\nsmith,ok\n")
    with pytest.raises(DataError, match="some line has more or fewer values than the first line") as caught:
        first.agrees(engine.open(path), engine)
    assert "SECRETVALUE" not in str(caught.value)


def test_a_spark_frame_is_released_without_naming_the_engine(spark: Any) -> None:
    made = pt.release(frame(spark, table(300), 2), SCHEMA, epsilon=1, method="hermite", threads=2)
    assert made.rows is None  # it may be a selection
    assert made.measurements


def test_what_is_wrong_on_spark_is_told_and_nothing_is_spent(spark: Any, tmp_path: Path, own_ledger: Path) -> None:
    rows = table(40)
    faulty = rows.set_column(1, "age", pa.array(["SECRETVALUE"] * 40))
    with pytest.raises(DataError, match="column 'age' holds a value that cannot be read as integer") as caught:
        pt.release(frame(spark, faulty, 2), SCHEMA, epsilon=1)
    assert "SECRETVALUE" not in str(caught.value)

    pq.write_table(rows, tmp_path / "a.parquet")
    pq.write_table(faulty, tmp_path / "b.parquet")  # one file of the folder has drifted
    with pytest.raises(DataError, match="do they have the same columns of the same types"):
        pt.release(tmp_path, SCHEMA, epsilon=1, engine="spark")

    def without(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pointillist_of_no_executor  # type: ignore[import-not-found]

        yield from pointillist_of_no_executor

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bare = frame(spark, rows, 1)
        bare = bare.mapInArrow(without, bare.schema)
    with pytest.raises(DataError, match="no Python package 'pointillist_of_no_executor'"):
        pt.release(bare, SCHEMA, epsilon=1)
    assert not spends(own_ledger)


DRIVER = """
from pyspark.sql import SparkSession
def slowly(batches):
    for batch in batches:
        time.sleep(0.2)
        yield batch
warnings.simplefilter("ignore")
off = dict.fromkeys(["spark.ui.enabled", "spark.sql.codegen.wholeStage", "spark.sql.adaptive.enabled"], "false")
session = SparkSession.builder.master("local[1]").config(map=off).getOrCreate()
session.sparkContext.setLogLevel("OFF")
frame = session.createDataFrame(table(200))
if True:
    rows = frame.mapInArrow(slowly, frame.schema)
"""


@pytest.mark.usefixtures("spark")
def test_a_spark_driver_that_is_killed_leaves_nothing_half_written(tmp_path: Path) -> None:
    """In the second pass, when the spend counts; before the first noise nothing is booked, whichever the engine."""
    kill_driver(DRIVER, "pass 2 of", tmp_path)
    assert not (tmp_path / "out.release").exists()
    assert len(spends(tmp_path / "ledger")) == 1


def test_a_spark_executor_that_is_killed_changes_nothing(spark: Any, tmp_path: Path) -> None:
    rows = table(400)
    (each, *_) = passes("merf", SCHEMA, rows)
    whole = frame(spark, rows, 6)
    folder = str(tmp_path)

    def slowly(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, batch in enumerate(batches):
            Path(folder, f"{os.getppid()}-{number}-{time.time_ns()}").touch()  # whose parent is the executor
            time.sleep(0.3)
            yield batch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        slow = whole.mapInArrow(slowly, whole.schema)
    killed = threading.Thread(target=_kill_one_executor, args=(tmp_path,))
    killed.start()
    assert each.agrees(slow)
    killed.join()
    assert (tmp_path / "killed").exists()


def _kill_one_executor(folder: Path) -> None:
    psutil = pytest.importorskip("psutil")
    while len(started := [path.name for path in folder.glob("*-*")]) < 3:
        time.sleep(0.02)
    psutil.Process(int(started[0].partition("-")[0])).parent().send_signal(signal.SIGKILL)
    (folder / "killed").touch()
