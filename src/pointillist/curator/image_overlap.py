"""Image overlap: whether an image that is to be published as it is, because it is public, is a private one.

An image that two sets have in common, to the last bit at the schema's size, is no chance, unless it shows one colour alone.
"""

import hashlib
import secrets

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.reading.base import Source
from pointillist.reading.encoding import Encoder
from pointillist.schema import Schema


def require_no_private_image(public: NDArray[np.uint8], source: Source, schema: Schema) -> None:
    """Refuse public images among which there is a private one; before anything is spent."""
    assert schema.image is not None
    column = schema.image[0]
    keyed = hashlib.blake2b(key=secrets.token_bytes(32), digest_size=16)
    known = {_hash(keyed, image) for image in public if _shows_something(image)}
    encoder = Encoder.of_schema(schema, source.name)
    for batch in source.batches(encoder.columns, schema, lambda fraction: None):
        for image in encoder(batch).images[column]:
            if _hash(keyed, image) in known:
                raise UsageError(
                    "a private image is among the public ones, to the last bit: are they a copy of the private set, or of a "
                    "part of it? Public images leave as they are. Name images that were public before. If these were, "
                    "although they are in the private set, too, say so: --public-overlap, or Gallery(overlap=True)."
                )


def _shows_something(image: NDArray[np.uint8]) -> bool:
    return bool((image != image[:1, :1]).any())


def _hash(keyed: "hashlib.blake2b", image: NDArray[np.uint8]) -> bytes:
    found = keyed.copy()
    found.update(np.ascontiguousarray(image).data)
    return found.digest()
