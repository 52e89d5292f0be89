"""Reading: images, real or synthetic, as the schema sees them; and what classifiers take.

Images of the real set are as private as the set itself.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pointillist.errors import DataError, UsageError, without_context
from pointillist.evaluate.arrays import Codes, Floats
from pointillist.files.images import Images
from pointillist.reading.opening import open_source
from pointillist.reading.rows import read_records
from pointillist.sampling.image_decoder import class_names
from pointillist.schema import Schema


@without_context
def read(table: Any, schema: Schema, *, report: Callable[[float], None] = lambda fraction: None) -> Images:
    """All images of a folder, a file or a table, at the schema's size; images in memory pass through."""
    if schema.image is None:
        raise UsageError(f"the schema {schema.name!r} has no column of images.")
    if isinstance(table, Images):
        return _checked(table, schema)
    source = open_source(table)
    records = read_records(source, schema, report=report)
    if not records.rows:
        raise DataError(f"{source.name}: has no images, so there is nothing to compare.")
    codes = None if schema.label is None else records.codes[schema.label]
    return Images(records.images[schema.image[0]], codes, class_names(schema))


def _checked(images: Images, schema: Schema) -> Images:
    """Images in memory must be those of the schema."""
    assert schema.image is not None
    if not len(images):
        raise DataError("the images: there are none, so there is nothing to compare.")
    if images.pixels.shape[1:] != schema.image[1].shape:
        found, wanted = (" x ".join(map(str, shape)) for shape in (images.pixels.shape[1:], schema.image[1].shape))
        raise DataError(f"the images are {found}, and the schema says {wanted} (height, width, channels).")
    if schema.label is None:
        return Images(images.pixels)
    if images.codes is None:
        raise DataError(f"the images have no labels, and the schema has the label {schema.label!r}.")
    if tuple(map(str, images.classes)) != tuple(map(str, class_names(schema))):
        raise DataError(f"the images' classes are not those of the schema's label {schema.label!r}.")
    return images


def labels_of(images: Images) -> Codes:
    """The number of each image's class."""
    if images.codes is None:
        raise UsageError("these images have no labels, so there is nothing to classify.")
    return images.codes.astype(np.int64)


def flat(images: Images) -> Floats:
    """One row of numbers from 0 to 1 for each image, as the papers' classifiers take them."""
    return images.pixels.reshape(len(images), -1) / 255.0


def require_alike(first: Images, *others: Images) -> None:
    """Images can be compared only if they have one size and one set of classes."""
    for other in others:
        if other.pixels.shape[1:] != first.pixels.shape[1:] or other.classes != first.classes:
            raise UsageError("the images differ in size or in their classes: read them with one schema.")
