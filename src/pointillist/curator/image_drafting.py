"""Drafting for images: the size, the colours and the classes, read off the data, for the owner to review."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pointillist.errors import DataError, UsageError
from pointillist.reading.base import Source
from pointillist.reading.connection import connect
from pointillist.reading.image_decoding import contents, header, image_shape, is_encoded
from pointillist.reading.images import IMAGE, LABEL, Images
from pointillist.schema import MISSING_TEXTS, Categorical, Ignore, Image, Person, Schema
from pointillist.schema.texts import as_texts

_LARGEST = 128
"""The longest side that a schema may ask for."""
_LABELS = (LABEL, "labels", "class", "target", "y")
"""What a table's column of labels may be called."""
_MOST_CLASSES = 1_000
"""Of a table's column; more different values are rather names or captions. A folder's classes are what they are."""


def draft_images(source: Source, person: Person | None) -> tuple[dict[str, Any], int] | None:
    """Columns of a draft and the number of images; nothing if the source is a table without images."""
    with source.guard(None):
        names = source.column_names()
    image = IMAGE if isinstance(source, Images) else _image_column(source, names)
    if image is None:
        return None
    if person is not None:
        raise UsageError(f"{source.name}: each image is a record of its own. Leave --person out.")
    others = [name for name in names if name != image]
    named = [name for name in others if name.lower() in _LABELS]
    label = named[0] if named else others[0] if len(others) == 1 else None
    seen = _Seen(source, image, label)
    if seen.count == 0:
        raise DataError(f"{source.name}: has no images to draft a schema from.")
    columns: dict[str, Any] = {}
    for name in names:
        if name == image:
            columns[name] = seen.image_column()
        elif name == label:
            columns[name] = seen.label_column()
        else:
            columns[name] = Ignore(description="neither the image nor its label")
    return columns, seen.count


def _image_column(source: Source, names: list[str]) -> str | None:
    """The first column of a table that holds images: by its type and, as bytes may be anything, by its first value."""
    if source.untyped or len(set(names)) < len(names):
        return None
    with source.guard(None), connect() as db:
        kinds = [str(kind) for kind in source.numbered(db).types]
    for name, kind in zip(names, kinds, strict=True):
        if kind == "BLOB" or kind.startswith(("STRUCT", "UTINYINT[", "USMALLINT[", "FLOAT[", "DOUBLE[")):
            array = _first(source, name)
            if array is not None and (isinstance(array.type, pa.FixedShapeTensorType) or _is_image(array)):
                return name
    return None


def _first(source: Source, name: str) -> pa.Array | None:
    with closing(_batches(source, [name], name)) as batches:
        return next((batch.column(0) for batch in batches if batch.num_rows), None)


def _is_image(array: pa.Array) -> bool:
    try:
        values = array.drop_null().slice(0, 1)
        return is_encoded(array.type) and all(header(content, what) for content, what in contents(values, ""))
    except (DataError, pa.ArrowException):  # a type of which Arrow cannot take a part holds no images
        return False


def _batches(source: Source, columns: list[str], image: str) -> Any:
    """The columns as if the schema were known already: a few rows at a time."""
    kinds: dict[str, Any] = {name: Ignore() for name in columns}
    kinds[image] = Image(height=_LARGEST, width=_LARGEST, colour=True)
    return source.batches(columns, Schema(name="draft", columns=kinds), lambda fraction: None)


class _Seen:
    """What one pass over the images found. Secret."""

    def __init__(self, source: Source, image: str, label: str | None):
        self.count = self.coloured = 0
        self._sizes: Counter[tuple[int, int]] = Counter()
        self._labels: set[Any] = set()
        self._gaps, self._whole, self._capped = False, False, not isinstance(source, Images)
        self._note = getattr(source, "note", "")
        columns = [image] if label is None else [image, label]
        for batch in _batches(source, columns, image):
            for height, width, colour in _shapes(batch.column(0), f"{source.name}: column {image!r}"):
                self._sizes[height, width] += 1
                self.coloured += colour
            self.count += batch.num_rows
            if label is not None:
                self._add_labels(batch.column(1))

    def _add_labels(self, array: pa.Array) -> None:
        array = array.dictionary_decode() if isinstance(array, pa.DictionaryArray) else array
        self._whole = bool(pa.types.is_integer(array.type))
        values = pc.unique(array if self._whole else as_texts(array)).to_pylist()
        absent = {None, *MISSING_TEXTS} if self._capped else {None}  # a folder that is called NA is a class
        self._gaps = self._gaps or not absent.isdisjoint(values)
        self._labels.update(value for value in values if value not in absent)

    def image_column(self) -> Image:
        """The most frequent size, made to fit, and colour if most images have it."""
        height, width = min(self._sizes, key=lambda size: (-self._sizes[size], size))
        scale = min(1.0, _LARGEST / max(height, width))
        return Image(
            height=max(1, round(height * scale)),
            width=max(1, round(width * scale)),
            colour=2 * self.coloured > self.count,
            description=self._note,
            read_from_data=("kind", "height", "width", "colour"),
        )

    def label_column(self) -> Categorical | Ignore:
        """The classes that occur. An unlisted one stops a release: there would be no name to give its pictures."""
        if not self._labels or (self._capped and len(self._labels) > _MOST_CLASSES):
            why = "too many different values for a label" if self._labels else "has no values at all"
            return Ignore(description=f"{why}; list its categories if it should be used", read_from_data=("kind",))
        return Categorical(
            categories=tuple(sorted(self._labels)),
            out_of_domain="error",
            missing=self._gaps,
            read_from_data=("kind", "categories", "missing"),
        )


def _shapes(array: pa.Array, where: str) -> Iterator[tuple[int, int, bool]]:
    if isinstance(array.type, pa.FixedShapeTensorType):
        (height, width, channels), _ = image_shape((len(array), *array.type.shape), where)
        yield from [(height, width, channels == 3)] * len(array)
    else:
        for content, what in contents(array, where):
            yield header(content, what)
