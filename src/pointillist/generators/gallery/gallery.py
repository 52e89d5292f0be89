"""Gallery: public images, each of which stands for one class or for several, with a weight.

These are public images. Only which of them are taken, and for which class, was learned from private ones, and many a label
is wrong if one looks: they are for training, not for looking.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.files.facts import listed, reals, text
from pointillist.generators import stored
from pointillist.generators.drawing import draw
from pointillist.generators.image_generator import USUAL, ImageColumns, ImageGenerator, Outline
from pointillist.schema import Schema

_LONGEST_NOTE, _MOST_NOTES = 2000, 100


@dataclass(frozen=True, eq=False)
class Gallery(ImageGenerator):
    """A sampler of public images."""

    kind: ClassVar[str] = "gallery"

    images: NDArray[np.uint8]
    """The chosen ones, as (number, height, width, channels)."""
    members: NDArray[np.int32]
    """For each class the numbers of its images."""
    weights: NDArray[np.float32]
    """For each class how often each of them is drawn, in parts of 1."""
    shares: tuple[float, ...]
    """Of the label's levels; none for images without labels."""
    notes: tuple[str, ...] = ()
    """What whoever uses the images should know."""
    columns: ImageColumns = field(default=USUAL, kw_only=True)

    def __post_init__(self) -> None:
        classes = max(1, len(self.shares))
        if self.images.dtype != np.uint8 or self.images.ndim != 4 or self.images.shape[3] not in (1, 3):
            raise ValueError("a gallery's images must be bytes, as (number, height, width, 1 or 3 channels)")
        if self.members.dtype != np.int32 or self.members.ndim != 2 or len(self.members) != classes:
            raise ValueError("a gallery's members must be given for each class")
        if not self.members.size or self.members.min() < 0 or self.members.max() >= len(self.images):
            raise ValueError("a gallery's members must be among its images")
        if self.weights.dtype != np.float32 or self.weights.shape != self.members.shape:
            raise ValueError("a gallery's members need weights of 32 bits")
        stored.rows(self.weights.astype(np.float64))

    @classmethod
    def choosing(
        cls,
        images: NDArray[np.uint8],
        members: NDArray[np.int64],
        weights: NDArray[np.float64],
        shares: tuple[float, ...],
        notes: tuple[str, ...],
        columns: ImageColumns,
    ) -> Self:
        """Of a whole gallery, what some class has a use for."""
        used, numbered = np.unique(members, return_inverse=True)
        renumbered = numbered.reshape(members.shape).astype(np.int32)
        return cls(images[used], renumbered, weights.astype(np.float32), shares, notes, columns=columns)

    def describe(self) -> str:
        several = f", {self.members.shape[1]:,} for each class" if self.shares else ""
        return f"{len(self.images):,} public images{several}, chosen by a private embedding"

    @property
    def outline(self) -> Outline:
        height, width, channels = self.images.shape[1:]
        return Outline((height, width, channels), self.shares, self.columns)

    def pixels(self, count: int, codes: NDArray[np.uint16] | None, rng: np.random.Generator) -> NDArray[np.uint8]:
        """`count` images with these labels: each of a class's images as often as its weight says, to within one."""
        classes = np.zeros(count, dtype=np.uint16) if codes is None else codes
        places = draw(self.weights.astype(np.float64), classes, rng)
        return self.images[self.members[classes, places]]

    def to_facts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Itself as JSON values and arrays."""
        facts = {"shares": list(self.shares), "notes": list(self.notes)}
        return facts, {"images": self.images, "members": self.members, "weights": self.weights}

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]], schema: Schema) -> Self:
        """The inverse of `to_facts`."""
        shares = reals(facts, "shares", 0.0, 1.0)
        if shares:
            stored.weights(shares)
        notes = listed(facts, "notes", lambda one, name: text(one, name, _LONGEST_NOTE), _MOST_NOTES)
        images, members, weights = (arrays[name] for name in ("images", "members", "weights"))
        return cls(images, members, weights, shares, notes, columns=ImageColumns.of(schema))
