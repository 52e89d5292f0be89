"""Spark frames: tables that are on a Spark cluster, classic or Connect. There their rows stay."""

import re
import socket
import sys
import warnings
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from pointillist.errors import DataError, UsageError
from pointillist.reading.base import SOURCES, Report, Source, taken_over
from pointillist.schema import Schema

_WAIT = 5.0
"""Seconds in which a master must answer."""
_ABSENT = re.compile(r"No module named '?([\w.]+)")
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]+)\]")


@SOURCES.register("spark", place=50)
class SparkFrame(Source):
    """A data frame of Spark's."""

    engine = "spark"

    def __init__(self, table: Any, name: str = "the Spark frame", *, whole: bool = False, files: tuple[Path, ...] = ()):
        self.table, self.name, self.whole, self._files = table, name, whole, files
        self._collected: pa.Table | None = None

    @classmethod
    def suits(cls, table: Any) -> bool:
        return any(each.__module__.startswith("pyspark.sql") for each in type(table).__mro__) and hasattr(
            table, "mapInArrow"
        )

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> "SparkFrame":
        if table.isStreaming:
            raise UsageError(
                "a Spark stream can be read only once, and a release reads its rows twice. Write it first."
            )
        return cls(table)

    def column_names(self) -> list[str]:
        with translated(self.name):
            return list(self.table.columns)

    def types(self) -> dict[str, pa.DataType]:
        from pyspark.sql.pandas.types import to_arrow_type

        found = {}
        for field in self.table.schema.fields:
            try:
                found[field.name] = to_arrow_type(field.dataType)
            except Exception:  # a type that Arrow does not know is refused where the column is read
                continue
        return found

    def stamp(self) -> Hashable:
        """Of the files that are on this machine's disk; none if it has others, or is a frame of the caller's."""
        found = (each.stat() for each in self._files)
        return tuple((each.st_ino, each.st_size, each.st_mtime_ns) for each in found) or None

    def selected(self, columns: list[str]) -> Any:
        """Some columns as a frame of Spark's."""
        self.require(columns)
        with translated(self.name):
            return self.table.select(*("`" + name.replace("`", "``") + "`" for name in columns))

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        """Here, batch by batch: whatever asks for rows and is not a pass."""
        with translated(self.name):
            for row in quietly(lambda: self.selected(columns).mapInArrow(_packed, "rows binary").toLocalIterator()):
                with pa.ipc.open_stream(bytes(row.rows)) as stream:
                    yield from stream
        report(1.0)

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        if self._collected is None:
            with translated(self.name, "Draft from a part of it, such as frame.limit(1_000_000), if it is large."):
                self._collected = quietly(self.table.toArrow)
        return taken_over(db, self._collected, self.name).query("source", sql)


def _packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """On a worker: batches as bytes, which come through with the types that Arrow gave them."""
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue().to_pybytes()], pa.binary())], ["rows"])


def session_at(master: str | None) -> Any:
    """A Spark session: the one that there is, or one at a master such as spark://host:7077, yarn, local[4] or sc://host."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise UsageError("pyspark is not installed. Install pointillist[spark].") from None
    if master is None:
        with translated("Spark"):
            return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    _require_answer(master)
    builder = SparkSession.builder.appName("pointillist")
    if master.startswith("local"):
        builder = builder.config("spark.pyspark.python", sys.executable)
    with translated(f"Spark at {_shown(master)}", "Is the master there, and may it be reached?"):
        return (builder.remote(master) if master.startswith("sc://") else builder.master(master)).getOrCreate()


def _require_answer(master: str) -> None:
    """Ask first: Spark itself would try for a minute and more."""
    ports = {"spark": 7077, "sc": 15002}
    found = re.match(r"(spark|sc)://([^/;]+)", master)
    for each in found[2].split(",") if found else []:
        host, _, port = each.rpartition(":") if re.search(r":\d+$", each) else (each, "", str(ports[found[1]]))  # type: ignore[index]
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_WAIT).close()
            return
        except OSError:
            continue
    if found:
        raise UsageError(
            f"--master {_shown(master)}: nobody answers there. Is it running, and may it be reached from here?"
        )


def _shown(master: str) -> str:
    """Scheme, host and port: what follows may be a token."""
    place = re.split("[;?#]", master)[0]
    found = re.match(r"((?:k8s://)?[\w+.-]+://)[^/]*", place)
    if found is None:
        return place
    return f"{found[1]}…" if "@" in place else found[0]  # before an @ stands a password, perhaps with a slash in it


def quietly(work: Any) -> Any:
    """Spark's warnings about versions of pandas are of no use here: only Arrow is used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work()


@contextmanager
def translated(name: str, hint: str = "") -> Iterator[None]:
    """Replace Spark's errors, which quote values and traces, by our own."""
    try:
        yield
    except Exception as error:
        if not _of_spark(error):
            raise
        raise DataError(f"{name}: {_explained(error)}{' ' + hint if hint else ''}") from None


def _of_spark(error: Exception) -> bool:
    return type(error).__module__.startswith(("pyspark", "py4j", "grpc"))


def _explained(error: Exception) -> str:
    text = str(error)
    absent = _ABSENT.search(text)
    if absent is not None:
        return (
            f"a Spark executor has no Python package {absent[1].partition('.')[0]!r}. Install pointillist, in the version "
            "that is here, for the Python of all executors (spark.pyspark.python)."
        )
    if "PYTHON_VERSION_MISMATCH" in text:
        return "the executors have another Python than this process. Set spark.pyspark.python to the same version."
    if "PATH_NOT_FOUND" in text:
        return "no such file or folder, as Spark sees it."
    condition = getattr(error, "getCondition", lambda: None)() or next(iter(_CONDITION.findall(text)), None)
    why = condition if condition and not condition.startswith("_LEGACY") else type(error).__name__
    if why.startswith(("FAILED_READ_FILE", "MALFORMED", "UNABLE_TO_INFER_SCHEMA", "CANNOT_READ", "PARQUET")):
        return f"Spark cannot read it ({why}). Are all its files whole, and do they have the same columns of the same types?"
    return f"Spark could not do it ({why}). Its own log says more."
