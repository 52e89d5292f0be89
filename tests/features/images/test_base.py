"""Feature maps on images in the making: the same features for the same pixels, and gradients that are right."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from pointillist.features import (
    Concat,
    FeatureMap,
    ImageDistance,
    ImageFourier,
    ImageHermite,
    ImageHermiteProducts,
    ImageMoments,
    KindMoments,
    Pixels,
    Product,
    Records,
    Weighted,
)
from pointillist.features.images.base import ImageMap
from pointillist.features.images.cosines import SCALE, cosine_basis
from pointillist.features.soft_records import SoftRecords

SHAPE = (5, 4, 3)
FOURIER = ImageFourier.draw("image", *SHAPE, 30, [1.0, 4.0], seed=0)
SINGLE = ImageHermite.spread("image", *SHAPE, 15, 0.2)


def moments(label: str | None, radius: float, kinds: int = 1) -> ImageMoments:
    basis = cosine_basis(*SHAPE, 3)
    centres = np.random.default_rng(2).normal(0, 0.5 * 255 * SCALE, ((1 if label is None else 3) * kinds, basis.size))
    return ImageMoments("image", label, basis.vectors, np.rint(centres).astype(np.int64), radius, 0.7, kinds)


GREYS = np.random.default_rng(3).integers(0, 256, (3, 60), dtype=np.uint8)


MAPS: dict[str, FeatureMap] = {
    "fourier": FOURIER,
    "hermite": SINGLE,
    "hermite of order 0": ImageHermite.spread("image", *SHAPE, 0, 0.2),
    "hermite of order 1": ImageHermite.spread("image", *SHAPE, 1, 0.2),
    "hermite as in the paper": ImageHermite("image", *SHAPE, 100, 0.0707, 1.0),
    "pairs": ImageHermiteProducts.draw("image", *SHAPE, 6, 0.3, groups=4, size=2, seed=0),
    "triples": ImageHermiteProducts.draw("image", *SHAPE, 2, 0.3, groups=2, size=3, seed=0),
    "pixels": Pixels("image", *SHAPE, 100.0),
    "pixels, shortened": Pixels("image", *SHAPE, 2.0),
    "moments": moments(None, 9.0),
    "moments, shortened": moments(None, 1.0),
    "moments by class": moments("label", 2.0),
    "moments around the nearest of three": moments("label", 2.0, kinds=3),
    "moments by kind": KindMoments.of(moments(None, 2.0, kinds=3), None),
    "distance": ImageDistance("image", None, GREYS[:1], 9.0),
    "distance by class": ImageDistance("image", "label", GREYS, 9.0),
    "distance, cut off": ImageDistance("image", "label", GREYS, 0.5),
    "all": Concat((Weighted(FOURIER, 0.6), Weighted(SINGLE, 0.8))),
    "product": Product((FOURIER, ImageHermite.spread("image", *SHAPE, 1, 0.2))),
}
CODES = np.array([0, 1, 2, 2, 1, 0], dtype=np.uint16)
PIXELS = np.random.default_rng(1).integers(0, 256, (6, *SHAPE), dtype=np.uint8)


def soft(feature_map: FeatureMap, images: torch.Tensor, labels: torch.Tensor | None = None) -> torch.Tensor:
    known = {} if labels is None else {"label": labels}
    return feature_map.soft(SoftRecords(len(images), images={"image": images}, labels=known))


def tensor(pixels: np.ndarray) -> torch.Tensor:
    return torch.as_tensor(pixels / 255, dtype=torch.float32).permute(0, 3, 1, 2)


@pytest.mark.parametrize("name", MAPS)
def test_soft_images_have_the_same_features(name: str) -> None:
    wanted = MAPS[name](Records(6, {"label": CODES}, {}, {"image": PIXELS}))
    found = soft(MAPS[name], tensor(PIXELS), torch.as_tensor(CODES.astype(np.int64)))
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found.numpy(), wanted, atol=2e-5)


@pytest.mark.parametrize("name", ["hermite", "hermite of order 0", "hermite of order 1", "pairs", "triples"])
def test_gradients_are_right(name: str) -> None:
    """The curves have a derivative in closed form: held against differences."""
    images = tensor(PIXELS[:2]).to(torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(partial(soft, MAPS[name]), (images,), atol=1e-4)


@pytest.mark.parametrize("name", ["pixels, shortened", "moments, shortened", "moments by class"])
def test_gradients_reach_every_pixel(name: str) -> None:
    images = tensor(PIXELS).requires_grad_()
    features = soft(MAPS[name], images, torch.as_tensor(CODES.astype(np.int64)))
    (features * torch.arange(features.shape[1])).sum().backward()
    assert images.grad is not None
    assert torch.isfinite(images.grad).all()
    assert (images.grad != 0).all()


def test_a_black_image_has_no_bad_gradient() -> None:
    images = torch.zeros(2, 3, 5, 4, requires_grad=True)
    soft(MAPS["pixels"], images).sum().backward()
    assert images.grad is not None
    assert torch.isfinite(images.grad).all()


def test_moments_by_class_need_the_class() -> None:
    with pytest.raises(ValueError, match="need the images' labels"):
        soft(MAPS["moments by class"], tensor(PIXELS))


def test_a_map_without_a_soft_form_says_so() -> None:
    class Brightness(ImageMap):
        image, dimension, nonnegative = "image", 1, True

        def __call__(self, records: Records) -> np.ndarray:
            return records.images["image"].mean(axis=(1, 2, 3))[:, None] / 255

        def describe(self) -> dict[str, Any]:
            return {}

    class SoftBrightness(Brightness):
        def soft_images(self, images: torch.Tensor, labels: torch.Tensor | None = None) -> torch.Tensor:
            return images.mean(dim=(1, 2, 3))[:, None]

    assert not Brightness().has_soft
    assert not Concat((FOURIER, Brightness())).has_soft
    with pytest.raises(TypeError, match="Brightness has no soft form"):
        soft(Brightness(), tensor(PIXELS))
    assert Concat((FOURIER, SoftBrightness())).has_soft
    np.testing.assert_allclose(
        soft(SoftBrightness(), tensor(PIXELS)).numpy()[:, 0], PIXELS.mean(axis=(1, 2, 3)) / 255, rtol=1e-5
    )
