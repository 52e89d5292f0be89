"""Image network: noise and a label in, an image out. The papers' generators for images. Needs torch.

- conv: DP-MERF's: a dense layer, then two bilinear enlargements with a convolution after each;
- dense: DP-HP's: dense layers alone;
- residual: after DP-MEPF's: three residual blocks, each of which doubles the size.
"""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from pointillist.files.facts import reals, whole
from pointillist.generators import stored
from pointillist.generators.image_generator import USUAL, ImageColumns, ImageGenerator, Outline
from pointillist.generators.stored_weights import stored_weights, with_weights
from pointillist.schema import Schema

Tensor = torch.Tensor
Architecture = Literal["conv", "dense", "residual"]

_WIDEST = 1 << 16
_AT_A_TIME = 1024
"""Images that are made together."""


@dataclass(frozen=True)
class ImageShape:
    """Everything about an image network but its weights."""

    architecture: Architecture
    height: int
    width: int
    channels: int
    shares: tuple[float, ...]
    """Of the label's levels; empty where there is no label."""
    noise: int
    """How many random numbers go in."""
    breadth: int
    """Units of the dense layers; or channels of the residual blocks."""

    def __post_init__(self) -> None:
        if self.architecture not in get_args(Architecture):
            raise ValueError(f"architecture {self.architecture!r} is not known")

    @property
    def inputs(self) -> int:
        return self.noise + len(self.shares)

    def module(self) -> nn.Module:
        """A network of this shape, with weights by torch's own random numbers: (number, inputs) to images in [0, 1]."""
        build = {"conv": _conv, "dense": _dense, "residual": _residual}[self.architecture]
        return nn.Sequential(build(self), _Crop(self.height, self.width), nn.Sigmoid())

    def given(self, noise: Tensor, codes: Tensor | None) -> Tensor:
        """What goes in: noise, with the label one-hot beside it."""
        if codes is None:
            return noise
        return torch.cat([noise, nn.functional.one_hot(codes.long(), len(self.shares)).to(noise.dtype)], dim=1)

    def to_json(self) -> dict[str, Any]:
        return {
            "architecture": self.architecture,
            "height": self.height,
            "width": self.width,
            "channels": self.channels,
            "shares": list(self.shares),
            "noise": self.noise,
            "breadth": self.breadth,
        }

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> Self:
        sizes = {name: whole(facts, name, 1, _WIDEST) for name in ("height", "width", "channels", "noise", "breadth")}
        shares = reals(facts, "shares", 0.0, 1.0)
        if shares:
            stored.weights(shares)
        return cls(architecture=facts["architecture"], shares=shares, **sizes)


@dataclass(frozen=True, eq=False)
class ImageNetwork(ImageGenerator):
    """A sampler of images: a network with its weights."""

    kind: ClassVar[str] = "image-network"

    shape: ImageShape
    module: nn.Module
    columns: ImageColumns = field(default=USUAL, kw_only=True)

    def describe(self) -> str:
        weights = sum(each.numel() for each in self.module.parameters())
        return f"a {self.shape.architecture} image network with {weights:,} weights"

    @property
    def outline(self) -> Outline:
        size = (self.shape.height, self.shape.width, self.shape.channels)
        return Outline(size, self.shape.shares, self.columns)

    def pixels(self, count: int, codes: NDArray[np.uint16] | None, rng: np.random.Generator) -> NDArray[np.uint8]:
        """`count` images with these labels."""
        shape = self.shape
        pixels = np.empty((count, shape.height, shape.width, shape.channels), dtype=np.uint8)
        self.module.eval()
        with torch.no_grad():
            for start in range(0, count, _AT_A_TIME):
                part = slice(start, min(start + _AT_A_TIME, count))
                drawn = rng.standard_normal((part.stop - start, shape.noise))
                labels = None if codes is None else torch.as_tensor(codes[part].astype(np.int64))
                made = self.module(shape.given(torch.as_tensor(drawn, dtype=torch.float32), labels))
                pixels[part] = torch.round(255 * made).to(torch.uint8).permute(0, 2, 3, 1).numpy()
        return pixels

    def to_facts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The network as JSON values and arrays."""
        return self.shape.to_json(), stored_weights(self.module)

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]], schema: Schema) -> Self:
        """The inverse of `to_facts`."""
        shape = ImageShape.from_json(facts)
        return cls(shape, with_weights(shape.module, arrays), columns=ImageColumns.of(schema))


class _Unfold(nn.Module):
    """Rows of numbers as images; a pixel's channels stand together in memory, which is twice as fast from here on."""

    def __init__(self, size: tuple[int, int, int]):
        super().__init__()
        self.size = size

    def forward(self, rows: Tensor) -> Tensor:
        return rows.reshape(-1, *self.size).contiguous(memory_format=torch.channels_last)


class _Crop(nn.Module):
    """Cuts what is too much at the right and below: sizes that enlargement by two does not reach."""

    def __init__(self, height: int, width: int):
        super().__init__()
        self.height, self.width = height, width

    def forward(self, images: Tensor) -> Tensor:
        return images[:, :, : self.height, : self.width]


class _Residual(nn.Module):
    """Doubles the size; what the two convolutions find is added to what came in."""

    def __init__(self, channels: int):
        super().__init__()
        self.enlarged = nn.Upsample(scale_factor=2, mode="nearest")
        self.found = nn.Sequential(
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            self.enlarged,
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1),
        )

    def forward(self, images: Tensor) -> Tensor:
        found: Tensor = self.found(images)
        return found + self.enlarged(images)


def _conv(shape: ImageShape) -> nn.Module:
    height, width = math.ceil(shape.height / 4), math.ceil(shape.width / 4)
    return nn.Sequential(
        *_layer(shape.inputs, shape.breadth),
        nn.Linear(shape.breadth, 16 * height * width),
        nn.BatchNorm1d(16 * height * width),
        _Unfold((16, height, width)),
        nn.UpsamplingBilinear2d(scale_factor=2),
        nn.Conv2d(16, 8, 5, padding=2),
        nn.ReLU(),
        nn.UpsamplingBilinear2d(scale_factor=2),
        nn.Conv2d(8, shape.channels, 5, padding=2),
    )


def _dense(shape: ImageShape) -> nn.Module:
    size = (shape.channels, shape.height, shape.width)
    return nn.Sequential(
        *_layer(shape.inputs, shape.breadth),
        *_layer(shape.breadth, shape.breadth),
        nn.Linear(shape.breadth, math.prod(size)),
        nn.Unflatten(1, size),
    )


def _residual(shape: ImageShape) -> nn.Module:
    height, width = math.ceil(shape.height / 8), math.ceil(shape.width / 8)
    return nn.Sequential(
        nn.Linear(shape.inputs, shape.breadth * height * width),
        _Unfold((shape.breadth, height, width)),
        *(_Residual(shape.breadth) for _ in range(3)),
        nn.BatchNorm2d(shape.breadth),
        nn.ReLU(),
        nn.Conv2d(shape.breadth, shape.channels, 3, padding=1),
    )


def _layer(inputs: int, outputs: int) -> list[nn.Module]:
    return [nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU()]
