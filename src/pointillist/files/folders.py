"""Folders: written beside their place and put there when they are whole, or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pointillist.errors import ArtefactError


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A folder of our own on the same disk as `path`, gone at the end."""
    aside: str | None = None
    try:
        if path.exists() and not path.is_dir():
            raise ArtefactError(f"{path}: is a file. Name a folder to write, or give it an ending.")
        aside = tempfile.mkdtemp(dir=path.absolute().parent, prefix=f".{path.name}.", suffix=".part")
        yield Path(aside)
    except FileNotFoundError:
        raise ArtefactError(f"{path}: cannot be written: its folder does not exist.") from None
    except OSError as error:
        raise ArtefactError(f"{path}: cannot be written ({error.strerror}).") from None
    finally:
        if aside is not None:
            shutil.rmtree(aside, ignore_errors=True)


def replace(path: Path, fresh: Path, old: Path) -> None:
    """Put a finished folder in its place; the one that was there stays if that fails."""
    if not path.is_dir():
        os.rename(fresh, path)
        return
    os.rename(path, old)
    try:
        os.rename(fresh, path)
    except OSError:
        with suppress(OSError):
            os.rename(old, path)
        raise
