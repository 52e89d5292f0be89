"""Folders: written beside their place and put there when they are whole, or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pointillist.errors import ArtefactError
from pointillist.files.temporary import folder_beside


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A folder of our own on the same disk as `path`, gone at the end."""
    try:
        if path.exists() and not path.is_dir():
            raise ArtefactError(f"{path}: is a file. Name a folder to write, or give it an ending.")
        with folder_beside(path) as aside:
            yield aside
    except FileNotFoundError:
        raise ArtefactError(f"{path}: cannot be written: its folder does not exist.") from None
    except OSError as error:
        raise ArtefactError(f"{path}: cannot be written ({error.strerror}).") from None


def replace(path: Path, fresh: Path, aside: Path) -> None:
    """Put a finished folder in its place; the one that was there stays if that fails, and goes with `aside` if not."""
    if not path.is_dir():
        os.rename(fresh, path)
        return
    # Not yet into `aside`, which is swept: a process that ends here leaves the old folder, by this name.
    away = aside.with_name(f"{aside.name}.old")
    os.rename(path, away)
    try:
        os.rename(fresh, path)
    except OSError:
        with suppress(OSError):
            os.rename(away, path)
        raise
    os.rename(away, aside / "old")
