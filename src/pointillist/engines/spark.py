"""The Spark engine: each task turns rows into one partial sum, where they are; a few of those come back.

Only `mapInArrow` is used, so it runs on Spark Connect, too. Nothing is counted on the side: a task that is tried again
gives its partial sum again, and Spark keeps one of the two. Rows that must meet (a person's) are sent to one task by a
number that stands for the person.
"""

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from pointillist.engines.base import ENGINES, Engine, Job, Partial
from pointillist.engines.tasks import Order, Result, addresses, merged, opened
from pointillist.files.urls import Url
from pointillist.reading.base import Report, Source
from pointillist.reading.batches import BATCH_BYTES, BATCH_ROWS
from pointillist.reading.opening import open_source
from pointillist.reading.spark_frames import SparkFrame, quietly, session_at, translated
from pointillist.reading.spark_paths import at_path

_RESULT, _PARCEL = "result binary", "place int, rows binary"
_MOST_TASKS, _MERGERS = 1024, 8
"""How many tasks sum rows at most, and how many merge sums before the driver does: it holds no more than so many."""
_PLACES = 200
"""How many tasks cap people's rows."""


@ENGINES.register("spark", place=5)
class Spark(Engine):
    """Executors of a Spark cluster. `workers` is the number of tasks that a pass is cut into, at most."""

    remote = True

    def __init__(self, workers: int | None = None, master: str | None = None):
        super().__init__(workers, master)
        self._session: Any = None

    @classmethod
    def suits(cls, source: Source) -> bool:
        return source.engine == "spark"

    @property
    def partitions(self) -> int:
        return self.workers or _MOST_TASKS

    def open(
        self,
        table: Any,
        *,
        delimiter: str = ",",
        decimal: str | None = None,
        encoding: str | None = None,
        query: str | None = None,
    ) -> Source:
        """Parquet and ORC at a path or URL are read by Spark; what else is on a disk by the package, on the workers."""
        told = any(each is not None for each in (decimal, encoding, query))
        if told or not isinstance(table, str | os.PathLike | Url):
            return super().open(table, delimiter=delimiter, decimal=decimal, encoding=encoding, query=query)
        place = _place(table.secret if isinstance(table, Url) else os.fspath(table))
        self._session = session_at(self.master)
        return at_path(self._session, place) or open_source(place, delimiter=delimiter)

    def run(self, partitions: Sequence[Source], job: Job, report: Report) -> Partial:
        order, name = Order(job), partitions[0].name
        mergers = min(_MERGERS, self.partitions)
        with translated(name):
            results = quietly(
                lambda: self._sums(partitions, order).repartition(mergers).mapInArrow(_merge, _RESULT).collect()
            )
        report(1.0)
        nothing = job.start().partial()  # Spark starts no task for a table that it knows to be empty
        return Partial.merged([nothing, *(Partial.from_bytes(opened(bytes(row.result))) for row in results)])

    def _sums(self, partitions: Sequence[Source], order: Order) -> Any:
        """A frame of partial sums, one of each task."""
        frame, read = self._rows(partitions, order)
        frame = frame.coalesce(self.partitions)
        if not order.together:
            return frame.mapInArrow(partial(_sum, order, read), _RESULT)
        places = self.workers or _PLACES
        # More numbers than tasks, as Spark deals them out by a hash: so each task gets some.
        parcels = frame.mapInArrow(partial(_send, order, read, 4 * places), _PARCEL)
        return parcels.repartition(places, "place").mapInArrow(partial(_sum_sent, order), _RESULT)

    def _rows(self, partitions: Sequence[Source], order: Order) -> tuple[Any, "_Read"]:
        """A frame of the rows, or of the numbers of partitions that workers read themselves."""
        (first, *others) = partitions
        if isinstance(first, SparkFrame) and not others:
            return first.selected(order.columns), _Read(())
        places = addresses(partitions, "spark")
        session = self._session or session_at(self.master)
        return session.range(0, len(places), 1, len(places)), _Read(tuple(places))


def _place(text: str) -> Path | Url:
    """A path or an address. Of an address, and of what may be one, only what is no secret is ever shown."""
    if "://" not in text:
        return Path(text)
    url = Url.parse(text)
    path = Path(unquote(url.path))
    return path if url.scheme == "file" and not url.parameters and os.path.exists(path) else url


class _Read:
    """On a worker: batches as they come from Spark; or the rows at the addresses whose numbers come."""

    def __init__(self, places: tuple[Mapping[str, Any], ...]):
        self.places = places

    def __call__(self, order: Order, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if not self.places:
            return _larger(batches)
        numbers = (number for batch in batches for number in batch.column(0).to_pylist())
        return (batch for number in numbers for batch in order.at(self.places[number]))


def _larger(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Fewer and larger batches: Spark makes them small."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= BATCH_ROWS or sum(each.nbytes for each in waiting) >= BATCH_BYTES:
            yield pa.concat_batches(waiting)
            waiting = []
    if waiting:
        yield pa.concat_batches(waiting)


def _sum(order: Order, read: _Read, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield _column("result", [order.prepared_and_summed(read(order, batches))])


def _send(order: Order, read: _Read, places: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for place, parcel in order.parcels(read(order, batches), places):
        yield pa.RecordBatch.from_arrays(
            [pa.array([place], pa.int32()), pa.array([parcel], pa.binary())], ["place", "rows"]
        )


def _sum_sent(order: Order, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield _column("result", [order.parcels_summed(_values(batches, "rows"))])


def _merge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    first = next(results := _values(batches, "result"), None)
    if first is not None:
        yield _column("result", [merged(itertools.chain([first], results))])


def _values(batches: Iterator[pa.RecordBatch], name: str) -> Iterator[Result]:
    return (value.as_py() for batch in batches for value in batch.column(name))


def _column(name: str, values: list[bytes]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(values, pa.binary())], [name])
