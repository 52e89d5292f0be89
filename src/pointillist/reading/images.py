"""Image sources: folders of images and arrays of pixels, read a few at a time, and read again.

Their columns are always called `image` and, where there are labels, `label`. Memory does not grow with the number of
images. File names never leave this module: they may be people's names.
"""

import math
import os
import zipfile
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.errors import DataError, UsageError
from pointillist.reading.pixels import image_shape, to_bytes
from pointillist.reading.source import BATCH_ROWS, Report, Source
from pointillist.schema import Schema

IMAGE, LABEL = "image", "label"
ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
BATCH_IMAGES, BATCH_BYTES = 4096, 1 << 25
"""The most images, and roughly the most bytes, that are in one batch."""

_CLUTTER = ("thumbs.db", "desktop.ini")
"""Left by file managers; what starts with a dot is passed over, too."""
_MOST_FILE_BYTES = 1 << 29
_KEYS = (("x_train", "y_train"), ("train_images", "train_labels"), ("x", "y"), ("images", "labels"))
"""Arrays of images and of labels in an npz file; the first that is there counts."""


def rows_at_once(schema: Schema, rows: int = BATCH_ROWS) -> int:
    """How many rows a batch may have: fewer for images, by their size once they are decoded."""
    if schema.image is None:
        return rows
    return max(1, min(rows, BATCH_IMAGES, BATCH_BYTES // math.prod(schema.image[1].shape)))


def rows_within(rows: int, schema: Schema, groups: Iterable[tuple[int, int]]) -> int:
    """The same for encoded images that may be much larger than the schema's: by rows and bytes of parts of the file."""
    if schema.image is None:
        return rows
    largest = max((size / max(1, count) for count, size in groups), default=0.0)
    return max(1, min(rows, int(BATCH_BYTES / max(1.0, largest))))


class Images(Source):
    """A set of images that is no table."""

    whole = True
    note: str = ""
    """What the reader of a draft should know about where the images came from."""

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        raise UsageError(f"{self.name}: SQL asks tables, and this is a set of images. Leave --sql out.")

    def hint(self) -> str:
        return f"Images have a column {IMAGE!r} and, where there are labels, a column {LABEL!r}. Correct the schema."


class Folder(Images):
    """A folder with a sub-folder of images for each class, or with images and no classes."""

    def __init__(self, path: Path):
        self.path, self.name = path, str(path)

    def column_names(self) -> list[str]:
        return [IMAGE] if self._classes() is None else [IMAGE, LABEL]

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        most, size = rows_at_once(schema), 0
        labels: list[str] = []
        contents: list[bytes] = []
        public = {str(name) for name in getattr(schema.columns.get(LABEL), "categories", ())}
        for label, path, share in self._files():
            labels.append(label)
            if IMAGE in columns:
                contents.append(self._content(path))
                size += len(contents[-1])
            if len(labels) >= most or size >= BATCH_BYTES:
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


class _Stack(Images):
    """Arrays: images one after the other, all of one size, and perhaps as many labels."""

    _pixels: tuple[int, ...]
    """The shape of the array of images."""
    _kind: np.dtype[Any]
    _labels: tuple[int, ...] | None
    """The shape of the array of labels."""

    def _check(self, pixels: tuple[tuple[int, ...], Any], labels: tuple[tuple[int, ...], Any] | None) -> None:
        """Refuse shapes and types that have no meaning here, before anything is read."""
        (self._pixels, self._kind), self._labels = pixels, None if labels is None else labels[0]
        if self._kind.hasobject or (labels is not None and labels[1].hasobject):
            raise DataError(
                f"{self.name}: holds Python objects, which only pickle can read, and pickle runs code. Save images as an "
                "array of numbers, and labels as numbers or texts (dtype U)."
            )
        image_shape(self._pixels, self.name)
        to_bytes(np.empty(0, self._kind), self.name)
        if labels is None or self._labels is None:
            return
        if self._labels[1:] not in ((), (1,)) or labels[1].kind not in "biufSUT":
            raise DataError(f"{self.name}: labels must be one number or text for each image, in one dimension.")
        if self._labels[0] != self._pixels[0]:
            raise DataError(f"{self.name}: there are not as many labels as images. Give one label for each image.")

    def column_names(self) -> list[str]:
        return [IMAGE] if self._labels is None else [IMAGE, LABEL]

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        shape, first = image_shape(self._pixels, self.name)
        rows = rows_within(rows_at_once(schema), schema, [(1, math.prod(shape) * self._kind.itemsize)])
        seen = 0
        for parts in self._parts(columns, rows):
            arrays = []
            for name in columns:
                if name == LABEL:
                    arrays.append(_labels(parts[name]))
                else:
                    pixels = np.moveaxis(parts[name], 1, -1) if first else parts[name]
                    pixels = to_bytes(pixels.reshape(-1, *shape), self.name)
                    arrays.append(pa.FixedShapeTensorArray.from_numpy_ndarray(np.ascontiguousarray(pixels)))
            batch = pa.RecordBatch.from_arrays(arrays, names=columns)
            seen += batch.num_rows
            yield batch
            report(seen / self._pixels[0])

    @abstractmethod
    def _parts(self, columns: list[str], rows: int) -> Iterator[dict[str, NDArray[Any]]]:
        """The arrays, so many rows at a time."""


class Arrays(_Stack):
    """Arrays in memory, or mapped into it."""

    def __init__(self, pixels: Any, labels: Any = None, *, name: str = "the images"):
        self.name = name
        try:
            self._arrays = {IMAGE: np.asarray(pixels)}
            if labels is not None:
                self._arrays[LABEL] = _plain_labels(np.asarray(labels))
        except (ValueError, TypeError):
            raise UsageError(
                f"{name}: must be one array of pixels, all images of one size, and one label for each image."
            ) from None
        found = {column: (array.shape, array.dtype) for column, array in self._arrays.items()}
        self._check(found[IMAGE], found.get(LABEL))

    @classmethod
    def at(cls, path: Path) -> "Arrays":
        """An npy file: images without labels."""
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except Exception:  # numpy parses the head as Python, and hands on whatever that raises
            raise _unreadable(str(path)) from None
        if not isinstance(array, np.ndarray):
            array.close()
            raise DataError(f"{path}: is a file of several arrays: its ending should be .npz.")
        return cls(array, name=str(path))

    def _parts(self, columns: list[str], rows: int) -> Iterator[dict[str, NDArray[Any]]]:
        for start in range(0, self._pixels[0], rows):
            yield {name: self._arrays[name][start : start + rows] for name in columns}


def images(pixels: Any, labels: Any = None) -> Source:
    """Images that are in memory, for `release`, `plan` and the others.

    `pixels` is an array (number, height, width), with a last axis of 1 or 3 channels if you like: whole numbers of 8 or 16
    bits, or floats from 0 to 1. `labels` are texts or whole numbers, one for each image. In the schema the columns are
    called `image` and `label`.
    """
    return Arrays(pixels, labels)


class ArrayFile(_Stack):
    """An npz file: images and, perhaps, labels, each read as a stream, also where they are compressed."""

    def __init__(self, path: Path):
        self.path, self.name = path, str(path)
        with self.guard(None), self._archive() as archive:
            members = {name.removesuffix(".npy").lower(): name for name in archive.namelist() if name.endswith(".npy")}
            pixels, labels = next((pair for pair in _KEYS if pair[0] in members), ("", ""))
            if not pixels:
                known = ", ".join(" and ".join(pair) for pair in _KEYS)
                raise DataError(f"{path}: has no array of images under a known name. Known are {known}. Rename it.")
            self._members = {IMAGE: members[pixels]}
            if labels in members:
                self._members[LABEL] = members[labels]
            self.note = f"from the array {pixels}" + (f", labels from {labels}" if labels in members else "")
            if len(members) > len(self._members):
                self.note += "; the file's other arrays are not read"
            found = {}
            for column, name in self._members.items():
                with self._opened(archive, name) as member:
                    found[column] = member.shape, member.kind
        self._check(found[IMAGE], found.get(LABEL))

    @contextmanager
    def _archive(self) -> Iterator[zipfile.ZipFile]:
        try:
            with zipfile.ZipFile(self.path) as archive:
                yield archive
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, LookupError, EOFError):
            raise _unreadable(self.name) from None

    @contextmanager
    def _opened(self, archive: zipfile.ZipFile, member: str) -> Iterator["_Member"]:
        """A member behind its head, and what its head says."""
        heads = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        with archive.open(member) as stream:
            try:
                shape, by_column, kind = heads[np.lib.format.read_magic(stream)](stream)
            except Exception:  # as in Arrays.at
                raise _unreadable(self.name) from None
            if by_column and len(shape) > 1:
                raise DataError(
                    f"{self.name}: an array is stored column by column, which cannot be read image by image. Save it again "
                    "after np.ascontiguousarray."
                )
            yield _Member(stream, tuple(shape), kind)

    def _parts(self, columns: list[str], rows: int) -> Iterator[dict[str, NDArray[Any]]]:
        with self._archive() as archive, ExitStack() as stack:
            opened = {name: stack.enter_context(self._opened(archive, self._members[name])) for name in columns}
            for start in range(0, self._pixels[0], rows):
                count = min(rows, self._pixels[0] - start)
                yield {name: member.read(count) for name, member in opened.items()}
            if any(member.stream.read(1) for member in opened.values()):  # reading to the end checks the sum, too
                raise ValueError("more than the head says")


@dataclass(frozen=True)
class _Member:
    """An array in an npz file, read in pieces."""

    stream: IO[bytes]
    shape: tuple[int, ...]
    kind: np.dtype[Any]

    def read(self, count: int) -> NDArray[Any]:
        """The next so many entries."""
        size = count * math.prod(self.shape[1:]) * self.kind.itemsize
        content = self.stream.read(size)
        if len(content) < size:
            raise EOFError
        return np.frombuffer(content, dtype=self.kind).reshape(count, *self.shape[1:])


def _unreadable(name: str) -> DataError:
    return DataError(
        f"{name}: cannot be read. Is it whole, of the kind that its ending says, and without Python objects (which only "
        "pickle can read, and pickle runs code)?"
    )


def _plain_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels that came as Python objects, as pandas keeps texts, as texts."""
    if labels.dtype != np.object_:
        return labels
    if not all(isinstance(value, str | int | np.integer) for value in labels.ravel()):
        raise TypeError("not labels")
    return labels.astype(np.str_)


def _labels(values: NDArray[Any]) -> pa.Array:
    values = values.reshape(-1)
    if values.dtype.kind == "b":
        return pa.array(values.astype(np.int64))
    if values.dtype.kind in "iuf":
        return pa.array(values.astype(np.float64 if values.dtype.kind == "f" else values.dtype.newbyteorder("=")))
    if values.dtype.kind == "S":
        return pa.array([value.decode() for value in values.tolist()], pa.string())
    return pa.array(values.tolist(), pa.string())
