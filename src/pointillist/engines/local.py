"""The local engine: several threads take batches from one stream, and each adds up on its own."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

State = TypeVar("State")
Item = TypeVar("Item")


def run(
    batches: Iterable[Item], start: Callable[[], State], add: Callable[[State, Item], None], threads: int
) -> list[State]:
    """Feed every batch to one of `threads` states made by `start`; the caller merges them.

    No more than one batch waits for each thread, so memory does not grow with the stream.
    """
    stream = iter(batches)
    lock = threading.Lock()
    stop = threading.Event()

    def work() -> State:
        state = start()
        try:
            while not stop.is_set():
                with lock:
                    batch = next(stream, None)
                if batch is None:
                    break
                add(state, batch)
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
