"""Image distance: the squared distance of an image from a public image of its class, in parts of a public limit."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.device import Copies
from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.description import array
from pointillist.features.domain import Domain
from pointillist.features.images.base import CentredImageMap, centred_facts, flat
from pointillist.files.facts import real
from pointillist.records import Records

if TYPE_CHECKING:
    from torch import Tensor


@MAPS.register("image-distance")
@dataclass(frozen=True, eq=False)
class ImageDistance(CentredImageMap):
    """|p - c|^2 / radius^2 for pixels p in [0, 1], at most 1. One feature, of whole numbers up to the division."""

    image: str
    label: str | None
    centres: NDArray[np.uint8]
    """One row for each level of the label, one column for each pixel and channel."""
    radius: float

    def __post_init__(self) -> None:
        if self.centres.ndim != 2 or self.centres.dtype != np.uint8:
            raise ValueError("centres must be images of whole numbers of 8 bits, a row for each class")
        if not 0 < self.radius < np.inf:
            raise ValueError(f"radius must be finite and above 0, not {self.radius}")

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and self.centres.shape == (domain.classes, domain.pixels)

    @property
    def dimension(self) -> int:
        return 1

    @property
    def nonnegative(self) -> bool:
        return True

    @cached_property
    def _kept(self) -> Floats:
        return self.centres.astype(np.float64)

    def __call__(self, records: Records) -> Floats:
        pixels = records.images[self.image].reshape(records.rows, self.centres.shape[1]).astype(np.float64)
        pixels -= self._kept[self.classes(records)]
        squared = np.einsum("ij,ij->i", pixels, pixels)  # whole numbers: exact in any order
        return np.asarray(np.minimum(1.0, squared / (255 * self.radius) ** 2)[:, None])

    @cached_property
    def _soft_centres(self) -> Copies:
        import torch

        return Copies(torch.as_tensor(self.centres / 255, dtype=torch.float32, device="cpu"))

    def soft_images(self, images: "Tensor", labels: "Tensor | None" = None) -> "Tensor":
        if self.label is not None and labels is None:
            raise ValueError("distances from the centre of a class need the images' labels")
        centres = self._soft_centres.beside(images)
        centres = centres[:1] if self.label is None or labels is None else centres[labels.long()]
        squared = (flat(images) - centres).square().sum(dim=1, keepdim=True)
        return (squared / self.radius**2).clamp_max(1.0)

    def describe(self) -> dict[str, Any]:
        return {"image": self.image, "label": self.label, "centres": self.centres, "radius": self.radius}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        return cls(*centred_facts(facts), array(facts, "centres"), real(facts, "radius"))
