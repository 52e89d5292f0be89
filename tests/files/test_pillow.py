"""Pillow: found, or asked for in words; its warnings are silent in every thread, and only there."""

import sys
import threading
import warnings

import pytest

from pointillist.errors import UsageError
from pointillist.files.pillow import pillow, quiet


def test_pillow_is_found() -> None:
    assert pillow().new("L", (2, 3)).size == (2, 3)


def test_without_pillow_a_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(UsageError, match=r"pip install 'pointillist\[images\]'") as caught:
        pillow()
    assert caught.value.__suppress_context__


def test_warnings_are_silent_within_and_heard_after() -> None:
    with quiet():
        warnings.warn("a private value", stacklevel=1)
        with quiet():
            warnings.warn("another", stacklevel=1)
        warnings.warn("still within", stacklevel=1)
    with pytest.warns(UserWarning, match="heard"):
        warnings.warn("heard", stacklevel=1)


def test_threads_that_end_at_different_times_leave_the_filters_as_they_were() -> None:
    before, inside, leave = list(warnings.filters), threading.Barrier(3), threading.Event()

    def work() -> None:
        with quiet():
            inside.wait(10)
            leave.wait(10)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for each in threads:
        each.start()
    with quiet():
        inside.wait(10)
    assert warnings.filters[0][0] == "ignore"  # the others are still within
    leave.set()
    for each in threads:
        each.join(10)
    assert list(warnings.filters) == before
