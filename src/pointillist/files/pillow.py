"""Pillow: the library that knows the formats of images. It is asked for only where an image is encoded or resized."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from pointillist.errors import UsageError


def pillow() -> ModuleType:
    """Pillow's module `Image`, or a message that says how to get it."""
    try:
        from PIL import Image
    except ImportError:
        raise UsageError("encoded images need Pillow. Install it with: pip install 'pointillist[images]'") from None
    return Image


class _Silence:
    """Threads that want no warnings, counted: the list of filters belongs to the process, and has no lock of its own."""

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0
        self._filters: warnings.catch_warnings[None] | None = None

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._filters = warnings.catch_warnings()
                self._filters.__enter__()
                warnings.simplefilter("ignore")
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._filters is not None:
                self._filters.__exit__(None, None, None)


_silence = _Silence()


@contextmanager
def quiet() -> Iterator[None]:
    """Without Pillow's warnings, which may quote what stands in a private file."""
    _silence.enter()
    try:
        yield
    finally:
        _silence.leave()
