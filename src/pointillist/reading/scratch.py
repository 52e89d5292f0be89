"""Scratch: the one place for temporary files that may hold private rows.

A folder is its owner's alone (mode 0700) and is removed when its work is done, failed or told to end (SIGTERM). A process
that is killed cannot tidy up, so whoever comes next does: a folder is locked as long as its process lives, and one of the
same user's that nobody holds is removed.
"""

import os
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # without locks nobody can tell whether a folder is still in use, so none is swept
    fcntl = None  # type: ignore[assignment]

_PREFIX = "pointillist-scratch-"
_open: dict[Path, int] = {}
"""The folders in use, each with the process that made it: one that was forked off has a copy of this and owns none."""


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for temporary files, gone afterwards."""
    sweep()
    with tidy_when_terminated():
        path, lock = _locked_folder()
        _open[path] = os.getpid()
        try:
            yield path
        finally:
            _remove_own(path)
            if lock is not None:
                os.close(lock)


@contextmanager
def tidy_when_terminated() -> Iterator[None]:
    """Remove this process's folders if SIGTERM ends it, also those that other threads make.

    Only the main thread may say what a signal does; and a program that has said so already is left alone.
    """
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, _terminated)
    try:
        yield
    finally:
        if ours and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def sweep() -> None:
    """Remove what processes of this user left that are no more."""
    if fcntl is None:
        return
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            facts = path.lstat()
            if facts.st_uid != os.getuid() or not stat.S_ISDIR(facts.st_mode):
                continue
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:  # somebody else has just removed it
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(path)
        except OSError:  # in use
            pass
        finally:
            os.close(lock)


def _locked_folder() -> tuple[Path, int | None]:
    """A new folder, and its lock; another one if a sweep came between."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        if fcntl is None:
            return path, None
        try:
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        with suppress(OSError):  # where a file system knows no locks, no sweep gets one either
            fcntl.flock(lock, fcntl.LOCK_EX)
        if path.exists():
            return path, lock
        os.close(lock)


def _remove_own(path: Path) -> None:
    if _open.get(path) == os.getpid():
        _remove(path)
    _open.pop(path, None)


def _remove(path: Path) -> None:
    for _ in range(10):  # what is being written to may fill up again while it is emptied
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return


def _terminated(number: int, frame: Any) -> None:
    for path in list(_open):
        _remove_own(path)
    os._exit(128 + number)  # at once, as without us: threads that are at work would not stop for an exception
