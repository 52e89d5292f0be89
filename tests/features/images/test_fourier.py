"""Random features of images: exact whatever the batch, of length 1, and near the kernel they stand for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from pointillist.curator.clipping import quantise
from pointillist.curator.embedding import Embedding
from pointillist.errors import ArtefactError
from pointillist.features import ImageFourier, Labelled, OneHot, Products, Records
from pointillist.features.images import fourier as module
from pointillist.features.serial import from_nodes, to_nodes
from pointillist.privacy.grid import Grid

SMALL = ImageFourier.draw("image", 4, 3, 3, 50, [1.0, 3.0], seed=0)


def of(pixels: NDArray[np.uint8]) -> Records:
    return Records(len(pixels), {}, {}, {"image": pixels})


def drawn(count: int, shape: tuple[int, int, int] = (4, 3, 3), seed: int = 0) -> Records:
    return of(np.random.default_rng(seed).integers(0, 256, (count, *shape), dtype=np.uint8))


@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 5), st.just(4), st.just(3), st.just(3))))
def test_the_length_is_1(pixels: NDArray[np.uint8]) -> None:
    features = SMALL(of(pixels))
    assert features.shape == (len(pixels), SMALL.dimension)
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1.0, atol=1e-12)
    grid = Grid.dense(SMALL.dimension)
    assert (np.einsum("ij,ij->i", *[quantise(features, grid)] * 2) <= grid.squared_norm).all()


@pytest.mark.parametrize("kept", [1 << 24, 40, 1])
def test_features_of_a_record_do_not_depend_on_its_batch(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the bit: alone, in any batch, in any order; and however many frequencies are floats at a time."""
    size = (28, 28, 1)
    feature_map = ImageFourier.draw("image", *size, 500, [10.0], seed=0)
    records = drawn(65, size)
    whole = feature_map(records)
    monkeypatch.setattr(module, "_KEPT", kept * 784)
    for part in (slice(0, 1), slice(3, 4), slice(60, 65), slice(1, 30), np.arange(65)[::-1]):
        assert np.array_equal(feature_map(records.part(part)), whole[part])


def test_products_with_pixels_are_whole_numbers() -> None:
    """What exactness rests on: the same sums in 64-bit integers."""
    feature_map = ImageFourier.draw("image", 28, 28, 1, 200, [0.5, 20.0], seed=0)
    records = of(np.full((1, 28, 28, 1), 255, dtype=np.uint8))
    exact = feature_map.frequencies.astype(np.int64).sum(axis=1) * 255
    assert np.array_equal(feature_map(records)[0, :100], np.cos(exact * feature_map.scale) / 10)


def test_inner_products_are_near_the_kernel() -> None:
    """With 20,000 pairs an inner product is a mean of as many numbers in [-1, 1]: off by 0.05 once in 10^11 (Hoeffding)."""
    records = drawn(6)
    flat = records.images["image"].reshape(6, -1) / 255
    squared = ((flat[:, None] - flat[None]) ** 2).sum(axis=2)
    for scales in ([1.5], [0.7, 2.0, 4.0]):
        features = ImageFourier.draw("image", 4, 3, 3, 40_000, scales, seed=5)(records)
        kernel = np.mean([np.exp(-squared / (2 * scale**2)) for scale in scales], axis=0)
        np.testing.assert_allclose(features @ features.T, kernel, atol=0.05)


def test_sums_by_class_are_exact() -> None:
    """Through the embedding: the same whole numbers in one batch and in many."""
    records = drawn(30)
    labels = np.arange(30, dtype=np.uint16) % 3
    labelled = Records(30, {"label": labels}, {}, records.images)
    feature_map = Labelled.of(SMALL, OneHot("label", 3))
    sums = []
    for step in (1, 7, 30):
        embedding = Embedding(feature_map, Grid.dense(feature_map.dimension))
        for start in range(0, 30, step):
            embedding.add(labelled.part(slice(start, start + step)))
        sums.append(embedding.sums())
    assert np.array_equal(sums[0], sums[1])
    assert np.array_equal(sums[0], sums[2])
    parts = np.stack([SMALL(records.part(np.flatnonzero(labels == each))).sum(axis=0) for each in range(3)])
    np.testing.assert_allclose(sums[0].reshape(3, -1) / Grid.dense(150).scale, parts, atol=1e-4)


def test_the_same_seed_gives_the_same_map_and_files_keep_it() -> None:
    again, other = (ImageFourier.draw("image", 4, 3, 3, 50, [1.0, 3.0], seed=seed) for seed in (0, 1))
    records = drawn(3)
    assert np.array_equal(again(records), SMALL(records))
    assert not np.array_equal(other(records), SMALL(records))
    nodes, arrays = to_nodes(SMALL)
    back = from_nodes(nodes, arrays)
    assert isinstance(back, ImageFourier)
    assert (back.image_columns, back.frequencies.dtype) == ({"image"}, np.int16)
    assert np.array_equal(back(records), SMALL(records))


@pytest.mark.parametrize(
    ("frequencies", "scale", "message"),
    [
        (np.ones((2, 4)), 1.0, "whole numbers"),
        (np.ones((2, 5), dtype=np.int64), 1.0, "4 columns"),
        (np.ones((0, 4), dtype=np.int64), 1.0, "at least one row"),
        (np.ones((2, 4), dtype=np.int64), 0.0, "scale"),
        (np.ones((2, 4), dtype=np.int64), np.inf, "scale"),
        (np.full((2, 4), 2**44), 1.0, "too large"),
        (np.full((2, 4), -(2**44)), 1.0, "too large"),
    ],
)
def test_what_is_not_exact_is_refused(frequencies: NDArray[np.int64], scale: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ImageFourier("image", 2, 2, 1, frequencies, scale)
    nodes, arrays = to_nodes(ImageFourier("image", 2, 2, 1, np.ones((2, 4), dtype=np.int64), 1.0))
    nodes[0]["scale"], arrays["0.frequencies"] = scale, frequencies
    with pytest.raises(ArtefactError, match=message):
        from_nodes(nodes, arrays)


def test_the_largest_images_fit() -> None:
    feature_map = ImageFourier.draw("image", 128, 128, 3, 4, [1e-3, 80.0], seed=0)
    np.testing.assert_allclose(np.linalg.norm(feature_map(drawn(2, (128, 128, 3))), axis=1), 1.0)


def test_refusals() -> None:
    for features in (0, 1, 7, -2):
        with pytest.raises(ValueError, match="must be even"):
            ImageFourier.draw("image", 2, 2, 1, features, [1.0], seed=0)
    for scales in ([], [0.0], [1.0, -1.0], [float("nan")], [float("inf")]):
        with pytest.raises(ValueError, match="length_scales"):
            ImageFourier.draw("image", 2, 2, 1, 4, scales, seed=0)
    with pytest.raises(TypeError, match="no products over pixels"):
        SMALL.expectation(Products({}, {}))
