"""Table folder: a synthetic table as Parquet files, one for each part, so that it need not be held in memory."""

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from pointillist.errors import ArtefactError, UsageError
from pointillist.files.folders import beside, replace
from pointillist.files.paths import checked

_PART = "part-*.parquet"


def is_folder(path: Path) -> bool:
    """Whether a table is to go to a folder: its name has no ending."""
    return not path.suffix


def check_folder(path: Path, *, overwrite: bool = False) -> None:
    """Refuse a folder that could not be written, before anything is spent or computed for it."""
    path = checked(path, ArtefactError)
    if path.is_dir() and any(path.iterdir()):
        if not overwrite:
            raise UsageError(f"{path}: is there already, and not empty. Name another folder, or pass --overwrite.")
        if any(not each.match(_PART) for each in path.iterdir()):
            raise UsageError(
                f"{path}: holds other things than parts of a table, and is not written over. Name another."
            )
    with beside(path):
        pass


def write_folder(parts: Iterable[pa.Table], path: Path, *, overwrite: bool = False) -> None:
    """Write parts of a table as they come, whole or not at all. Readers take the folder for one table."""
    check_folder(path, overwrite=overwrite)
    with beside(path) as aside:
        fresh = aside / "new"
        fresh.mkdir()
        for number, part in enumerate(parts):
            parquet.write_table(part, fresh / _PART.replace("*", f"{number:05}"))
        replace(path, fresh, aside)
