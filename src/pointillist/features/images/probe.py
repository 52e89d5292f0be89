"""Probe: whether a small network that learned from synthetic images tells a private image's class right.

The network and the weights behind it were made from a release, so they are public, and they travel with the next round. A
record stands in one cell: its class, and whether the probe names it. Counting that costs little, and it judges images by
their pixels, not by the features that chose them.

A record's cell is a function of that record alone: the network is run on one image at a time, and what follows are sums of
whole numbers below 2^53 (see `gallery_space`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.domain import Domain
from pointillist.features.images.base import ImageMap
from pointillist.features.images.extractor import Extractor
from pointillist.features.images.gallery_space import averages, deviations
from pointillist.files.facts import listed, table, text, texts
from pointillist.records import Records

_ROW_BITS = 30
_RIDGE = 1e-2


@MAPS.register("image-probe")
@dataclass(frozen=True, eq=False, repr=False)
class ImageProbe(ImageMap):
    """One feature for each class and outcome: 1 where an image is of the class and the outcome is right, or wrong."""

    image: str
    label: str
    extractor: Extractor
    """Its last layer, averaged over an image, is what the class is told by."""
    centre: Floats
    step: Floats
    matrix: NDArray[np.int32]
    """Of each channel, for and against each class."""
    offsets: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or self.matrix.dtype != np.int32 or self.offsets.dtype != np.int64:
            raise ValueError("a probe's weights must be whole numbers")
        channels, classes = self.matrix.shape
        if self.centre.shape != (channels,) or self.step.shape != (channels,) or self.offsets.shape != (classes,):
            raise ValueError("the weights of a probe do not fit together")
        if not (np.isfinite(self.centre).all() and np.isfinite(self.step).all() and (self.step > 0).all()):
            raise ValueError("centres and steps of a probe must be finite, and steps above 0")
        sums = np.abs(self._columns).sum(axis=0)
        if (
            not classes
            or int(sums.max()) > 1 << _ROW_BITS
            or int(np.abs(self.offsets.astype(np.float64)).max()) > 1 << 50
        ):
            raise ValueError("the weights of a probe are too large for exact arithmetic")

    @classmethod
    def taught(
        cls,
        image: str,
        label: str,
        extractor: Extractor,
        pixels: NDArray[np.uint8],
        codes: NDArray[np.integer[Any]],
        classes: int,
    ) -> Self:
        """A probe that tells images apart by the last layer of a network: least squares, with a little ridge."""
        reader = extractor.reading(extractor.layers[-1:])
        values = averages(reader, True, pixels)
        centre, step = values.mean(axis=0), np.maximum(values.std(axis=0), 1e-6)
        found = (values - centre) / step
        wanted = (codes[:, None] == np.arange(classes)) - 1.0 / classes
        gram = found.T @ found + _RIDGE * len(found) * np.eye(found.shape[1])
        weights = np.linalg.solve(gram, found.T @ wanted)
        scale = (1 << (_ROW_BITS - 1)) / max(float(np.abs(weights).sum(axis=0).max()), 1e-12)
        offsets = np.rint(wanted.mean(axis=0) * min(scale, 1e9) * 4096).astype(np.int64)
        matrix = np.rint(weights * min(scale, 1e9)).astype(np.int32)
        return cls(image, label, reader, centre, step, matrix, offsets)

    @cached_property
    def _columns(self) -> Floats:
        return self.matrix.astype(np.float64)

    @property
    def classes(self) -> int:
        return len(self.offsets)

    @property
    def dimension(self) -> int:
        return 2 * self.classes

    @property
    def device(self) -> str:
        return self.extractor.device

    @property
    def nonnegative(self) -> bool:
        return True

    @property
    def indicator(self) -> bool:
        return True

    @property
    def code_columns(self) -> frozenset[str]:
        return frozenset([self.label])

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and domain.label == self.label and domain.classes == self.classes

    def predicted(self, pixels: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The class that the probe takes each image for."""
        values = averages(self.extractor, True, pixels)
        if values.shape[1] != len(self.centre):
            raise UsageError("the probe's network does not have the channels that its weights are for.")
        scores = deviations(values, self.centre, self.step) @ self._columns + self.offsets
        return np.asarray(scores.argmax(axis=1))

    def cells(self, records: Records) -> NDArray[np.int64]:
        codes = records.codes[self.label].astype(np.int64)
        if records.rows and int(codes.max()) >= self.classes:
            raise IndexError("an image is of a class that the probe does not know")
        return np.asarray(2 * codes + (self.predicted(records.images[self.image]) == codes))

    def __call__(self, records: Records) -> Floats:
        return np.eye(self.dimension)[self.cells(records)]

    def describe(self) -> dict[str, Any]:
        facts, weights = self.extractor.describe()
        return {
            "image": self.image,
            "label": self.label,
            "extractor": [facts],
            "centre": self.centre,
            "step": self.step,
            "matrix": self.matrix,
            "offsets": self.offsets,
            "weights": list(weights),
            **{f"weights.{place}": value for place, value in enumerate(weights.values())},
        }

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        weights = {name: facts[f"weights.{place}"] for place, name in enumerate(texts(facts, "weights"))}
        (extractor,) = listed(facts, "extractor", table)
        arrays = [facts[name] for name in ("centre", "step", "matrix", "offsets")]
        if not all(isinstance(each, np.ndarray) for each in arrays):
            raise ValueError("the numbers of a probe must be arrays")
        return cls(text(facts, "image"), text(facts, "label"), Extractor.from_facts(extractor, weights), *arrays)
