"""Parts: a large sample is drawn part by part, several at a time, and handed over in order."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")

_CORES_EACH, _MOST = 4, 8
"""A part keeps about so many cores busy by itself; and no more parts than this are drawn at a time unless asked for."""


def at_a_time() -> int:
    """How many parts suit this machine."""
    return max(1, min(_MOST, (os.cpu_count() or 1) // _CORES_EACH))


def in_order(draw: Callable[[int], Part], count: int, threads: int) -> Iterator[Part]:
    """Parts 0, 1, … up to `count`, drawn on so many threads; no more than one beyond those is held."""
    if threads <= 1:
        yield from map(draw, range(count))
        return
    drawn: deque[Future[Part]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="draw") as pool:
        try:
            for number in range(count):
                drawn.append(pool.submit(draw, number))
                if len(drawn) > threads:
                    yield drawn.popleft().result()
            while drawn:
                yield drawn.popleft().result()
        finally:
            for each in drawn:
                each.cancel()
