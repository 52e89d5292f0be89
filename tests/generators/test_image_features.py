"""Twins of feature maps of images: the same features for the same pixels, and gradients that are right."""

import numpy as np
import pytest
import torch

from pointillist.errors import UsageError
from pointillist.features import (
    Concat,
    FeatureMap,
    ImageFourier,
    ImageHermite,
    ImageHermiteProducts,
    OneHot,
    Product,
    Records,
    Weighted,
)
from pointillist.generators.image_features import torch_features

SHAPE = (5, 4, 3)
FOURIER = ImageFourier.draw("image", *SHAPE, 30, [1.0, 4.0], seed=0)
SINGLE = ImageHermite.spread("image", *SHAPE, 15, 0.2)
MAPS: dict[str, FeatureMap] = {
    "fourier": FOURIER,
    "hermite": SINGLE,
    "hermite of order 0": ImageHermite.spread("image", *SHAPE, 0, 0.2),
    "hermite of order 1": ImageHermite.spread("image", *SHAPE, 1, 0.2),
    "hermite as in the paper": ImageHermite("image", *SHAPE, 100, 0.0707, 1.0),
    "pairs": ImageHermiteProducts.draw("image", *SHAPE, 6, 0.3, groups=4, size=2, seed=0),
    "triples": ImageHermiteProducts.draw("image", *SHAPE, 2, 0.3, groups=2, size=3, seed=0),
    "all": Concat((Weighted(FOURIER, 0.6), Weighted(SINGLE, 0.8))),
    "product": Product((FOURIER, ImageHermite.spread("image", *SHAPE, 1, 0.2))),
}
PIXELS = np.random.default_rng(1).integers(0, 256, (6, *SHAPE), dtype=np.uint8)


def tensor(pixels: np.ndarray) -> torch.Tensor:
    return torch.as_tensor(pixels / 255, dtype=torch.float32).permute(0, 3, 1, 2)


@pytest.mark.parametrize("name", MAPS)
def test_a_twin_gives_the_same_features(name: str) -> None:
    wanted = MAPS[name](Records(6, {}, {}, {"image": PIXELS}))
    found = torch_features(MAPS[name])(tensor(PIXELS))
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found.numpy(), wanted, atol=2e-5)


@pytest.mark.parametrize("name", ["hermite", "hermite of order 0", "hermite of order 1", "pairs", "triples"])
def test_gradients_are_right(name: str) -> None:
    """The curves have a derivative in closed form: held against differences."""
    images = tensor(PIXELS[:2]).to(torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(torch_features(MAPS[name]), (images,), atol=1e-4)


def test_a_map_may_have_a_twin_of_its_own() -> None:
    class Brightness(ImageFourier):
        def torch_call(self, images: torch.Tensor) -> torch.Tensor:
            return images.mean(dim=(1, 2, 3))[:, None]

    found = torch_features(Brightness("image", *SHAPE, FOURIER.frequencies, FOURIER.scale))(tensor(PIXELS))
    np.testing.assert_allclose(found[:, 0].numpy(), PIXELS.mean(axis=(1, 2, 3)) / 255, rtol=1e-5)


def test_a_map_without_a_twin_is_refused() -> None:
    with pytest.raises(UsageError, match="OneHot features"):
        torch_features(OneHot("label", 3))
