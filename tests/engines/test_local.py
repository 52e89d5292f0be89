"""The local engine: every batch once, on any number of threads, and errors come through."""

import threading
from collections.abc import Iterator

import pytest

from pointillist.engines.local import spread


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_batch_is_added_once(threads: int) -> None:
    states = spread(range(1000), list, lambda state, item: state.append(item), threads)
    assert len(states) == threads
    assert sorted(item for state in states for item in state) == list(range(1000))


def test_nothing_to_add() -> None:
    assert spread(iter(()), list, lambda state, item: state.append(item), 3) == [[], [], []]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_failing_batch_stops_all(threads: int) -> None:
    seen: list[int] = []

    def add(state: list[int], item: int) -> None:
        if item == 5:
            raise ValueError("five")
        seen.append(item)

    with pytest.raises(ValueError, match="five"):
        spread(range(100_000), list, add, threads)
    assert len(seen) < 100_000


def test_a_failing_stream_comes_through() -> None:
    def stream() -> Iterator[int]:
        yield 1
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        spread(stream(), list, lambda state, item: state.append(item), 2)


def test_no_more_batches_are_taken_than_there_are_threads() -> None:
    """Memory does not grow with the stream: a batch is taken only when a thread is free for it."""
    lock = threading.Lock()
    taken, done, most = 0, 0, 0

    def stream() -> Iterator[int]:
        nonlocal taken, most
        for item in range(200):
            taken += 1
            most = max(most, taken - done)
            yield item

    def add(state: list[int], item: int) -> None:
        nonlocal done
        with lock:
            done += 1

    spread(stream(), list, add, 3)
    assert most <= 4


def test_an_interrupt_stops_the_workers() -> None:
    """What the main thread is told while it waits must reach the workers, and not wait for the end of the stream."""
    import os
    import signal
    import time

    def stream() -> Iterator[int]:
        for item in range(10_000):
            if item == 20:
                os.kill(os.getpid(), signal.SIGINT)
            yield item

    seen: list[int] = []

    def add(state: list[int], item: int) -> None:
        seen.append(item)
        time.sleep(0.001)

    # A shell may have started the tests in the background, where interrupts are ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            spread(stream(), list, add, 2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(seen) < 9_000
