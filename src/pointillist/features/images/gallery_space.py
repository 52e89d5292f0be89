"""Gallery space: where an image lies among public ones, as a public network sees them.

A network's layers are averaged over an image, channel by channel. Public images say what is usual (a mean and a deviation
for each channel), in which directions images differ most, and how much: along these, coordinates are divided by their
deviation (whitened), and the vector is brought to length 1. Everything about the space is public.

Why a record's coordinates are a function of that record alone. The network is run on one image at a time, on one thread, as
for perceptual features. What follows are sums of products, whose last bit would depend on the batch; so they are made
exact. Averages are whole numbers of at most 2^20, and the absolute values of a direction's whole numbers add up to 2^30 at
most: every sum, in whatever order, is a whole number below 2^53, and floats hold those exactly. The squares that lengths
are made of are whole numbers, too. All other steps look at one number at a time.
"""

import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.features.images.extractor import Extractor
from pointillist.features.images.public_network import one_thread, require_torch
from pointillist.files.facts import flag, listed, table, texts
from pointillist.records import Records

Floats = NDArray[np.float64]

MOST_DIRECTIONS = 512
FINE = 1 << 12
"""What a deviation of 1 counts, in whole numbers."""
_FARTHEST = 1 << 20
"""Whole numbers are cut to this: 256 deviations."""
_ROW_BITS = 30
"""The whole numbers of a direction, in absolute values, add up to 2 to this at most."""
_MOST_CHANNELS = 1 << 13
"""So that squares of that many whole numbers add up to 2^53 at most."""
_SAFE = 1 - 1e-9
"""What lengths are multiplied by, so that rounding makes none longer than 1."""
_LEAST_SHARE = 1e-6
"""Directions in which images vary less than this part of the most are noise of rounding."""


class Located(NamedTuple):
    """Where images lie. Whole numbers, all of them."""

    coordinates: Floats
    """One row for each image; a deviation counts `FINE`."""
    energy: Floats
    """For each image the sum of the squares of its deviations from the usual."""


@dataclass(frozen=True, eq=False, repr=False)
class GallerySpace:
    """Directions in which public images differ."""

    extractor: Extractor
    rectified: bool
    """Whether values below 0 count as 0 before they are averaged."""
    centre: Floats
    """What is usual, for each channel."""
    step: Floats
    """What a deviation is, for each channel."""
    matrix: NDArray[np.int32]
    """Directions in whole numbers: one row for each channel, one column for each direction."""
    scales: Floats
    """A column's whole numbers, times this, make coordinates of variance 1."""
    spread: Floats
    """How much images vary along each direction, as a deviation, in units of channels' deviations."""
    _last: Any = field(default_factory=threading.local, init=False)
    """The records that were looked at last, and where they lie: several maps ask for the same."""

    def __post_init__(self) -> None:
        channels, directions = self.matrix.shape if self.matrix.ndim == 2 else (0, 0)
        if not (1 <= channels <= _MOST_CHANNELS and 1 <= directions <= MOST_DIRECTIONS):
            raise ValueError(f"a space needs from 1 to {MOST_DIRECTIONS} directions")
        if self.matrix.dtype != np.int32 or self.centre.shape != (channels,) or self.step.shape != (channels,):
            raise ValueError("the directions of a space do not fit its channels")
        if self.scales.shape != (directions,) or self.spread.shape != (directions,):
            raise ValueError("scales and spreads must be given for each direction")
        numbers = (self.centre, self.step, self.scales, self.spread)
        if not all(each.dtype == np.float64 and np.isfinite(each).all() for each in numbers):
            raise ValueError("a space is made of finite fractions of 64 bits")
        if min(float(each.min()) for each in (self.step, self.scales, self.spread)) <= 0:
            raise ValueError("steps, scales and spreads must be above 0")
        if int(np.abs(self._columns).sum(axis=0).max()) > 1 << _ROW_BITS:
            raise ValueError("the directions are too long for exact arithmetic")

    @classmethod
    def around(cls, extractor: Extractor, rectified: bool, averages: Floats, most: int) -> tuple[Self, Located]:
        """The space of public images with these averages, with at most so many directions; and where they lie."""
        centre = averages.mean(axis=0)
        step = averages.std(axis=0)
        step = np.maximum(step, max(float(step.max()), 1e-12) * 1e-3)
        wholes = deviations(averages, centre, step)
        covariance = (wholes.T @ wholes) / (len(wholes) * float(FINE) ** 2)
        values, vectors = np.linalg.eigh(covariance)
        order = np.argsort(values)[::-1]
        kept = order[values[order] > _LEAST_SHARE * values[order[0]]][: min(most, MOST_DIRECTIONS, len(averages) - 1)]
        if not len(kept) or not values[kept[0]] > 0:
            raise UsageError("the public images are all alike: they show no direction in which images differ.")
        spread = np.sqrt(values[kept])
        whitening = vectors[:, kept] * np.sign(vectors[np.abs(vectors[:, kept]).argmax(axis=0), kept]) / spread
        # A margin for rounding: each of a column's numbers moves by at most a half.
        room = (1 << _ROW_BITS) - len(centre)
        exponents = np.floor(np.log2(room / np.abs(whitening).sum(axis=0)))
        matrix = np.rint(np.ldexp(whitening, exponents.astype(np.int64))).astype(np.int32)
        space = cls(
            extractor, rectified, centre, step, matrix, np.ldexp(1.0 / FINE, -exponents.astype(np.int64)), spread
        )
        return space, space._located(wholes)

    def leading(self, directions: int) -> Self:
        """The same space with its first directions alone."""
        return type(self)(
            self.extractor,
            self.rectified,
            self.centre,
            self.step,
            np.ascontiguousarray(self.matrix[:, :directions]),
            self.scales[:directions],
            self.spread[:directions],
        )

    def starts_with(self, other: "GallerySpace") -> bool:
        """Whether another space has the first directions of this one, to the last bit."""
        own = self.leading(other.directions)
        pairs = zip(own.describe().items(), other.describe().items(), strict=False)
        return own.describe().keys() == other.describe().keys() and all(
            np.array_equal(one, two) if isinstance(one, np.ndarray) else one == two for (_, one), (_, two) in pairs
        )

    @cached_property
    def _columns(self) -> Floats:
        return self.matrix.astype(np.float64)

    @property
    def directions(self) -> int:
        """How many coordinates an image has."""
        return len(self.scales)

    def located(self, image: str, records: Records) -> Located:
        """Where the images of records lie. The last answer of a thread is kept."""
        last = getattr(self._last, "answer", None)
        if last is not None and last[0]() is records and last[1] == image:
            found: Located = last[2]
            return found
        values = averages(self.extractor, self.rectified, records.images[image])
        if values.shape[1] != len(self.centre):
            raise UsageError(f"extractor {self.extractor.name}: its layers do not have the channels of the release's.")
        found = self._located(deviations(values, self.centre, self.step))
        self._last.answer = weakref.ref(records), image, found
        return found

    def _located(self, wholes: Floats) -> Located:
        found = (wholes @ self._columns) * self.scales  # exact, then one number at a time
        coordinates = np.clip(np.rint(found * FINE), -_FARTHEST, _FARTHEST)
        return Located(coordinates, np.einsum("ij,ij->i", wholes, wholes))

    def unit(self, located: Located) -> Floats:
        """Coordinates at length 1; of images that deviate in no direction, 0."""
        coordinates = located.coordinates[:, : self.directions]
        squared = np.einsum("ij,ij->i", coordinates, coordinates)
        return np.asarray(coordinates * (_SAFE / np.sqrt(np.maximum(squared, 1.0)))[:, None])

    def outside(self, located: Located) -> Floats:
        """The part of an image's deviation from the usual, from 0 to 1, that no direction of the space shows."""
        shown = np.rint(located.coordinates[:, : self.directions] * self.spread)
        shown = np.clip(shown, -_FARTHEST, _FARTHEST)
        inside = np.einsum("ij,ij->i", shown, shown)
        return np.asarray(np.clip(1.0 - inside / np.maximum(located.energy, 1.0), 0.0, 1.0))

    def describe(self) -> dict[str, Any]:
        """Itself as JSON values and arrays."""
        facts, weights = self.extractor.describe()
        return {
            "extractor": [facts],
            "rectified": self.rectified,
            "centre": self.centre,
            "step": self.step,
            "matrix": self.matrix,
            "scales": self.scales,
            "spread": self.spread,
            "weights": list(weights),
            **{f"weights.{place}": value for place, value in enumerate(weights.values())},
        }

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self:
        """The inverse of `describe`. Nothing is built or looked up yet."""
        weights = {name: facts[f"weights.{place}"] for place, name in enumerate(texts(facts, "weights"))}
        (extractor,) = listed(facts, "extractor", table)
        arrays = [facts[name] for name in ("centre", "step", "matrix", "scales", "spread")]
        if not all(isinstance(each, np.ndarray) for each in arrays):
            raise ValueError("the numbers of a space must be arrays")
        return cls(Extractor.from_facts(extractor, weights), flag(facts, "rectified"), *arrays)


def averages(extractor: Extractor, rectified: bool, pixels: NDArray[np.uint8]) -> Floats:
    """What each channel of the layers is over an image, on average: one row for each image."""
    torch = require_torch()
    found = np.empty((len(pixels), sum(shape[0] for shape in extractor.shapes)))
    with one_thread(), torch.no_grad():
        for number, each in enumerate(pixels):
            kept = [layer.relu() if rectified else layer for layer in extractor.look(each)]
            found[number] = torch.cat([layer.mean(dim=(2, 3))[0] for layer in kept]).to(torch.float64).numpy()
    return found


def deviations(averages: Floats, centre: Floats, step: Floats) -> Floats:
    """Deviations from the usual, as whole numbers; what is no number counts as usual."""
    found = np.nan_to_num((averages - centre) / step, nan=0.0, posinf=0.0, neginf=0.0)
    return np.clip(np.rint(found * FINE), -_FARTHEST, _FARTHEST)
