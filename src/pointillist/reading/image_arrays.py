"""Arrays of images: pixels in memory, or in npy and npz files, read a few images at a time."""

import math
import zipfile
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.errors import DataError, UsageError
from pointillist.reading.base import SOURCES, Report, Source
from pointillist.reading.batches import rows_within
from pointillist.reading.image_decoding import image_shape, to_bytes
from pointillist.reading.images import IMAGE, LABEL, Images
from pointillist.schema import Schema

_KEYS = (("x_train", "y_train"), ("train_images", "train_labels"), ("x", "y"), ("images", "labels"))
"""Arrays of images and of labels in an npz file; the first that is there counts."""


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
        rows = rows_within(schema, [(1, math.prod(shape) * self._kind.itemsize)])
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


@SOURCES.register("npy", place=51)
class Arrays(_Stack):
    """Arrays in memory, or mapped into it from an npy file."""

    endings = (".npy",)

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
    def suits(cls, table: Any) -> bool:
        return isinstance(table, Path) and table.suffix.lower() in cls.endings and not table.is_dir()

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> "Arrays":
        return cls.at(table)

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


@SOURCES.register("npz", place=50)
class ArrayFile(_Stack):
    """An npz file: images and, perhaps, labels, each read as a stream, also where they are compressed."""

    endings = (".npz",)

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

    @classmethod
    def suits(cls, table: Any) -> bool:
        return isinstance(table, Path) and table.suffix.lower() in cls.endings and not table.is_dir()

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> "ArrayFile":
        return cls(table)

    def address(self) -> dict[str, Any]:
        return {"source": "npz", "path": str(self.path.absolute())}

    @classmethod
    def from_address(cls, facts: Mapping[str, Any]) -> Self:
        return cls(Path(facts["path"]))

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
