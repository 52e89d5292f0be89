"""Features of images in the making: what a feature map gives for pixels that gradients can flow through. Needs torch.

A map that can do it by itself has a method `torch_call`; the others have a twin here.
"""

import math
from typing import Any, Protocol, runtime_checkable

import torch

from pointillist.errors import UsageError
from pointillist.features import (
    Concat,
    FeatureMap,
    FirstMoments,
    ImageDistance,
    ImageFourier,
    ImageHermite,
    ImageHermiteProducts,
    ImageKinds,
    ImageMoments,
    Pixels,
    Product,
    SecondMoments,
    Weighted,
)
from pointillist.features.hermite import Hermite
from pointillist.features.images.cosines import SCALE

Tensor = torch.Tensor


class Features(Protocol):
    """The twin of a feature map."""

    def __call__(self, images: Tensor, codes: Tensor | None = None) -> Tensor:
        """From images (number, channels, height, width) in [0, 1], and their labels' levels, to (number, dimension)."""
        ...


@runtime_checkable
class TorchMap(Protocol):
    """A feature map with a twin of its own."""

    def torch_call(self, images: Tensor) -> Tensor:
        """Features (number, dimension) of images (number, channels, height, width) in [0, 1]."""
        ...


def torch_features(feature_map: FeatureMap) -> Features:
    """The twin of a feature map of images."""
    if isinstance(feature_map, TorchMap):
        call = feature_map.torch_call
        return lambda images, codes=None: call(images)
    match feature_map:
        case Pixels():
            return _Pixels(feature_map)
        case ImageMoments():
            return _Moments(feature_map)
        case ImageKinds() | FirstMoments() | SecondMoments():
            return _view(feature_map)
        case ImageDistance():
            return _Distance(feature_map)
        case ImageFourier():
            return _Fourier(feature_map)
        case ImageHermite():
            return _Hermite(feature_map)
        case ImageHermiteProducts():
            return _Products(feature_map)
        case Weighted():
            inner, weight = torch_features(feature_map.map), feature_map.weight
            return lambda images, codes=None: weight * inner(images, codes)
        case Concat():
            parts = [torch_features(part) for part in feature_map.maps]
            return lambda images, codes=None: torch.cat([part(images, codes) for part in parts], dim=1)
        case Product():
            return _Multiplied([torch_features(part) for part in feature_map.maps])
    raise UsageError(
        f"an image network cannot be fitted to {type(feature_map).__name__} features. Fit the release by its own method."
    )


def _view(feature_map: ImageKinds | FirstMoments | SecondMoments) -> Features:
    twin = _Moments(feature_map.moments)
    match feature_map:
        case ImageKinds():
            return twin.kinds
        case FirstMoments():
            return twin.first
    return twin.second


class _Pixels:
    def __init__(self, feature_map: Pixels):
        self.radius = feature_map.radius

    def __call__(self, images: Tensor, codes: Tensor | None = None) -> Tensor:
        return _shortened(_flat(images), self.radius) / self.radius


class _Moments:
    def __init__(self, feature_map: ImageMoments):
        self.map = feature_map
        self.basis = torch.as_tensor(feature_map.vectors / SCALE, dtype=torch.float32)
        self.centres = torch.as_tensor(feature_map.centres / (255 * SCALE), dtype=torch.float32)
        self.pairs = tuple(torch.as_tensor(each) for each in feature_map.pairs)
        self.weights = torch.as_tensor(feature_map.weights, dtype=torch.float32)

    def __call__(self, images: Tensor, codes: Tensor | None = None) -> Tensor:
        return self._products(self._lifted(images, codes), slice(None))

    def first(self, images: Tensor, codes: Tensor | None = None) -> Tensor:
        return self._products(self._lifted(images, codes), slice(0, self.map.size))

    def second(self, images: Tensor, codes: Tensor | None = None) -> Tensor:
        return self._products(self._lifted(images, codes), slice(self.map.size, None))

    def kinds(self, images: Tensor, codes: Tensor | None = None) -> Tensor:
        """Which centre is nearest: no slope leads from one to another."""
        cells = self._cells(_flat(images) @ self.basis.T, codes)
        return torch.nn.functional.one_hot(cells, len(self.centres)).to(images.dtype)

    def _products(self, u: Tensor, part: slice) -> Tensor:
        one, other = (each[part] for each in self.pairs)
        return u[:, one] * u[:, other] * self.weights[part]

    def _cells(self, coefficients: Tensor, codes: Tensor | None) -> Tensor:
        if self.map.label is None:
            codes = torch.zeros(len(coefficients), dtype=torch.int64)
        elif codes is None:
            raise ValueError("moments around the centre of a class need the images' labels")
        own = codes.long()[:, None] * self.map.kinds + torch.arange(self.map.kinds)
        nearest = torch.cdist(coefficients.detach(), self.centres).gather(1, own).argmin(dim=1, keepdim=True)
        return own.gather(1, nearest)[:, 0]

    def _lifted(self, images: Tensor, codes: Tensor | None) -> Tensor:
        coefficients = _flat(images) @ self.basis.T
        deviations = _shortened(coefficients - self.centres[self._cells(coefficients, codes)], self.map.radius)
        lift = deviations.new_full((len(deviations), 1), self.map.lift)
        return torch.cat([lift, deviations], dim=1) / math.hypot(self.map.lift, self.map.radius)


class _Distance:
    def __init__(self, feature_map: ImageDistance):
        self.label, self.radius = feature_map.label, feature_map.radius
        self.centres = torch.as_tensor(feature_map.centres / 255, dtype=torch.float32)

    def __call__(self, images: Tensor, codes: Tensor | None = None) -> Tensor:
        if self.label is not None and codes is None:
            raise ValueError("distances from the centre of a class need the images' labels")
        centres = self.centres[:1] if self.label is None or codes is None else self.centres[codes.long()]
        squared = (_flat(images) - centres).square().sum(dim=1, keepdim=True)
        return (squared / self.radius**2).clamp_max(1.0)


class _Fourier:
    def __init__(self, feature_map: ImageFourier):
        self.frequencies = torch.as_tensor(feature_map.frequencies).to(torch.float32)
        self.frequencies *= 255 * feature_map.scale

    def __call__(self, images: Tensor, codes: Tensor | None = None) -> Tensor:
        angles = _flat(images) @ self.frequencies.T
        return torch.cat([torch.cos(angles), torch.sin(angles)], dim=1) / math.sqrt(len(self.frequencies))


class _Hermite:
    def __init__(self, feature_map: ImageHermite):
        self.curve, self.share = feature_map.curve, 1 / math.sqrt(feature_map.pixels)

    def __call__(self, images: Tensor, codes: Tensor | None = None) -> Tensor:
        return self.share * _curves(_flat(images) - 0.5, self.curve).permute(1, 2, 0).flatten(1)


class _Products:
    def __init__(self, feature_map: ImageHermiteProducts):
        self.curve, self.share = feature_map.curve, 1 / math.sqrt(len(feature_map.groups))
        self.groups = torch.tensor(feature_map.groups)

    def __call__(self, images: Tensor, codes: Tensor | None = None) -> Tensor:
        chosen = _flat(images)[:, self.groups]  # (number, groups, size)
        features = self.share * _curves(chosen[:, :, 0] - 0.5, self.curve).permute(1, 2, 0)
        for place in range(1, self.groups.shape[1]):
            factor = _curves(chosen[:, :, place] - 0.5, self.curve).permute(1, 2, 0)
            features = (features[:, :, :, None] * factor[:, :, None, :]).flatten(2)
        return features.flatten(1)


class _Multiplied:
    def __init__(self, parts: list[Features]):
        self.parts = parts

    def __call__(self, images: Tensor, codes: Tensor | None = None) -> Tensor:
        found = self.parts[0](images, codes)
        for part in self.parts[1:]:
            found = (found[:, :, None] * part(images, codes)[:, None, :]).flatten(1)
        return found


def _shortened(rows: Tensor, radius: float) -> Tensor:
    """Rows, those that are longer than the radius cut to it."""
    # Squares below 1e-12 are raised to it: the root of 0 has no slope.
    length = (rows * rows).sum(dim=1, keepdim=True).clamp_min(1e-12).sqrt()
    return rows * (radius / length).clamp_max(1.0)


def _flat(images: Tensor) -> Tensor:
    """Pixels in the order of feature maps: row by row, a pixel's channels together."""
    return images.permute(0, 2, 3, 1).flatten(1)


def _curves(x: Tensor, curve: Hermite) -> Tensor:
    """Hermite features of centred positions, as (features, *positions)."""
    found: Tensor = _Curves.apply(x, curve)  # type: ignore[no-untyped-call]
    return found


class _Curves(torch.autograd.Function):
    """The recursion of `Hermite.at`, with its derivative in closed form: no tape of a hundred steps is kept.

    phi_k' = sqrt(2 k rho) phi_(k-1) - 2 rho / (1 + rho) x phi_k, from H_k' = 2 k H_(k-1).
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, curve: Hermite) -> Tensor:
        rho, x = curve.rho, curve.scale * x
        found = torch.empty((curve.dimension, *x.shape), dtype=x.dtype)
        found[0] = (1 - rho * rho) ** 0.25 * torch.exp(-rho / (1 + rho) * x * x)
        if curve.order >= 1:
            found[1] = math.sqrt(2 * rho) * x * found[0]
        for k in range(1, curve.order):
            torch.mul(x, found[k], out=found[k + 1]).mul_(math.sqrt(2 * rho / (k + 1)))
            found[k + 1].sub_(found[k - 1], alpha=rho * math.sqrt(k / (k + 1)))
        ctx.save_for_backward(x, found)
        ctx.curve = curve
        return found

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (given,) = gradients
        x, found = ctx.saved_tensors
        curve: Hermite = ctx.curve
        slope = -2 * curve.rho / (1 + curve.rho) * x * (given * found).sum(0)
        if curve.order >= 1:
            numbers = torch.arange(1, curve.dimension, dtype=x.dtype).reshape(-1, *[1] * x.dim())
            slope += (torch.sqrt(2 * curve.rho * numbers) * given[1:] * found[:-1]).sum(0)
        return curve.scale * slope, None
