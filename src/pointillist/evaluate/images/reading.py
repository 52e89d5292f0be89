"""Reading: images, real or synthetic, as the schema sees them; and parts of them.

Images of the real set are as private as the set itself.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import DataError, UsageError, without_context
from pointillist.evaluate.arrays import Codes, Floats
from pointillist.files.images import Pictures
from pointillist.generators.image_model import class_names
from pointillist.reading.opening import open_source
from pointillist.reading.rows import read_records
from pointillist.schema import Schema


@without_context
def read(table: Any, schema: Schema, *, report: Callable[[float], None] = lambda fraction: None) -> Pictures:
    """All images of a folder, a file or a table, at the schema's size; pictures in memory pass through."""
    if schema.image is None:
        raise UsageError(f"the schema {schema.name!r} has no column of images.")
    if isinstance(table, Pictures):
        return _checked(table, schema)
    source = open_source(table)
    records = read_records(source, schema, report=report)
    if not records.rows:
        raise DataError(f"{source.name}: has no images, so there is nothing to compare.")
    codes = None if schema.label is None else records.codes[schema.label]
    return Pictures(records.images[schema.image[0]], codes, class_names(schema))


def _checked(pictures: Pictures, schema: Schema) -> Pictures:
    """Pictures in memory must be those of the schema."""
    assert schema.image is not None
    if not len(pictures):
        raise DataError("the pictures: there are none, so there is nothing to compare.")
    if pictures.pixels.shape[1:] != schema.image[1].shape:
        found, wanted = (" x ".join(map(str, shape)) for shape in (pictures.pixels.shape[1:], schema.image[1].shape))
        raise DataError(f"the pictures are {found}, and the schema says {wanted} (height, width, channels).")
    if schema.label is None:
        return Pictures(pictures.pixels)
    if pictures.codes is None:
        raise DataError(f"the pictures have no labels, and the schema has the label {schema.label!r}.")
    if tuple(map(str, pictures.classes)) != tuple(map(str, class_names(schema))):
        raise DataError(f"the pictures' classes are not those of the schema's label {schema.label!r}.")
    return pictures


def take(pictures: Pictures, index: NDArray[Any]) -> Pictures:
    """Some of the images, by number or by mask."""
    codes = None if pictures.codes is None else pictures.codes[index]
    return Pictures(pictures.pixels[index], codes, pictures.classes)


def at_most(pictures: Pictures, count: int, *, seed: int) -> Pictures:
    """A random part with no more than `count` images; of one seed, smaller parts lie within larger ones."""
    if len(pictures) <= count:
        return pictures
    return take(pictures, np.random.default_rng(seed).permutation(len(pictures))[:count])


def labels_of(pictures: Pictures) -> Codes:
    """The number of each image's class."""
    if pictures.codes is None:
        raise UsageError("these images have no labels, so there is nothing to classify.")
    return pictures.codes.astype(np.int64)


def flat(pictures: Pictures) -> Floats:
    """One row of numbers from 0 to 1 for each image, as the papers' classifiers take them."""
    return pictures.pixels.reshape(len(pictures), -1) / 255.0


def require_alike(first: Pictures, *others: Pictures) -> None:
    """Images can be compared only if they have one size and one set of classes."""
    for other in others:
        if other.pixels.shape[1:] != first.pixels.shape[1:] or other.classes != first.classes:
            raise UsageError("the images differ in size or in their classes: read them with one schema.")
