"""Scratch: the one place for temporary files that may hold private rows. `files/temporary` says when they go."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pointillist.files import temporary

_PREFIX = "pointillist-scratch-"


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for temporary files, the owner's alone, gone afterwards."""
    with temporary.folder(Path(tempfile.gettempdir()), _PREFIX) as made:
        yield made
