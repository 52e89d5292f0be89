"""Parts: in order, on any number of threads, few at a time."""

import threading
import time

import pytest

from pointillist.sampling.parts import at_a_time, in_order


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 7])
def test_parts_come_in_order(threads: int, count: int) -> None:
    def draw(number: int) -> int:
        time.sleep(0.001 * (7 - number))  # the first are the slowest
        return number

    assert list(in_order(draw, count, threads)) == list(range(count))


@pytest.mark.parametrize("threads", [1, 3])
def test_few_parts_are_held(threads: int) -> None:
    """Memory does not grow with the number of parts: no more are drawn than threads, and one that is handed over."""
    lock, started, most = threading.Lock(), 0, 0

    def draw(number: int) -> int:
        nonlocal started
        with lock:
            started += 1
        return number

    for done, _ in enumerate(in_order(draw, 50, threads)):
        most = max(most, started - done)
        time.sleep(0.001)
    assert started == 50
    assert most <= threads + 1


@pytest.mark.parametrize("threads", [1, 3])
def test_what_goes_wrong_with_a_part_comes_through_and_stops_the_rest(threads: int) -> None:
    started = []

    def draw(number: int) -> int:
        started.append(number)
        if number == 2:
            raise ValueError("two")
        return number

    with pytest.raises(ValueError, match="two"):
        list(in_order(draw, 1000, threads))
    assert len(started) < 20


def test_a_machine_has_room_for_one_part_at_least() -> None:
    assert 1 <= at_a_time() <= 8
