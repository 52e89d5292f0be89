"""Public gallery: images that anybody may see, and where they lie in the space that they span.

A network looks at each of them once: what it saw is kept in the cache, by the hash of the images and of the network,
together with the images themselves. A release holds the hash alone.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.features.images.extractor import Extractor
from pointillist.features.images.extractor_training import PublicImages
from pointillist.features.images.gallery_space import GallerySpace, Located, averages
from pointillist.features.images.public_network import LITE
from pointillist.files import cache
from pointillist.progress import Progress, silent
from pointillist.records import Records

Floats = NDArray[np.float64]

FEWEST = 20
"""Fewer images span no space worth the name."""
MOST_KEPT = 256
"""Directions that are worked out, at most."""
_KIND, _FORM = "gallery", 1
_AT_A_TIME = 256
_BLOCKS = "_blocks."
"""What the residual blocks of EfficientNet-Lite are called. Their outputs say more than what is inside them."""


def images_hash(images: PublicImages) -> str:
    """A SHA-256 over the size of images and their pixels, in their order."""
    found = hashlib.sha256(json.dumps(list(images.pixels.shape)).encode())
    found.update(np.ascontiguousarray(images.pixels).data)
    return found.hexdigest()


def reader_of(extractor: Extractor) -> tuple[Extractor, bool]:
    """The layers of a network that a space is made of, and whether values below 0 count as 0.

    Of a network of blocks, what each block hands on, as it is; of others every convolution, as its next layer sees it.
    """
    if extractor.architecture.get("name") not in LITE:
        return extractor, True
    blocks = [name for name, _ in extractor.network.module.named_modules() if name.startswith(_BLOCKS)]
    return extractor.reading([name for name in blocks if name.count(".") == 1]), False


@dataclass(frozen=True, eq=False, repr=False)
class PublicGallery:
    """Public images, located."""

    images: PublicImages
    sha256: str
    """Of the images."""
    space: GallerySpace
    places: Located

    @classmethod
    def of(cls, images: PublicImages, extractor: Extractor, *, progress: Progress = silent) -> Self:
        """The images as an extractor sees them; from the cache, if it has."""
        if len(images.pixels) < FEWEST:
            raise UsageError(
                f"{images.name}: has {len(images.pixels):,} images, and a gallery needs {FEWEST} at least; thousands are "
                "better. Name a larger set of public images."
            )
        reader, rectified = reader_of(extractor)
        sha256 = images_hash(images)
        name = _name(sha256, reader)
        found = cache.kept(name, _KIND, _FORM)
        if found is not None:
            made = _from_arrays(found[1], reader, rectified)
            if made is not None and len(made[1].energy) == len(images.pixels):
                return cls(images, sha256, *made)
        values = []
        for start in range(0, len(images.pixels), _AT_A_TIME):
            progress("gallery", start / len(images.pixels))
            values.append(averages(reader, rectified, images.pixels[start : start + _AT_A_TIME]))
        space, places = GallerySpace.around(reader, rectified, np.concatenate(values), MOST_KEPT)
        progress("gallery", 1.0)
        cache.keep(name, _KIND, _FORM, {**_arrays(space, places), "pixels": images.pixels})
        return cls(images, sha256, space, places)

    @classmethod
    def again(cls, sha256: str, space: GallerySpace, images: PublicImages | None) -> Self | None:
        """The gallery of this hash in the space of a release; its images from the cache, if none are given."""
        kept = cache.kept(_name(sha256, space.extractor), _KIND, _FORM)
        if images is None:
            if kept is None or "pixels" not in kept[1]:
                return None
            images = PublicImages.of("the images in the cache", kept[1]["pixels"])
        if images_hash(images) != sha256:
            return None
        made = None if kept is None else _from_arrays(kept[1], space.extractor, space.rectified)
        if made is not None and made[0].starts_with(space) and len(made[1].energy) == len(images.pixels):
            return cls(images, sha256, space, made[1])
        return cls(
            images, sha256, space, space.located("image", Records(len(images.pixels), {}, {}, {"image": images.pixels}))
        )

    def leading(self, directions: int) -> Self:
        """The same images in the first directions alone."""
        return type(self)(self.images, self.sha256, self.space.leading(directions), self.places)

    @cached_property
    def units(self) -> Floats:
        """Coordinates at length 1, one row for each image."""
        return self.space.unit(self.places)

    @cached_property
    def usual_outside(self) -> float:
        """The part of their deviation from the usual that the space does not show: what is to be expected of any image."""
        return float(self.space.outside(self.places).mean())

    @property
    def facts(self) -> dict[str, Any]:
        """What a release says of it."""
        return {"images": len(self.images.pixels), "sha256": self.sha256, "outside": self.usual_outside}


def _name(sha256: str, reader: Extractor) -> str:
    return hashlib.sha256(f"{sha256} {reader.sha256}".encode()).hexdigest()


def _arrays(space: GallerySpace, places: Located) -> dict[str, NDArray[Any]]:
    return {
        "centre": space.centre,
        "step": space.step,
        "matrix": space.matrix,
        "scales": space.scales,
        "spread": space.spread,
        "coordinates": places.coordinates.astype(np.int32),
        "energy": places.energy,
    }


def _from_arrays(
    arrays: dict[str, NDArray[Any]], reader: Extractor, rectified: bool
) -> tuple[GallerySpace, Located] | None:
    """The inverse; nothing for a file that somebody has tampered with, or that an earlier version wrote."""
    try:
        held = (arrays[name] for name in ("centre", "step", "matrix", "scales", "spread"))
        space = GallerySpace(reader, rectified, *held)
        places = Located(arrays["coordinates"].astype(np.float64), arrays["energy"].astype(np.float64))
    except (KeyError, ValueError):
        return None
    return (space, places) if places.coordinates.shape == (len(places.energy), space.directions) else None
