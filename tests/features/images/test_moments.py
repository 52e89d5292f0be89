"""Image moments: length at most 1, no negative inner products, whole numbers, the same bits whatever the batch."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from pointillist.curator.clipping import quantise
from pointillist.curator.embedding import Embedding
from pointillist.errors import ArtefactError
from pointillist.features import Concat, FeatureMap, ImageMoments, Labelled, OneHot, Products, Records, Weighted
from pointillist.features.images.cosines import SCALE, cosine_basis
from pointillist.features.serial import from_nodes, to_nodes
from pointillist.privacy.grid import Grid

LENGTHS = st.floats(-9, 6).map(lambda power: 10.0**power)


@dataclass(frozen=True, eq=False)
class Case:
    """A map, and images with labels for it."""

    map: ImageMoments
    records: Records


def moments(
    shape: tuple[int, int, int], frequencies: int, centres: NDArray[np.int64], radius: float, lift: float
) -> ImageMoments:
    label = None if len(centres) == 1 else "label"
    return ImageMoments("image", label, cosine_basis(*shape, frequencies).vectors, centres, radius, lift)


def of(pixels: NDArray[np.uint8], codes: NDArray[np.uint16]) -> Records:
    return Records(len(pixels), {"label": codes}, {}, {"image": pixels})


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any size, basis, centres, radius and lift; images of all kinds, black, white, and opposite ones among them."""
    shape = draw(st.tuples(st.integers(1, 5), st.integers(1, 5), st.sampled_from([1, 3])))
    pixels = draw(hnp.arrays(np.uint8, (draw(st.integers(1, 3)), *shape)))
    ends = np.stack([np.zeros(shape, np.uint8), np.full(shape, 255, np.uint8)])
    pixels = np.concatenate([pixels, ends, 255 - pixels])
    classes = draw(st.integers(1, 3))
    codes = draw(hnp.arrays(np.uint16, len(pixels), elements=st.integers(0, classes - 1)))
    if draw(st.booleans()):
        vectors = cosine_basis(*shape, draw(st.integers(1, 6))).vectors
    else:
        vectors = draw(hnp.arrays(np.int16, (draw(st.integers(1, 6)), math.prod(shape))))
    reach = draw(st.sampled_from([0, 1, 255 * SCALE, 1 << 40, (1 << 52) - 1]))
    centres = draw(hnp.arrays(np.int64, (classes, len(vectors)), elements=st.integers(-reach, reach)))
    label = None if classes == 1 else "label"
    return Case(ImageMoments("image", label, vectors, centres, draw(LENGTHS), draw(LENGTHS)), of(pixels, codes))


@given(case=cases())
def test_the_length_is_at_most_1(case: Case) -> None:
    features = case.map(case.records)
    assert features.shape == (case.records.rows, case.map.dimension)
    assert all(math.fsum(value**2 for value in row) <= case.map.bound**2 for row in features)


@given(case=cases())
def test_no_inner_product_is_negative(case: Case) -> None:
    """They are squares of inner products of u, up to what a float rounds."""
    features, lifted = case.map(case.records), case.map.lifted(case.records)
    products = features @ features.T
    assert products.min() >= -1e-14
    np.testing.assert_allclose(products, (lifted @ lifted.T) ** 2, atol=1e-13)


@given(case=cases())
def test_coefficients_are_those_of_python_s_integers(case: Case) -> None:
    """Multiply, add, take off the centre, cut: no step rounds, whatever the order of the machine's library."""
    unit = round(case.map.coarse_unit * 255 * SCALE)
    lifted = case.map.lifted(case.records)
    codes = case.records.codes["label"] if case.map.label else np.zeros(case.records.rows, dtype=np.uint16)
    for row, image, code in zip(lifted, case.records.images["image"], codes, strict=True):
        flat = [int(value) for value in image.ravel()]
        exact = [
            sum(int(a) * b for a, b in zip(vector, flat, strict=True)) - int(centre)
            for vector, centre in zip(case.map.vectors, case.map.centres[code], strict=True)
        ]
        cut = [abs(value) // unit * (1 if value >= 0 else -1) for value in exact]
        squared = sum(value**2 for value in cut)
        assert squared < 1 << 53
        shorter = min(1.0, case.map.radius / case.map.coarse_unit / math.sqrt(max(squared, 1)))
        length = math.hypot(case.map.lift, case.map.radius)
        expected = np.array(cut, dtype=float) * case.map.coarse_unit * shorter / length
        np.testing.assert_allclose(row[1:], expected, rtol=2e-9, atol=1e-300)
        assert row[0] == pytest.approx(case.map.lift / length, rel=2e-9)


@given(case=cases(), cut=st.integers(0, 8), shuffle=st.randoms(use_true_random=False))
def test_the_same_bits_in_any_batch_and_order(case: Case, cut: int, shuffle: "np.random.Generator") -> None:
    whole = case.map(case.records)
    order = list(range(case.records.rows))
    shuffle.shuffle(order)
    cut = min(max(cut, 1), case.records.rows - 1)
    for part in (slice(0, cut), slice(cut, None), np.array(order, dtype=np.intp)):
        np.testing.assert_array_equal(case.map(case.records.part(part)), whole[part])


@given(case=cases(), others=st.sampled_from([0, 255]))
def test_other_records_do_not_change_a_record_s_bits(case: Case, others: int) -> None:
    pixels, codes = case.records.images["image"], case.records.codes["label"]
    replaced = pixels.copy()
    replaced[1:] = others
    changed = case.map(of(replaced, codes))
    np.testing.assert_array_equal(changed[0], case.map(case.records)[0])


LARGE = (28, 28, 1)
LARGE_PIXELS = np.random.default_rng(0).integers(0, 256, (301, *LARGE), dtype=np.uint8)
LARGE_CODES = (np.arange(301) % 3).astype(np.uint16)


def large() -> ImageMoments:
    centres = np.random.default_rng(1).integers(-5, 6, (3, 49)) * 255 * SCALE
    return moments(LARGE, 7, centres, 5.3, 2.8)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 64, 300])
def test_the_same_bits_in_large_batches(size: int) -> None:
    """Sizes at which the matrix product of the machine's library takes other ways, with other orders of summation."""
    feature_map, records = large(), of(LARGE_PIXELS, LARGE_CODES)
    parts = [feature_map(records.part(slice(start, start + size))) for start in range(0, 301, size)]
    np.testing.assert_array_equal(np.concatenate(parts), feature_map(records))


@settings(max_examples=40)
@given(case=cases(), size=st.integers(1, 8), bits=st.sampled_from([4, 12, 24]))
def test_integer_sums_do_not_depend_on_batches(case: Case, size: int, bits: int) -> None:
    classes = len(case.map.centres)
    label = OneHot("label", classes)
    beside = Concat((Weighted(Labelled.of(case.map, label), math.sqrt(0.9)), Weighted(label, math.sqrt(0.1))))
    for feature_map in (case.map, Labelled.of(case.map, label), beside):
        added = Embedding(feature_map, Grid(bits))
        for start in range(0, case.records.rows, size):
            added.add(case.records.part(slice(start, start + size)))
        expected = quantise(feature_map(case.records), Grid(bits)).sum(axis=0)
        np.testing.assert_array_equal(added.sums(), expected)


def test_large_integer_sums_do_not_depend_on_batches() -> None:
    feature_map, records = Labelled.of(large(), OneHot("label", 3)), of(LARGE_PIXELS, LARGE_CODES)
    order = np.random.default_rng(2).permutation(301)
    found = []
    for size, rows in ((301, np.arange(301)), (17, order), (1, order[::-1])):
        added = Embedding(feature_map, Grid(22))
        for start in range(0, 301, size):
            added.add(records.part(rows[start : start + size]))
        found.append(added.sums())
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_the_features_are_count_first_and_second_moments() -> None:
    """Within the radius nothing is shortened: the sums give back the mean and the products of all images."""
    shape, rng = (3, 2, 1), np.random.default_rng(0)
    basis = cosine_basis(*shape, 3)
    pixels = rng.integers(0, 256, (50, *shape), dtype=np.uint8)
    centre = basis.vectors.astype(np.int64) @ np.full(6, 128)
    feature_map = moments(shape, 3, centre[None], 10.0, 2.0)
    sums = feature_map(of(pixels, np.zeros(50, np.uint16))).sum(axis=0) / feature_map.weights
    first, second = feature_map.pairs
    length = math.hypot(10.0, 2.0)
    v = (pixels.reshape(50, -1).astype(float) - 128) / 255 @ basis.unit.T
    u = np.column_stack([np.full(50, 2.0), v]) / length
    np.testing.assert_allclose(sums, (u.T @ u)[first, second], atol=1e-6)


def test_each_class_has_its_own_centre() -> None:
    shape = (2, 2, 1)
    vectors = cosine_basis(*shape, 2).vectors
    grey = np.full((2, *shape), 100, dtype=np.uint8)
    centres = np.stack([vectors.astype(np.int64) @ np.full(4, 100), np.zeros(4, dtype=np.int64)])
    lifted = moments(shape, 2, centres, 5.0, 1.0).lifted(of(grey, np.array([0, 1], np.uint16)))
    assert (lifted[0, 1:] == 0).all()
    assert lifted[1, 1] == pytest.approx(2 * 100 / 255 / math.hypot(5, 1), rel=1e-3)


def test_a_class_without_a_centre_stops_the_pass() -> None:
    feature_map = moments((2, 2, 1), 2, np.zeros((2, 4), dtype=np.int64), 1.0, 1.0)
    with pytest.raises(IndexError):
        feature_map(of(np.zeros((1, 2, 2, 1), np.uint8), np.array([2], np.uint16)))


@given(case=cases())
def test_files_keep_maps(case: Case) -> None:
    label = OneHot("label", len(case.map.centres))
    for feature_map in (case.map, Weighted(Labelled.of(case.map, label), 0.5)):
        back: FeatureMap = from_nodes(*to_nodes(feature_map))
        assert (back.dimension, back.bound) == (feature_map.dimension, feature_map.bound)
        assert (back.positive, back.nonnegative) == (True, False)
        assert back.image_columns == {"image"}
        assert back.code_columns == feature_map.code_columns
        np.testing.assert_array_equal(back(case.records), feature_map(case.records))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("radius", 0.0, "radius and lift"),
        ("lift", math.nan, "radius and lift"),
        ("radius", math.inf, "radius and lift"),
        ("vectors", np.zeros((4, 4)), "whole numbers"),
        ("centres", np.zeros((1, 4)), "whole numbers"),
        ("centres", np.zeros((1, 3), dtype=np.int64), "one column"),
        ("centres", np.zeros(4, dtype=np.int64), "one column"),
        ("centres", np.full((1, 4), 1 << 53), "too large"),
        ("centres", np.full((1, 4), -(1 << 53)), "too large"),
    ],
)
def test_what_the_proof_does_not_cover_is_refused(name: str, value: object, message: str) -> None:
    good = moments((2, 2, 1), 2, np.zeros((1, 4), dtype=np.int64), 1.0, 1.0)
    facts = {**good.describe(), name: value}
    with pytest.raises(ValueError, match=message):
        ImageMoments(**facts)
    nodes, arrays = to_nodes(good)
    if isinstance(value, np.ndarray):
        arrays[f"0.{name}"] = value
    else:
        nodes[0][name] = value
    with pytest.raises(ArtefactError, match=f"{message}|is out of range"):  # a file's numbers are finite to begin with
        from_nodes(nodes, arrays)


def test_there_is_no_expectation_over_pixels() -> None:
    with pytest.raises(TypeError, match="closed form"):
        large().expectation(Products({}, {}))


@pytest.mark.parametrize("classes", [1, 2])
def test_soft_moments_are_taken_where_the_images_are(classes: int) -> None:
    """First here, then on torch's meta device, which refuses what is elsewhere."""
    size = len(cosine_basis(4, 4, 1, 3).vectors)
    found = moments((4, 4, 1), 3, np.zeros((classes, size), dtype=np.int64), 1.0, 1.0)
    labels = torch.zeros(3, dtype=torch.int64)
    assert found.soft_images(torch.zeros(3, 1, 4, 4), labels).device.type == "cpu"
    assert found.soft_images(torch.zeros(3, 1, 4, 4, device="meta"), labels.to("meta")).device.type == "meta"
    assert found.soft_kinds(torch.zeros(3, 1, 4, 4, device="meta"), labels.to("meta")).device.type == "meta"
