"""Image networks: every size, every architecture, the same seed the same images, and files that keep them."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import pointillist as pt
from pointillist.generators.image_network.image_network import Architecture, ImageNetwork, ImageShape

SCHEMA = pt.Schema(
    name="any",
    columns={
        "image": pt.Image(height=6, width=5, colour=True),
        "label": pt.Categorical(categories=(0, 1, 2), missing=False),
    },
)
SIZES = [(28, 28, 1), (32, 32, 3), (1, 1, 1), (5, 11, 3), (30, 7, 1)]


def network(
    architecture: Architecture = "conv",
    size: tuple[int, int, int] = (6, 5, 3),
    shares: tuple[float, ...] = (0.5, 0.25, 0.0, 0.25),
) -> ImageNetwork:
    torch.manual_seed(0)
    shape = ImageShape(architecture, *size, shares=shares, noise=4, breadth=8)
    return ImageNetwork(shape, shape.module())


def drawn(
    made: ImageNetwork, count: int, seed: int = 0, codes: NDArray[np.uint16] | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.uint16] | None]:
    """Pixels and labels' levels: as asked for, or as they come."""
    rng = np.random.default_rng(seed)
    records = made.sample(count, rng) if codes is None else made.with_labels(codes, rng)
    return records.images["image"], records.codes.get("label")


@pytest.mark.parametrize("architecture", ["conv", "dense", "residual"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shares", [(), (0.5, 0.5)])
def test_any_size_comes_out(architecture: Architecture, size: tuple[int, int, int], shares: tuple[float, ...]) -> None:
    made = network(architecture, size, shares)
    pixels, codes = drawn(made, 5, 0)
    assert (pixels.shape, pixels.dtype) == ((5, *size), np.uint8)
    assert (codes is None) == (not shares)
    empty, _ = drawn(made, 0, 0)
    assert empty.shape == (0, *size)


@pytest.mark.parametrize("architecture", ["conv", "dense", "residual"])
def test_the_same_seed_gives_the_same_images(architecture: Architecture) -> None:
    made = network(architecture)
    first, again, other = (drawn(made, 50, seed) for seed in (1, 1, 2))
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


def test_labels_by_quota_or_as_asked_for() -> None:
    made = network()
    _, codes = drawn(made, 4_000, 0)
    assert codes is not None
    assert codes.dtype == np.uint16
    assert np.abs(np.bincount(codes, minlength=4) - [2_000, 1_000, 0, 1_000]).max() <= 1
    asked = np.array([3, 3, 0, 1, 2], dtype=np.uint16)
    pixels, given = drawn(made, 5, 0, codes=asked)
    assert given is not None
    assert np.array_equal(given, asked)
    others, _ = drawn(made, 5, 0, codes=asked[::-1].copy())
    assert not np.array_equal(pixels, others)  # the label is heard
    with pytest.raises(ValueError, match="no labels"):
        drawn(network(shares=()), 5, 0, codes=asked)


@pytest.mark.parametrize("architecture", ["conv", "dense", "residual"])
def test_files_keep_networks(architecture: Architecture) -> None:
    made = network(architecture)
    facts, arrays = made.to_facts()
    back = ImageNetwork.from_facts(facts, arrays, SCHEMA)
    assert back.shape == made.shape
    assert np.array_equal(drawn(back, 20, 0)[0], drawn(made, 20, 0)[0])
    assert architecture in back.describe()
    assert back.fits(SCHEMA)
    with pytest.raises(ValueError, match="weights do not fit"):
        ImageNetwork.from_facts({**facts, "breadth": 9}, arrays, SCHEMA)
    with pytest.raises(ValueError, match="not known"):
        ImageNetwork.from_facts({**facts, "architecture": "other"}, arrays, SCHEMA)


def test_the_network_of_dp_merf() -> None:
    """As published: dense 15-200-784 with batch norm, then convolutions of 5 x 5, 16 to 8 to 1 channels."""
    shape = ImageShape("conv", 28, 28, 1, shares=(0.1,) * 10, noise=5, breadth=200)
    weights = sum(each.numel() for each in shape.module().parameters())
    assert weights == (15 * 200 + 200) + 2 * 200 + (200 * 784 + 784) + 2 * 784 + (16 * 8 * 25 + 8) + (8 * 25 + 1)
