"""The local engine: several threads take batches from one stream, and each adds up on its own."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

import pyarrow as pa

from pointillist.engines import ENGINES, Engine, Job, Partial
from pointillist.files.temporary import tidy_when_terminated
from pointillist.reading.base import Report, Source

State = TypeVar("State")
Item = TypeVar("Item")

_MOST_THREADS = 8


@ENGINES.register("local", place=10)
class Local(Engine):
    """Threads of this process."""

    def run(self, partitions: Sequence[Source], job: Job, report: Report) -> Partial:
        stream = job.stream(job.prepared(_batches(partitions, job, report)))
        threads = self.workers or min(_MOST_THREADS, os.cpu_count() or 1)
        with tidy_when_terminated():  # here, as the stream is read by other threads
            sums = spread(stream, job.start, lambda total, item: total.add(item), threads)
        return Partial.merged(total.partial() for total in sums)


def _batches(partitions: Sequence[Source], job: Job, report: Report) -> Iterator[pa.RecordBatch]:
    """One partition after the other."""
    for number, partition in enumerate(partitions):

        def passed(fraction: float, before: int = number) -> None:
            report((before + fraction) / len(partitions))

        yield from partition.batches(job.columns, job.schema, passed)


def spread(
    items: Iterable[Item], start: Callable[[], State], add: Callable[[State, Item], None], threads: int
) -> list[State]:
    """Feed every item to one of `threads` states made by `start`; the caller merges them.

    No more than one item waits for each thread, so memory does not grow with the stream.
    """
    stream = iter(items)
    lock = threading.Lock()
    stop = threading.Event()

    def work() -> State:
        state = start()
        try:
            while not stop.is_set():
                with lock:
                    item = next(stream, None)
                if item is None:
                    break
                add(state, item)
        except BaseException:
            stop.set()
            raise
        return state

    if threads <= 1:
        return [work()]
    with ThreadPoolExecutor(threads, thread_name_prefix="embed") as pool:
        workers = [pool.submit(work) for _ in range(threads)]
        try:
            while wait(workers, timeout=0.2).not_done:  # look up now and then: an interrupt must not wait for the end
                pass
        except BaseException:
            stop.set()
            raise
        return [worker.result() for worker in workers]
