"""Folders of images: a sub-folder for each class, or images without classes; read a few at a time."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from pointillist.errors import DataError
from pointillist.reading import batches
from pointillist.reading.base import SOURCES, Report
from pointillist.reading.images import IMAGE, LABEL, Images
from pointillist.schema import Schema

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
_CLUTTER = ("thumbs.db", "desktop.ini")
"""Left by file managers; what starts with a dot is passed over, too."""
_MOST_FILE_BYTES = 1 << 29


@SOURCES.register("image-folder", place=10)
class Folder(Images):
    """A folder with a sub-folder of images for each class, or with images and no classes."""

    def __init__(self, path: Path):
        self.path, self.name = path, str(path)

    @classmethod
    def suits(cls, table: Any) -> bool:
        try:
            return isinstance(table, Path) and table.is_dir() and holds_images(table)
        except PermissionError:
            raise DataError(f"{table}: may not be read. Check its permissions.") from None

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> "Folder":
        return cls(table)

    def address(self) -> dict[str, Any]:
        return {"source": "image-folder", "path": str(self.path.absolute())}

    @classmethod
    def from_address(cls, facts: Mapping[str, Any]) -> Self:
        return cls(Path(facts["path"]))

    def column_names(self) -> list[str]:
        return [IMAGE] if self._classes() is None else [IMAGE, LABEL]

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        most, size = batches.rows_at_once(schema), 0
        labels: list[str] = []
        contents: list[bytes] = []
        public = {str(name) for name in getattr(schema.columns.get(LABEL), "categories", ())}
        for label, path, share in self._files():
            labels.append(label)
            if IMAGE in columns:
                contents.append(self._content(path))
                size += len(contents[-1])
            if len(labels) >= most or size >= batches.BATCH_BYTES:
                yield _folder_batch(columns, contents, labels, public)
                report(share)
                labels, contents, size = [], [], 0
        if labels:
            yield _folder_batch(columns, contents, labels, public)
        report(1.0)

    def _classes(self) -> list[str] | None:
        """The sub-folders' names; none if the images have no classes."""
        names, files = [], False
        for entry in _entries(self.path):
            if entry.is_dir():
                names.append(_utf8(entry.name, self.name))
            else:
                self._require_image(entry.name, "straight in the folder")
                files = True
        if files and names:
            raise DataError(
                f"{self.name}: holds images and folders side by side. Put every image into the folder of its class, or "
                "all of them into one folder without classes."
            )
        return None if files else sorted(names)

    def _files(self) -> Iterator[tuple[str, Path, float]]:
        """Class, path and how much has passed, in an order that does not change; one class's names at a time."""
        classes = self._classes()
        folders = [self.path] if classes is None else [self.path / name for name in classes]
        for number, folder in enumerate(folders):
            names = []
            for entry in _entries(folder):
                if entry.is_dir():
                    raise DataError(f"{self.name}: a class's folder holds another folder. Classes have no sub-classes.")
                self._require_image(entry.name, "in a class's folder")
                names.append(entry.name)
            for place, name in enumerate(sorted(names), start=1):
                yield folder.name, folder / name, (number + place / len(names)) / len(folders)

    def _require_image(self, name: str, where: str) -> None:
        if not name.lower().endswith(ENDINGS):
            raise DataError(
                f"{self.name}: a file {where} is no image by its ending. Known are {', '.join(ENDINGS)}. Remove it, or "
                "rename it."
            )

    def _content(self, path: Path) -> bytes:
        if path.stat().st_size > _MOST_FILE_BYTES:
            raise DataError(f"{self.name}: a file has more than {_MOST_FILE_BYTES >> 20} MB. Make it smaller.")
        return path.read_bytes()


def holds_images(path: Path) -> bool:
    """Whether there is an image in a folder, or in one of its sub-folders."""
    for entry in _entries(path):
        if entry.name.lower().endswith(ENDINGS) and entry.is_file():
            return True
        if entry.is_dir() and any(each.name.lower().endswith(ENDINGS) for each in _entries(Path(entry.path))):
            return True
    return False


def _entries(path: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(path) as entries:
        for entry in entries:
            if not entry.name.startswith(".") and entry.name.lower() not in _CLUTTER:
                yield entry


def _utf8(name: str, origin: str) -> str:
    try:
        name.encode()
    except UnicodeError:
        raise DataError(f"{origin}: the name of a class's folder is not UTF-8. Rename it.") from None
    return name


def _folder_batch(columns: list[str], contents: list[bytes], labels: list[str], public: set[str]) -> pa.RecordBatch:
    """Images with, for messages, the class that they are in: only if the schema names it, and so it is public."""
    arrays = []
    for name in columns:
        if name == LABEL:
            arrays.append(pa.array(labels, pa.string()))
        else:
            known = pa.array([label if label in public else None for label in labels], pa.string())
            arrays.append(
                pa.StructArray.from_arrays([pa.array(contents, pa.large_binary()), known], ["bytes", "folder"])
            )
    return pa.RecordBatch.from_arrays(arrays, names=columns)
