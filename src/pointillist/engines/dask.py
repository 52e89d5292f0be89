"""The Dask engine: each piece of a frame becomes one partial sum, where it is; sums are merged in a tree.

It runs where the caller's Dask does: on the cluster of the current client, at an address, or on threads of this process.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pyarrow as pa

from pointillist.engines.base import ENGINES, Engine, Job, Partial
from pointillist.engines.tasks import Order, Result, addresses, merged, opened
from pointillist.errors import UsageError
from pointillist.reading.base import Report, Source
from pointillist.reading.dask_frames import DaskFrame, part, translated

_FAN = 8
"""How many partial sums are merged at a time."""
_MOST_PARTITIONS, _PLACES = 1024, 64
"""Into how many parts a table is cut at most, and how many tasks cap people's rows."""
_WAIT = 5.0
"""Seconds in which a scheduler must answer."""

Read = Callable[[Order, Any], Iterator[pa.RecordBatch]]
"""How a worker gets rows from what it is handed."""


@ENGINES.register("dask", place=6)
class Dask(Engine):
    """Workers of a Dask cluster. `workers` is the number of parts that a file is cut into, at most."""

    remote = True

    @classmethod
    def suits(cls, source: Source) -> bool:
        return source.engine == "dask"

    @property
    def partitions(self) -> int:
        return self.workers or _MOST_PARTITIONS

    def run(self, partitions: Sequence[Source], job: Job, report: Report) -> Partial:
        order, name = Order(job), partitions[0].name
        with self._scheduler() as compute, translated(name):
            result = compute(_merged(_sums(partitions, order)))
        report(1.0)
        return Partial.from_bytes(opened(result))

    @contextmanager
    def _scheduler(self) -> Iterator[Any]:
        """What computes a promise: the client that there is, or one of the scheduler that was named."""
        _installed()
        if self.master is None:
            yield lambda promise: promise.compute()
            return
        from distributed import Client

        try:
            client = Client(self.master, timeout=_WAIT, set_as_default=False)
        except (OSError, ValueError, TimeoutError):
            raise UsageError(f"--master {self.master}: no Dask scheduler answers there. Is it running?") from None
        with client:
            yield lambda promise: client.compute(promise).result()


def _installed() -> Any:
    try:
        import dask
    except ImportError:
        raise UsageError("dask is not installed. Install pointillist[dask].") from None
    return dask


def _sums(partitions: Sequence[Source], order: Order) -> list[Any]:
    """Promises of partial sums."""
    (first, *others) = partitions
    read: Read
    if isinstance(first, DaskFrame) and not others:
        read, pieces = partial(_rows_of_frame, first.name), first.pieces(order.columns)
    else:
        read, pieces = _rows_at_address, addresses(partitions, "dask")
    told = _promise(order)
    if not order.together:
        return [_task(_sum)(told, read, each) for each in pieces]
    places = min(_PLACES, len(pieces))
    sent = [_task(_parcels)(told, read, each, places) for each in pieces]
    picked = _task(_picked)
    return [_task(_sum_sent)(told, [picked(parcels, place) for parcels in sent]) for place in range(places)]


def _merged(sums: list[Any]) -> Any:
    """A promise of one sum: a tree."""
    while len(sums) > 1:
        sums = [_task(merged)(sums[start : start + _FAN]) for start in range(0, len(sums), _FAN)]
    return sums[0]


def _task(work: Callable[..., Any]) -> Any:
    return _installed().delayed(work, pure=False)


def _promise(value: Any) -> Any:
    """A value that is sent once, and not with every task."""
    return _installed().delayed(value, pure=False, traverse=False)


# On a worker


def _rows_of_frame(name: str, order: Order, rows: Any) -> Iterator[pa.RecordBatch]:
    return order.of(lambda: part(rows, name))


def _rows_at_address(order: Order, address: Mapping[str, Any]) -> Iterator[pa.RecordBatch]:
    return order.at(address)


def _sum(order: Order, read: Read, piece: Any) -> Result:
    return order.prepared_and_summed(read(order, piece))


def _parcels(order: Order, read: Read, piece: Any, places: int) -> dict[int, list[Result]]:
    found: dict[int, list[Result]] = {}
    for place, parcel in order.parcels(read(order, piece), places):
        found.setdefault(place, []).append(parcel)
    return found


def _picked(parcels: dict[int, list[Result]], place: int) -> list[Result]:
    return parcels.get(place, [])


def _sum_sent(order: Order, parcels: list[list[Result]]) -> Result:
    return order.parcels_summed(itertools.chain.from_iterable(parcels))
