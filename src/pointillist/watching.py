"""Watching: a call shows how far it is, in a terminal or a notebook, and says nothing where nobody watches.

Only steps and how much of them is done are shown, and both are gone when the call ends: a notebook keeps nothing of it.
"""

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from pointillist.progress import Progress, in_words, silent

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

SWITCH = "POINTILLIST_PROGRESS"
"""A variable of the environment: set to 0, no call shows anything by itself."""
_PATIENCE = 0.5
"""Seconds that a call may take before anything is shown."""
_OFTEN = 0.2
"""Seconds between two looks of a notebook's bar."""
_taken = threading.Lock()
"""Held by whoever shows: two bars at a time would write over each other."""


def watched(work: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Let a call of `work` show its progress, unless its caller has said whom to tell."""

    @wraps(work)
    def call(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        if "progress" in options:
            return work(*arguments, **options)
        with shown() as progress:
            return work(*arguments, **cast(Any, {**options, "progress": progress}))

    return call


@contextmanager
def taken() -> Iterator[None]:
    """Within it nothing is shown: whoever takes it shows progress itself, or wants none."""
    mine = _taken.acquire(blocking=False)
    try:
        yield
    finally:
        if mine:
            _taken.release()


@contextmanager
def shown() -> Iterator[Progress]:
    """Somewhere to tell progress to: this terminal, this notebook, or nobody."""
    display = _display()
    if display is None or not _taken.acquire(blocking=False):
        yield silent
        return
    try:
        with display() as progress:
            yield progress
    finally:
        _taken.release()


def _display() -> Callable[[], AbstractContextManager[Progress]] | None:
    if os.environ.get(SWITCH) == "0" or multiprocessing.parent_process() is not None:
        return None
    if in_notebook():
        return _notebook
    return _terminal if sys.stderr is not None and sys.stderr.isatty() else None


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


@contextmanager
def _terminal() -> Iterator[Progress]:
    """A bar in the terminal's last line."""
    from rich import progress as bars
    from rich.console import Console

    columns = (bars.TextColumn("{task.description}"), bars.BarColumn(), bars.TimeRemainingColumn())
    began = time.monotonic()
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=1.0, visible=False)
        step_before = ""

        def tell(step: str, fraction: float) -> None:
            nonlocal step_before
            words = in_words(step)
            if words is None or time.monotonic() - began < _PATIENCE:
                return
            if words != step_before:
                shown.reset(task, visible=True)
            step_before = words
            shown.update(task, description=words, completed=fraction)

        yield tell


@contextmanager
def _notebook() -> Iterator[Progress]:
    """A bar below the cell."""
    from IPython.display import HTML, display

    handle: Any = None
    last = time.monotonic() + _PATIENCE - _OFTEN

    def tell(step: str, fraction: float) -> None:
        nonlocal handle, last
        words, now = in_words(step), time.monotonic()
        if words is None or now - last < _OFTEN:
            return
        last = now
        bar = HTML(f'<progress max="1" value="{fraction:.3f}" aria-label="{words}"></progress> {words}')
        if handle is None:
            handle = display(bar, display_id=True)
        else:
            handle.update(bar)

    try:
        yield tell
    finally:
        if handle is not None:
            handle.update(HTML(""))
