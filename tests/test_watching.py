"""Watching: a bar in a terminal and in a notebook, gone at the end; silence everywhere else."""

import io
import os
import pty
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from pointillist import watching
from pointillist.errors import UsageError
from pointillist.progress import Progress, silent
from pointillist.watching import SWITCH, shown, taken, watched

told: list[Progress] = []


@watched
def work(steps: int, *, progress: Progress = silent) -> int:
    """Something long."""
    told.append(progress)
    for step in range(steps):
        progress("fit", (step + 1) / steps)
        progress("a step that nobody waits for", 0.5)
    return steps


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_PATIENCE", 0.0)
    monkeypatch.setattr(watching, "_OFTEN", 0.0)
    monkeypatch.delenv(SWITCH, raising=False)
    told.clear()


@contextmanager
def terminal() -> Iterator[Callable[[], str]]:
    """A terminal that errors are written to, and what was written to it so far. (pytest replaces what a fixture sets.)"""
    far, near = pty.openpty()

    def seen() -> str:
        read = b""
        while select.select([far], [], [], 0)[0]:
            read += os.read(far, 4_096)
        return read.decode()

    with os.fdopen(near, "w", encoding="utf-8") as screen, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", screen)
        patch.setenv("TERM", "xterm")
        yield seen
    os.close(far)


class Kernel(InteractiveShell):
    """A shell as notebooks have it."""

    kernel = object()


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
    shell = Kernel.instance()
    yield shell
    shell.history_manager.end_session()
    Kernel.clear_instance()


def test_nobody_watches_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert work(3) == 3
    assert told == [silent]


def test_a_terminal_shows_a_bar_and_is_left_clean() -> None:
    with terminal() as seen:
        assert work(3) == 3
        written = seen()
    assert "fitting the generator" in written
    assert "nobody waits" not in written
    assert written.endswith("\x1b[2K")  # the line is cleared at the end


def test_who_is_told_by_the_caller_is_told_alone() -> None:
    heard: list[str] = []
    with terminal() as seen:
        work(1, progress=lambda step, _: heard.append(step))
        assert seen() == ""
    assert heard == ["fit", "a step that nobody waits for"]


def test_there_is_one_bar_at_a_time() -> None:
    with terminal():
        with shown() as outer, shown() as inner:
            assert inner is silent
            assert outer is not silent
        with taken():
            work(1)
        with taken(), taken():
            work(1)
        assert told == [silent, silent]
        work(1)
        assert told[2] is not silent


def test_a_switch_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "0")
    with terminal():
        work(1)
    assert told == [silent]


def test_a_failed_call_leaves_the_way_free() -> None:
    @watched
    def fails(*, progress: Progress = silent) -> None:
        progress("fit", 0.5)
        raise UsageError("no")

    with terminal():
        for _ in range(2):
            with pytest.raises(UsageError, match="no"):
                fails()
        work(1)
    assert told[0] is not silent


def test_a_notebook_shows_a_bar_and_keeps_nothing(notebook: Kernel) -> None:
    with capture_output() as seen:
        work(3)
    shown_html: list[Any] = [each.data["text/html"] for each in seen.outputs]
    assert 'value="0.333"' in shown_html[0]
    assert "fitting the generator" in shown_html[0]
    assert shown_html[-1] == ""


def test_signatures_stay_as_they_are() -> None:
    import inspect

    import pointillist as pt

    for each in (pt.release, pt.fit, pt.receive, pt.evaluate, pt.audit, pt.Synthesizer.fit):
        assert inspect.signature(each).parameters["progress"].default is silent
