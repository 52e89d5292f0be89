"""Batches: how many rows are read at a time, so that memory grows neither with the rows nor with the size of images."""

import math
from collections.abc import Iterable

from pointillist.schema import Schema

BATCH_ROWS = 1 << 16
BATCH_IMAGES, BATCH_BYTES = 4096, 1 << 25
"""The most images, and roughly the most bytes, that are in one batch."""


def rows_at_once(schema: Schema) -> int:
    """How many rows a batch may have: fewer for images, by their size once they are decoded."""
    if schema.image is None:
        return BATCH_ROWS
    return max(1, min(BATCH_ROWS, BATCH_IMAGES, BATCH_BYTES // math.prod(schema.image[1].shape)))


def rows_within(schema: Schema, groups: Iterable[tuple[int, int]]) -> int:
    """The same for encoded images that may be much larger than the schema's: by rows and bytes of parts of the file."""
    rows = rows_at_once(schema)
    if schema.image is None:
        return rows
    largest = max((size / max(1, count) for count, size in groups), default=0.0)
    return max(1, min(rows, int(BATCH_BYTES / max(1.0, largest))))
