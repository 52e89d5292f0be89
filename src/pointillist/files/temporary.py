"""Temporary files and folders: gone when their work is done, failed or told to end (SIGTERM).

A process that is killed cannot tidy up, so whoever comes next does: what is temporary is locked while its process lives,
and what nobody holds of the same user's is removed.
"""

import os
import re
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # without locks nobody can tell what is still in use, so nothing is swept
    fcntl = None  # type: ignore[assignment]

_open: dict[Path, int] = {}
"""What is in use, each with the process that made it: one that was forked off has a copy of this and owns none."""
_RANDOM = "[a-z0-9_]{8}"
"""What `tempfile` puts between a prefix and a suffix."""
_MARK, _SUFFIX = ".pointillist-", ".part"
_BESIDE = re.compile(rf"\..*{re.escape(_MARK)}{_RANDOM}{re.escape(_SUFFIX)}", re.DOTALL)


@contextmanager
def folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A folder of the user's alone (mode 0700), gone afterwards; first those of this prefix that nobody holds go."""
    sweep(parent, re.compile(re.escape(prefix) + _RANDOM))
    with _kept(lambda: Path(tempfile.mkdtemp(prefix=prefix, dir=parent))) as made:
        yield made


@contextmanager
def folder_beside(path: Path) -> Iterator[Path]:
    """A hidden folder on the same disk as `path`, gone afterwards."""
    parent = path.absolute().parent
    sweep(parent, _BESIDE)
    with _kept(lambda: Path(tempfile.mkdtemp(prefix=f".{path.name}{_MARK}", suffix=_SUFFIX, dir=parent))) as made:
        yield made


@contextmanager
def file_beside(path: Path) -> Iterator[Path]:
    """A hidden file on the same disk as `path`, gone afterwards unless it was given another name."""
    parent = path.absolute().parent
    sweep(parent, _BESIDE)

    def make() -> Path:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}{_MARK}", suffix=_SUFFIX, dir=parent)
        os.close(handle)
        return Path(name)

    with _kept(make) as made:
        yield made


@contextmanager
def tidy_when_terminated() -> Iterator[None]:
    """Remove what is temporary of this process if SIGTERM ends it, also what other threads make.

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


def sweep(parent: Path, names: re.Pattern[str]) -> None:
    """Remove what processes of this user left below `parent` that are no more, by its name."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(parent) as entries:  # a folder that may not be listed is not swept
        for path in [Path(entry.path) for entry in entries if names.fullmatch(entry.name)]:
            _remove_left(path)


def _remove_left(path: Path) -> None:
    try:
        facts = path.lstat()
        if facts.st_uid != os.getuid() or not (stat.S_ISDIR(facts.st_mode) or stat.S_ISREG(facts.st_mode)):
            return
        lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:  # somebody else has just removed it
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(path)
    except OSError:  # in use
        pass
    finally:
        os.close(lock)


@contextmanager
def _kept(make: Callable[[], Path]) -> Iterator[Path]:
    """What `make` makes, locked and tidied up after."""
    with tidy_when_terminated():
        path, lock = _locked(make)
        _open[path] = os.getpid()
        try:
            yield path
        finally:
            _remove_own(path)
            if lock is not None:
                os.close(lock)


def _locked(make: Callable[[], Path]) -> tuple[Path, int | None]:
    """What is made, and its lock; made again if a sweep came between."""
    while True:
        path = make()
        if fcntl is None:
            return path, None
        try:
            lock = os.open(path, os.O_RDONLY)
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
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        if not path.exists():
            return


def _terminated(number: int, frame: Any) -> None:
    for path in list(_open):
        _remove_own(path)
    os._exit(128 + number)  # at once, as without us: threads that are at work would not stop for an exception
