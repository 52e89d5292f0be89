"""Tasks: what workers elsewhere do, and how they send it back. The same for every engine that is a cluster.

A task lets no error out: clusters write errors to their logs, some together with the rows at hand. What is wrong goes back
as a result, so it is not tried again either; of errors that are not ours only the kind is told.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist import errors
from pointillist.engines.base import Job, Partial
from pointillist.errors import DataError, PointillistError, UsageError
from pointillist.reading.base import Source

_DONE, _FAILED = b"+", b"-"
Result = bytes
"""What a task sends back: rows or a partial sum, or what is wrong."""


class Order:
    """What all tasks of a pass are told: the job, and which version of this package made it."""

    def __init__(self, job: Job):
        self.kind, self.content, self.version = type(job), job.to_bytes(), version("pointillist")
        self.columns, self.together = job.columns, job.together

    def require_same_version(self) -> None:
        """Refuse to take part with another version of the package: it might add up something else."""
        here = version("pointillist")
        if here != self.version:
            raise UsageError(
                f"a worker has pointillist {here}, and the pass was started by {self.version}. Install the same "
                "version on all machines."
            )

    def summed(self, batches: Iterable[pa.RecordBatch]) -> Result:
        """The partial sum of prepared rows."""
        return _result(lambda: self._checked().work(self.content, batches))

    def prepared_and_summed(self, batches: Iterable[pa.RecordBatch]) -> Result:
        """The partial sum of rows as they were read, where none must meet."""
        return _result(lambda: self._checked().work(self.content, self.kind.prepare(self.content, batches)))

    def parcels(self, batches: Iterable[pa.RecordBatch], count: int) -> Iterator[tuple[int, Result]]:
        """Rows as they were read, prepared and packed by where they must go: those that must meet get one number."""
        try:
            for batch in self._checked().prepare(self.content, batches):
                places = _places(batch, self.together, count)
                for number in np.unique(places).tolist():
                    yield number, _DONE + _packed(batch.filter(pa.array(places == number)))
        except PointillistError as error:
            yield 0, _failure(error)
        except Exception as error:
            yield 0, _failure(_unforeseen(error))

    def parcels_summed(self, parcels: Iterable[Result]) -> Result:
        """The partial sum of all rows that were sent to one place."""
        return self.summed(batch for parcel in parcels for batch in _unpacked(opened(parcel)))

    def at(self, address: Mapping[str, Any]) -> Iterator[pa.RecordBatch]:
        """The rows of a partition that this worker reads itself."""
        yield from self.kind.read(self.content, address)  # when they are asked for, and errors are caught

    def of(self, partition: Callable[[], Source]) -> Iterator[pa.RecordBatch]:
        """The rows of a partition that this worker has."""
        job = self.kind.from_bytes(self.content)
        yield from partition().batches(job.columns, job.schema, lambda fraction: None)

    def _checked(self) -> type[Job]:
        self.require_same_version()
        return self.kind


def merged(results: Iterable[Result]) -> Result:
    """One partial sum of several, or the first thing that is wrong with one of them."""
    return _result(lambda: Partial.merged(Partial.from_bytes(opened(each)) for each in results).to_bytes())


def opened(result: Result) -> bytes:
    """What a task sent back; what was wrong is raised here."""
    if result[:1] == _DONE:
        return result[1:]
    kind, text = json.loads(result[1:])
    found = getattr(errors, kind, DataError)
    raise (found if issubclass(found, PointillistError) else DataError)(text)


def addresses(partitions: Sequence[Source], engine: str) -> list[dict[str, Any]]:
    """Where workers find the partitions of a table that is not theirs already."""
    found = [each.address() for each in partitions]
    if None in found:
        raise UsageError(
            f"{partitions[0].name}: is in this process's memory, or not on a disk, and engine {engine!r} works in other "
            "processes. Leave the engine away, pass a file that all machines see, or make it a frame of that engine."
        )
    return [each for each in found if each is not None]


def _result(work: Callable[[], bytes]) -> Result:
    try:
        return _DONE + work()
    except PointillistError as error:
        return _failure(error)
    except Exception as error:
        return _failure(_unforeseen(error))


def _failure(error: PointillistError) -> Result:
    return _FAILED + json.dumps([type(error).__name__, str(error)]).encode()


def _unforeseen(error: Exception) -> DataError:
    return DataError(
        f"a worker of the pass failed ({type(error).__name__}). Do its rows suit the schema without a cluster?"
    )


def _places(batch: pa.RecordBatch, together: Sequence[str], count: int) -> Any:
    """A number below `count` for each row, the same for rows that agree in the columns `together`.

    Those are whole numbers, and already as good as random: their sum will do.
    """
    total = np.zeros(batch.num_rows, dtype=np.uint64)
    for name in together:
        total += batch.column(name).fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint64)
    return (total % np.uint64(count)).astype(np.int64)


def _packed(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue().to_pybytes()


def _unpacked(content: bytes) -> Iterator[pa.RecordBatch]:
    with pa.ipc.open_stream(content) as stream:
        yield from stream
