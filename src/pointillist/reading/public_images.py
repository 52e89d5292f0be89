"""Public images: images that anybody may see, at the size of the private ones, for a gallery.

They are read by the same code as private images, so that both mean the same. But they are public: whoever passes them here
says so, and synthetic data will be made of them.
"""

from pathlib import Path
from typing import Any

import numpy as np

from pointillist.errors import DataError, UsageError
from pointillist.features.images.extractor_training import MOST_IMAGES, PublicImages
from pointillist.reading.base import Source
from pointillist.reading.image_decoding import decode
from pointillist.reading.images import IMAGE
from pointillist.reading.opening import open_schema, open_source
from pointillist.schema import Schema


def public_images(photos: Any, schema: Schema | str | Path) -> PublicImages:
    """Public images: a folder, with or without sub-folders, an .npz or .npy file, or a table with a column of images.

    `schema` is the private images'. Images of another size or colour are brought to its, stretched if the schema allows no
    other sizes of its own. Labels, if there are any, are not read.
    """
    facts = open_schema(schema)
    if facts.image is None:
        raise UsageError(f"{facts.name!r} has no column of images: a gallery is for images.")
    name, image = facts.image
    if image.resize == "error":
        image = image.model_copy(update={"resize": "stretch"})
    source = open_source(photos)
    column = _column(source, name)
    alone = Schema(name=facts.name, columns={column: image})
    where = f"{source.name}: column {column!r}"
    parts = []
    for batch in source.batches([column], alone, lambda fraction: None):
        parts.append(decode(batch.column(0), image, where))
        if sum(map(len, parts)) > MOST_IMAGES:
            raise DataError(f"{source.name}: has over {MOST_IMAGES:,} images. Take a part of them.")
    if not parts or not sum(map(len, parts)):
        raise DataError(f"{source.name}: has no images. Name a folder, an .npz file or a table with public images.")
    return PublicImages.of(source.name, np.concatenate(parts))


def _column(source: Source, name: str) -> str:
    """The column of images: called as the private one is, or image."""
    with source.guard(None):
        names = source.column_names()
    found = next((each for each in (name, IMAGE) if each in names), None)
    if found is None:
        raise DataError(
            f"{source.name}: has no column {name!r} of images. Name a folder or an .npz file of public images, or a table "
            "whose column of images is called so."
        )
    return found
