"""Pixels: images themselves, never longer than 1 and never below 0, the same bits in any batch."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from pointillist.curator.clipping import quantise
from pointillist.curator.embedding import Embedding
from pointillist.errors import ArtefactError
from pointillist.features import Labelled, OneHot, Pixels, Products, Records
from pointillist.features.serial import from_nodes, to_nodes
from pointillist.privacy.grid import Grid

SHAPE = (3, 2, 3)
RADII = st.floats(-9, 6).map(lambda power: 10.0**power)


def of(pixels: NDArray[np.uint8], codes: NDArray[np.uint16] | None = None) -> Records:
    return Records(len(pixels), {} if codes is None else {"label": codes}, {}, {"image": pixels})


@st.composite
def cases(draw: st.DrawFn) -> tuple[Pixels, NDArray[np.uint8]]:
    """A map of any size and radius, and images for it: any, and all black and all white."""
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 6), st.sampled_from([1, 3])))
    pixels = draw(hnp.arrays(np.uint8, (draw(st.integers(1, 4)), *shape)))
    ends = np.stack([np.zeros(shape, np.uint8), np.full(shape, 255, np.uint8)])
    return Pixels("image", *shape, draw(RADII)), np.concatenate([pixels, ends])


@given(case=cases())
def test_the_length_is_at_most_1(case: tuple[Pixels, NDArray[np.uint8]]) -> None:
    feature_map, pixels = case
    features = feature_map(of(pixels))
    assert features.shape == (len(pixels), feature_map.dimension)
    assert (features >= 0).all()
    assert all(math.fsum(value**2 for value in row) <= feature_map.bound**2 for row in features)


@given(case=cases())
def test_images_within_the_radius_are_kept_and_longer_ones_keep_their_direction(
    case: tuple[Pixels, NDArray[np.uint8]],
) -> None:
    feature_map, pixels = case
    flat = pixels.reshape(len(pixels), -1) / 255
    lengths = np.linalg.norm(flat, axis=1)
    expected = flat / np.maximum(lengths, feature_map.radius)[:, None]
    np.testing.assert_allclose(feature_map(of(pixels)), expected, rtol=1e-11, atol=0)


@given(case=cases(), shuffle=st.randoms(use_true_random=False), cut=st.integers(0, 6))
def test_the_same_bits_in_any_batch_and_order(
    case: tuple[Pixels, NDArray[np.uint8]], shuffle: "np.random.Generator", cut: int
) -> None:
    feature_map, pixels = case
    records = of(pixels)
    order = list(range(len(pixels)))
    shuffle.shuffle(order)
    whole = feature_map(records)
    for part in (slice(0, cut), slice(cut, None), np.array(order, dtype=np.intp)):
        np.testing.assert_array_equal(feature_map(records.part(part)), whole[part])


def test_the_same_bits_in_large_batches() -> None:
    """Sizes at which vector instructions and blocks of the machine's libraries set in."""
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (257, 28, 28, 1), dtype=np.uint8)
    feature_map = Pixels("image", 28, 28, 1, 9.8)
    whole = feature_map(of(pixels))
    alone = np.concatenate([feature_map(of(pixels[i : i + 1])) for i in range(len(pixels))])
    np.testing.assert_array_equal(whole, alone)


@given(case=cases(), size=st.integers(1, 7), seed=st.integers(0, 99))
def test_integer_sums_do_not_depend_on_batches(case: tuple[Pixels, NDArray[np.uint8]], size: int, seed: int) -> None:
    feature_map, pixels = case
    codes = np.random.default_rng(seed).integers(0, 2, len(pixels)).astype(np.uint16)
    records, labelled, grid = of(pixels, codes), Labelled.of(feature_map, OneHot("label", 2)), Grid(24)
    added = Embedding(labelled, grid)
    for start in range(0, len(pixels), size):
        added.add(records.part(slice(start, start + size)))
    expected = quantise(labelled(records), grid).sum(axis=0)
    assert added.rows == len(pixels)
    np.testing.assert_array_equal(added.sums(), expected)


def test_files_keep_the_map() -> None:
    feature_map = Pixels("image", *SHAPE, 0.7)
    assert from_nodes(*to_nodes(feature_map)) == feature_map
    nodes, arrays = to_nodes(feature_map)
    nodes[0]["radius"] = -1.0
    with pytest.raises(ArtefactError, match="radius"):
        from_nodes(nodes, arrays)


@pytest.mark.parametrize("radius", [0.0, -1.0, math.nan, math.inf])
def test_a_radius_that_is_none_is_refused(radius: float) -> None:
    with pytest.raises(ValueError, match="radius"):
        Pixels("image", *SHAPE, radius)


def test_what_it_reads() -> None:
    feature_map = Pixels("picture", *SHAPE, 1.0)
    assert feature_map.image_columns == {"picture"}
    assert not feature_map.code_columns
    assert not feature_map.unit_columns
    assert feature_map.nonnegative
    assert feature_map.positive


def test_no_images_have_no_features() -> None:
    assert Pixels("image", *SHAPE, 1.0)(of(np.zeros((0, *SHAPE), np.uint8))).shape == (0, 18)


def test_there_is_no_expectation_over_pixels() -> None:
    with pytest.raises(TypeError, match="closed form"):
        Pixels("image", *SHAPE, 1.0).expectation(Products({}, {}))
