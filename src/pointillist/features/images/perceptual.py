"""Perceptual features: the activations of a public network for an image, after DP-MEPF (Harder et al., 2022, eq. 2 to 5).

First moments are the activations f themselves, second moments their squares f^2. For every image each of the two is divided
by its own length, and they share the length 1 between them:

    phi(x) = ( sqrt(1 - s) f / |f| ,  sqrt(s) f^2 / |f^2| ),    so |phi(x)| = 1 (or less, where f is 0).

Sensitivity. Both moments leave in one vector and get their noise together, so one number is needed: how far phi can move.
If a record is added or removed, 1. If it is replaced by another, |phi(x) - phi(y)| <= 2, and this is attained by first
moments that point opposite ways. If no feature is negative (`rectified`, or second moments alone), <phi(x), phi(y)> >= 0 and
it is at most sqrt(2). Times the one-hot label nothing changes: a record stands in one class, and one that changes its class
moves by sqrt(2) (its features leave one block and enter another), which is no more than either of the two.

A record's features must be a function of that record alone, bit for bit, or one record would move other records' features
and the bound above would say nothing. A network's last bit depends on the shape of what it is run on, and may depend on
where in it an image stands. So it is run on one image at a time, always, on one thread;
and where a graphics card runs it, what follows is computed on the processor.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pointillist.errors import UsageError
from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.images.base import ImageMap
from pointillist.features.images.extractor import Extractor, Shape
from pointillist.features.images.public_network import one_thread, require_torch
from pointillist.files.facts import flag, listed, real, table, text, texts, whole, wholes
from pointillist.records import Records

if TYPE_CHECKING:
    from torch import Tensor

_SAFE = 1 - 2.0**-40
"""What lengths are multiplied by, so that rounding makes none longer than 1."""
_LARGEST_SIDE = 1 << 16
_TINY = 1e-12
"""An image whose activations are shorter than this has no direction; its features are nearly 0."""


@MAPS.register("perceptual")
@dataclass(frozen=True, eq=False)
class Perceptual(ImageMap):
    """Activations of a frozen public network, their squares, or both."""

    image: str
    """The column of images."""
    extractor: Extractor
    shapes: tuple[Shape, ...]
    """Channels, height and width that are kept of each layer: what is larger is averaged over neighbouring places."""
    moments: int = 2
    """1: activations; 2: their squares, too."""
    second_share: float = 0.5
    """The squares' part of the squared length. With a share of 1 there are no first moments."""
    rectified: bool = True
    """Whether activations below 0 count as 0, as they do for the network's next layer; then no feature is negative."""
    equal_layers: bool = False
    """Whether every layer has the same part of the length; otherwise the part that its activations have."""

    def __post_init__(self) -> None:
        if len(self.shapes) != len(self.extractor.layers) or min(min(shape) for shape in self.shapes) < 1:
            raise ValueError("perceptual features need a shape for each layer")
        if self.moments not in (1, 2):
            raise ValueError(f"moments must be 1 or 2, not {self.moments}")
        if not 0 < self.second_share <= 1:
            raise ValueError(f"second_share must be above 0 and at most 1, not {self.second_share}")

    @classmethod
    def of(cls, image: str, extractor: Extractor, *, pool: int | None = None, **options: Any) -> Self:
        """All layers of an extractor, averaged down to at most `pool` x `pool` places."""
        if pool is not None and pool < 1:
            raise UsageError(f"pool must be at least 1, not {pool}.")
        side = math.inf if pool is None else pool
        shapes = tuple((shape[0], int(min(shape[1], side)), int(min(shape[2], side))) for shape in extractor.shapes)
        return cls(image, extractor, shapes, **options)

    def with_extractor(self, extractor: Extractor) -> Self:
        """The same map run by a network that the caller has, if it is the same network."""
        if extractor.sha256 != self.extractor.sha256:
            found = extractor.reading(self.extractor.layers)
            if found.sha256 != self.extractor.sha256:
                raise UsageError(
                    f"the release was made with the extractor {self.extractor.name} (sha256 "
                    f"{self.extractor.sha256[:12]}...), and "
                    f"{extractor.name} is another (sha256 {found.sha256[:12]}...). Pass the release's own."
                )
            extractor = found
        return replace(self, extractor=extractor)

    @cached_property
    def activations(self) -> int:
        """How many numbers of the network are read."""
        return sum(math.prod(shape) for shape in self.shapes)

    @property
    def _firsts(self) -> bool:
        return self.moments == 1 or self.second_share < 1

    @property
    def dimension(self) -> int:
        return self.activations * (2 if self.moments == 2 and self._firsts else 1)

    @property
    def device(self) -> str:
        return self.extractor.device

    @property
    def nonnegative(self) -> bool:
        return self.rectified or not self._firsts

    def __call__(self, records: Records) -> Floats:
        torch = require_torch()
        pixels = records.images[self.image]
        found = np.empty((records.rows, self.dimension))
        with one_thread(), torch.no_grad():
            for number in range(records.rows):
                found[number] = self._features(self.extractor.look(pixels[number]), torch.float64).numpy()[0]
        return found

    def soft_images(self, images: "Tensor", labels: "Tensor | None" = None) -> "Tensor":
        return self._features(self.extractor.network(self.extractor.input(images)), require_torch().float32)

    def _features(self, layers: "list[Tensor]", kind: Any) -> "Tensor":
        torch = require_torch()
        firsts, seconds = [], []
        for layer, shape in zip(layers, self.shapes, strict=True):
            kept = layer.relu() if self.rectified else layer
            if self._firsts:
                firsts.append(self._layer(kept, shape, kind))
            if self.moments == 2:
                # Squares first, averages after: what a place's channel has of energy is kept even where signs cancel.
                seconds.append(self._layer(kept * kept, shape, kind))
        second = self.second_share if self.moments == 2 else 0.0
        return torch.cat([*_together(firsts, 1 - second), *_together(seconds, second)], dim=1)

    def _layer(self, values: "Tensor", shape: Shape, kind: Any) -> "Tensor":
        """One layer's values, averaged to the shape that is kept, as rows."""
        if tuple(values.shape[1:]) != shape:
            values = _averaged(values, shape)
        rows = values.permute(0, 2, 3, 1).flatten(1).to(kind)  # place by place, its channels together
        if tuple(values.shape[1:]) != shape:
            raise UsageError(f"extractor {self.extractor.name}: its layers do not have the shapes of the release's.")
        return _together([rows], 1.0)[0] if self.equal_layers else rows

    def describe(self) -> dict[str, Any]:
        facts, weights = self.extractor.describe()
        return {
            "image": self.image,
            "extractor": [facts],
            "shapes": [list(shape) for shape in self.shapes],
            "moments": self.moments,
            "second_share": self.second_share,
            "rectified": self.rectified,
            "equal_layers": self.equal_layers,
            "weights": list(weights),
            **{f"weights.{place}": value for place, value in enumerate(weights.values())},
        }

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        weights = {name: facts[f"weights.{place}"] for place, name in enumerate(texts(facts, "weights"))}
        (extractor,) = listed(facts, "extractor", table)
        shapes = listed(facts, "shapes", lambda one, each: _shape(*wholes(one, each, 1, _LARGEST_SIDE)))
        return cls(
            text(facts, "image"),
            Extractor.from_facts(extractor, weights),
            shapes,
            whole(facts, "moments", 1, 2),
            real(facts, "second_share"),
            flag(facts, "rectified"),
            flag(facts, "equal_layers"),
        )


def _shape(channels: int, height: int, width: int) -> Shape:
    return channels, height, width


def _averaged(values: "Tensor", shape: Shape) -> "Tensor":
    """Means over neighbouring places; over squares of one size where that comes out even, which is much quicker."""
    functional = require_torch().nn.functional
    down, rest_down = divmod(values.shape[2], shape[1])
    right, rest_right = divmod(values.shape[3], shape[2])
    if rest_down or rest_right:
        return functional.adaptive_avg_pool2d(values, shape[1:])
    return functional.avg_pool2d(values, (down, right))


def _together(parts: "list[Tensor]", share: float) -> "list[Tensor]":
    """Parts of vectors, divided by the length of the whole and given their share of a length of 1."""
    if not parts:
        return []
    norm = require_torch().linalg.vector_norm
    squares = sum(norm(part, dim=1, keepdim=True) ** 2 for part in parts)
    factor = math.sqrt(share) * _SAFE / squares.clamp_min(_TINY**2).sqrt()
    return [part * factor for part in parts]
