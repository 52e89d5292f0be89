"""Engines: how the pass over the private rows is run. On the cores of this machine, or on many machines.

An engine is handed partitions of a table and a job, and gives back one exact sum. It knows nothing of what is added up:

- a **partition** is a `Source` of some of the rows. `Source.partitions` cuts a table into several, and `Source.address` says
  in JSON values where another machine finds one;
- a **job** says what is added up, over which columns. It can be sent: `Job.to_bytes`;
- a **partial** is the sum over some of the rows, in integers: merged in any order it gives the same bits.

So every engine, wherever its workers are, takes the same steps, here for workers that are sent bytes:

    content = job.to_bytes()
    batches = job.read(content, address)          # on a worker, for each partition that has an address
    batches = job.prepare(content, batches)       # where the rows are
    ...                                           # bring together the rows that agree in the columns `job.together`
    partial = job.work(content, batches)          # on the worker that has them
    total = Partial.merged(map(Partial.from_bytes, partials))

`job.together` names columns only where people's rows are capped. What `prepare` gives then are the numbers that the pass
needs, beside a number that stands for the person; which rows of a person are kept follows from those rows alone. So it is
enough that all of them meet on one worker, whichever it is and in whichever order: hash, sort or group by these columns.

A job and a partial are secret. They go to workers and back, and nowhere else.

A new engine is a file here, with a class that is entered in `ENGINES`; what it needs beyond this package it imports when it
is made.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.files import container
from pointillist.files.facts import whole
from pointillist.reading.base import Report, Source
from pointillist.reading.opening import open_address, open_source
from pointillist.registry import Registry
from pointillist.schema import Schema

_KIND, _FORMAT, _MOST_ROWS = "partial", 1, 1 << 62


@dataclass(frozen=True, eq=False, repr=False)
class Partial:
    """An exact sum over some of the rows, and how many they are. Secret."""

    values: NDArray[np.int64]
    rows: int

    @staticmethod
    def merged(parts: Iterable["Partial"]) -> "Partial":
        """The sum over the rows of all parts, of which there is at least one; the same bits in any order.

        Every partition must be among them exactly once. A task that is tried again gives the same part again: an engine
        keeps one of the two, since rows that count twice have twice the sensitivity that the noise was made for.
        """
        stream = iter(parts)
        first = next(stream)
        values, rows = first.values.copy(), first.rows
        for part in stream:
            if part.values.shape != values.shape:
                raise ValueError("parts of different sums")
            values += part.values
            rows += part.rows
        return Partial(values, rows)

    def to_bytes(self) -> bytes:
        """For the way from a worker."""
        return container.pack(_KIND, _FORMAT, {"kind": _KIND, "rows": self.rows}, {"values": self.values})

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """The inverse of `to_bytes`."""
        facts, arrays = container.unpack_bytes(content, _KIND, _FORMAT)
        with container.sound("the partial sum"):
            container.require_kind(facts, _KIND)
            if arrays["values"].ndim != 1 or arrays["values"].dtype != np.int64:
                raise ValueError("values must be a row of integers")
            return cls(arrays["values"], whole(facts, "rows", 0, _MOST_ROWS))


class Sum(Protocol):
    """A sum in the making, for one worker."""

    def add(self, item: Any) -> None:
        """Add what `Job.stream` gave."""

    def partial(self) -> Partial:
        """What has been added up so far."""


class Job(ABC):
    """What is added up, over which columns of which table. It can be sent."""

    schema: Schema

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """The columns that are read."""

    @property
    def together(self) -> tuple[str, ...]:
        """Columns of what `prepared` gives: rows that agree in all of them must meet on one worker. None: any may."""
        return ()

    @abstractmethod
    def prepared(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches as they were read, in the form in which rows may go from worker to worker."""

    @abstractmethod
    def stream(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Any]:
        """Prepared batches as items, each of which may be added by any thread, in any order."""

    @abstractmethod
    def start(self) -> Sum:
        """A sum of nothing yet. Each thread has its own."""

    @abstractmethod
    def to_bytes(self) -> bytes:
        """For the way to a worker. No pickle: facts and arrays."""

    @classmethod
    @abstractmethod
    def from_bytes(cls, content: bytes) -> Self:
        """The inverse of `to_bytes`."""

    @classmethod
    def read(cls, content: bytes, address: Mapping[str, Any]) -> Iterator[pa.RecordBatch]:
        """On a worker: the rows of a partition that stands at an address."""
        job = cls.from_bytes(content)
        return open_address(address).batches(job.columns, job.schema, lambda fraction: None)

    @classmethod
    def prepare(cls, content: bytes, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """On a worker: `prepared`, of a job that was sent."""
        return cls.from_bytes(content).prepared(batches)

    @classmethod
    def work(cls, content: bytes, batches: Iterable[pa.RecordBatch]) -> bytes:
        """On a worker: the partial sum of a job that was sent over prepared batches, to be sent back."""
        job = cls.from_bytes(content)
        total = job.start()
        for item in job.stream(batches):
            total.add(item)
        return total.partial().to_bytes()


class Engine(ABC):
    """A way to run the pass."""

    remote: ClassVar[bool] = False
    """Whether its workers are a cluster."""

    def __init__(self, workers: int | None = None, master: str | None = None):
        self.workers = workers
        """How many may work at a time; none: as many as suit the machine."""
        if master is not None and not self.remote:
            raise UsageError(
                f"--master goes with an engine that is a cluster, and {ENGINES.name_of(type(self))!r} is none."
            )
        self.master = master
        """Where its cluster is; none: the one that there is, or one on this machine."""

    @classmethod
    def suits(cls, source: Source) -> bool:
        """Whether it should run over this source where no engine is asked for."""
        return True

    @property
    def partitions(self) -> int:
        """Into how many partitions it would have a table cut, at most."""
        return 1

    def open(
        self,
        table: Any,
        *,
        delimiter: str = ",",
        decimal: str | None = None,
        encoding: str | None = None,
        query: str | None = None,
    ) -> Source:
        """Whatever the caller has, as a source that it reads well."""
        return open_source(table, delimiter=delimiter, decimal=decimal, encoding=encoding, query=query)

    @abstractmethod
    def run(self, partitions: Sequence[Source], job: Job, report: Report) -> Partial:
        """The exact sum over the rows of all partitions; `report` is told how much has passed."""


ENGINES: Registry[type[Engine]] = Registry("engine", "pointillist.engines")
"""The engines, by name. The first that suits a source runs over it, unless another is asked for."""


def opened(
    table: Any, engine: Engine | str | None = None, workers: int | None = None, master: str | None = None, **how: Any
) -> tuple[Source, Engine]:
    """A table as a source, and the engine for it: the one that is asked for, by itself or by its name, or what suits."""
    if engine is None and master is None:
        source = open_source(table, **how)
        return source, engine_for(source, None, workers)
    if engine is None:
        raise UsageError("--master goes with --engine: which engine's cluster is it?")
    chosen = engine if isinstance(engine, Engine) else ENGINES.named(engine)(workers, master)
    return chosen.open(table, **how), chosen


def engine_for(source: Source, engine: Engine | str | None = None, workers: int | None = None) -> Engine:
    """The engine that is asked for, by itself or by its name; else the first that suits the source."""
    if isinstance(engine, Engine):
        return engine
    found = ENGINES.named(engine) if engine is not None else next(iter(ENGINES.suiting(source).values()))
    return found(workers)
