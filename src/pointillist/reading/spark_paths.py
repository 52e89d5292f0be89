"""Paths that Spark reads: Parquet and ORC, which say themselves where a row ends, in files of one state of a table.

Spark takes each line of a CSV file for a row. A quoted value of several lines would count as several rows, of one person,
and Spark writes lines that it refuses into its log. So CSV is read by this package's own reader, on the workers.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pointillist.errors import DataError
from pointillist.files.urls import Url
from pointillist.reading.csv_files import CsvFile
from pointillist.reading.image_folders import holds_images
from pointillist.reading.lakes import LOG
from pointillist.reading.parquet_files import FILE_KINDS
from pointillist.reading.spark_frames import SparkFrame, quietly, translated

_NO_CSV = (
    "Spark takes each line of a CSV file for a row, also where a quoted value has several. Put it on a disk that all "
    "machines see, and name it by its path; or write it as Parquet."
)
_MIXED = "a folder must hold Parquet files, or ORC files, and nothing else."
_SIGNS = re.compile(r"([\[\]{}*?\\])")
"""What is a pattern, and no name, to Spark."""
_PART = re.compile(r"[=*?\[{]|\.(parquet|pq|orc)$")
"""In the last part of a path: it may be one file, some files or one folder of a table, which is above it."""
_LAKES = {
    LOG: ("Delta", 'spark.read.format("delta").option("versionAsOf", …).load(…)'),
    "metadata/*.metadata.json": ("Iceberg", 'spark.read.option("snapshot-id", …).table(…)'),
}
"""By what is in their folders: their names, and how Spark reads one state of them."""


def at_path(session: Any, table: Path | Url) -> SparkFrame | None:
    """The table at a path or URL, as Spark reads it; none where this package's own readers do: of CSV, of images."""
    place, name = table.secret if isinstance(table, Url) else _for_spark(table), str(table)
    if place is None:
        return None
    with translated(name):
        _format([name], name)  # before Spark is asked for anything
        _require_no_lake(session, place, name)
        form = _format([name, *_listed(session, place)], name)
        frame = quietly(lambda: session.read.format(form).load(place))
        return SparkFrame(frame, name, whole=True, files=_of_this_disk(quietly(frame.inputFiles)))


def _for_spark(path: Path) -> str | None:
    """What Spark calls a path; none if there is something else than Parquet alone or ORC alone."""
    here = os.path.exists(path)
    names = [path.name]
    if here and path.is_dir():
        if not os.access(path, os.R_OK | os.X_OK) or holds_images(path):
            return None
        names = [each.name for each in path.rglob("*") if not each.name.startswith((".", "_"))]
    if {_kind(each) for each in names} - {None} not in ({"parquet"}, {"orc"}):
        return None
    # What is not here may be a pattern, or be in the store that Spark takes paths to be in.
    return "file://" + _SIGNS.sub(r"\\\1", str(path.absolute())) if here else str(path)


def _kind(name: str) -> str | None:
    """What a file or folder of this name holds; none if the name does not say so."""
    plain = Path(re.sub(r"\.(gz|bz2|zst|snappy)$", "", name.lower().rstrip("/*")))
    return "csv" if CsvFile.suits_name(plain) else "orc" if plain.suffix == ".orc" else FILE_KINDS.get(plain.suffix)


def _format(names: Iterable[str], name: str) -> str:
    """What Spark calls the one format of these files: Parquet, if no name says otherwise."""
    kinds = {_kind(each) for each in names} - {None}
    if "csv" in kinds:
        raise DataError(f"{name}: {_NO_CSV}")
    if len(kinds) > 1 or "ipc" in kinds:
        raise DataError(f"{name}: {_MIXED}")
    return kinds.pop() or "parquet" if kinds else "parquet"


def _listed(session: Any, place: str) -> list[str]:
    """The files that Spark finds, as URLs. None is opened."""
    return list(quietly(lambda: session.read.format("binaryFile").load(place).inputFiles()))


def _of_this_disk(files: Iterable[str]) -> tuple[Path, ...]:
    """Those of the files that are on this machine's disk."""
    found = (Path(unquote(parts.path)) for parts in map(urlsplit, files) if parts.scheme == "file")
    return tuple(sorted(each for each in found if each.exists()))


def _require_no_lake(session: Any, place: str, name: str) -> None:
    """Refuse a folder with files of many states of a table: a row that was changed stands in several of them."""
    for folder in _folders(place):
        for sign, (kind, how) in _LAKES.items():
            if _is_there(session, f"{folder}/{sign}"):
                raise DataError(
                    f"{name}: is a {kind} table, or a part of one, whose files hold old rows beside new ones. Pass a frame "
                    f"of one state of it, {how}; or leave the engine away."
                )


def _folders(place: str) -> list[str]:
    """The place, and what is above it as long as it may be a part of a table."""
    server, path = re.fullmatch(r"([\w+.-]+://[^/]*)?(.*)", place.rstrip("/"), re.DOTALL).groups("")  # type: ignore[union-attr]
    found = [server + path]
    while "/" in path and _PART.search(path.rpartition("/")[2]):
        path = path.rpartition("/")[0]
        found.append(server + path)
    return found


def _is_there(session: Any, pattern: str) -> bool:
    try:
        _listed(session, pattern)
        return True
    except Exception as error:
        if "PATH_NOT_FOUND" not in str(error):
            raise
        return False
