"""Image kinds: together of length 1 at most, no negative inner products, nearest centres in whole numbers, the same bits."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from pointillist.curator.clipping import quantise
from pointillist.curator.embedding import Embedding
from pointillist.errors import ArtefactError
from pointillist.features import (
    Concat,
    FirstMoments,
    ImageDistance,
    ImageKinds,
    ImageMoments,
    KindMoments,
    OneHot,
    Product,
    Records,
    SecondMoments,
)
from pointillist.features.images.cosines import SCALE, cosine_basis
from pointillist.features.serial import from_nodes, to_nodes
from pointillist.privacy.grid import Grid

LENGTHS = st.floats(-6, 4).map(lambda power: 10.0**power)


@dataclass(frozen=True, eq=False)
class Case:
    """Moments around several centres of each class, with images for them."""

    moments: ImageMoments
    records: Records
    classes: int

    @property
    def label(self) -> OneHot | None:
        return None if self.moments.label is None else OneHot("label", self.classes)

    @property
    def map(self) -> KindMoments:
        return KindMoments.of(self.moments, self.label)


def of(pixels: NDArray[np.uint8], codes: NDArray[np.uint16]) -> Records:
    return Records(len(pixels), {"label": codes}, {}, {"image": pixels})


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Images of all sorts, opposite ones among them; centres anywhere, some of them the same."""
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 4), st.sampled_from([1, 3])))
    pixels = draw(hnp.arrays(np.uint8, (draw(st.integers(1, 4)), *shape)))
    pixels = np.concatenate([pixels, 255 - pixels, np.zeros((1, *shape), np.uint8)])
    classes, kinds = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    codes = draw(hnp.arrays(np.uint16, len(pixels), elements=st.integers(0, classes - 1)))
    vectors = cosine_basis(*shape, draw(st.integers(1, 4))).vectors
    reach = draw(st.sampled_from([0, 1, 255 * SCALE, 1 << 40]))
    centres = draw(hnp.arrays(np.int64, (classes * kinds, len(vectors)), elements=st.integers(-reach, reach)))
    label = None if classes == 1 else "label"
    return Case(
        ImageMoments("image", label, vectors, centres, draw(LENGTHS), draw(LENGTHS), kinds), of(pixels, codes), classes
    )


@given(case=cases())
def test_the_length_is_at_most_1(case: Case) -> None:
    """Both parts together: that of u, squared."""
    features = case.map(case.records)
    assert features.shape == (case.records.rows, case.map.dimension)
    lengths = np.linalg.norm(features, axis=1)
    assert (lengths <= 1).all()
    np.testing.assert_allclose(lengths, np.linalg.norm(case.moments.lifted(case.records), axis=1) ** 2, atol=1e-9)


@given(case=cases())
def test_no_inner_product_is_negative(case: Case) -> None:
    """<u, u'>^2 for two of one kind, <v, v'>^2 for two of one class, 0 for others."""
    features, u = case.map(case.records), case.moments.lifted(case.records)
    found = features @ features.T
    assert found.min() >= -1e-14
    cells = case.moments.cells(case.records)
    classes = cells // case.moments.kinds
    same_kind, same_class = cells[:, None] == cells, classes[:, None] == classes
    expected = np.where(same_kind, (u @ u.T) ** 2, np.where(same_class, (u[:, 1:] @ u[:, 1:].T) ** 2, 0.0))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_first_moments_alone_can_point_apart() -> None:
    """So the cheap sensitivity is one of the two parts together, and of nothing less."""
    vectors = np.full((1, 1), SCALE, dtype=np.int16)
    moments = ImageMoments("image", None, vectors, np.array([[128 * SCALE]]), 1.0, 0.1)
    pixels = np.array([0, 255], dtype=np.uint8).reshape(2, 1, 1, 1)
    first = FirstMoments(moments)(of(pixels, np.zeros(2, np.uint16)))
    assert first[0] @ first[1] < 0
    assert not FirstMoments(moments).positive
    assert not Concat((FirstMoments(moments), SecondMoments(moments))).positive
    assert KindMoments.of(moments, None).positive


@given(case=cases())
def test_the_kind_is_the_nearest_by_python_s_integers(case: Case) -> None:
    unit = round(case.moments.coarse_unit * 255 * SCALE)
    cut = [[_cut(int(value), unit) for value in row] for row in case.moments.centres]
    codes = case.records.codes["label"] if case.moments.label else np.zeros(case.records.rows, np.uint16)
    found = case.moments.cells(case.records)
    for cell, image, code in zip(found, case.records.images["image"], codes, strict=True):
        flat = [int(value) for value in image.ravel()]
        exact = [sum(int(a) * b for a, b in zip(vector, flat, strict=True)) for vector in case.moments.vectors]
        own = [_cut(value, unit) for value in exact]
        start = int(code) * case.moments.kinds
        distances = [
            sum((a - b) ** 2 for a, b in zip(own, cut[start + kind], strict=True)) for kind in range(case.moments.kinds)
        ]
        expected = 0 if case.moments.kinds == 1 else distances.index(min(distances))
        assert cell == start + expected


def _cut(value: int, unit: int) -> int:
    return abs(value) // unit * (1 if value >= 0 else -1)


@settings(max_examples=40)
@given(case=cases(), size=st.integers(1, 8), bits=st.sampled_from([4, 12, 22]))
def test_integer_sums_do_not_depend_on_batches(case: Case, size: int, bits: int) -> None:
    added = Embedding(case.map, Grid(bits))
    for start in range(0, case.records.rows, size):
        added.add(case.records.part(slice(start, start + size)))
    expected = quantise(case.map(case.records), Grid(bits)).sum(axis=0)
    np.testing.assert_array_equal(added.sums(), expected)


@given(case=cases())
def test_files_keep_maps(case: Case) -> None:
    nodes, arrays = to_nodes(case.map)
    assert sum(name.endswith("vectors") for name in arrays) == 1  # the basis is written once
    back = from_nodes(nodes, arrays)
    assert (back.dimension, back.bound, back.positive, back.nonnegative) == (case.map.dimension, 1.0, True, False)
    assert (back.image_columns, back.code_columns) == (case.map.image_columns, case.map.code_columns)
    np.testing.assert_array_equal(back(case.records), case.map(case.records))


def some() -> ImageMoments:
    return ImageMoments("image", "label", np.full((1, 1), SCALE, np.int16), np.zeros((4, 1), np.int64), 1.0, 1.0, 2)


@pytest.mark.parametrize(
    "maps",
    [
        (),
        (SecondMoments(some()),),
        (Product((ImageKinds(some()), FirstMoments(some()))), Product((OneHot("label", 2), SecondMoments(some())))),
        (Product((OneHot("label", 2), FirstMoments(some()))), Product((OneHot("label", 2), SecondMoments(some())))),
    ],
)
def test_what_the_proof_does_not_cover_is_refused(maps: tuple[Product, ...]) -> None:
    """Moments of different images, first moments by something else than kinds, parts that are missing."""
    with pytest.raises(ValueError, match="KindMoments are"):
        KindMoments(maps)


def test_second_moments_by_another_column_are_refused() -> None:
    moments = some()
    first = Product((ImageKinds(moments), FirstMoments(moments)))
    with pytest.raises(ValueError, match="KindMoments are"):
        KindMoments((first, Product((OneHot("other", 2), SecondMoments(moments)))))
    with pytest.raises(ValueError, match="KindMoments are"):
        KindMoments((first, SecondMoments(moments)))


def test_views_of_other_maps_cannot_be_read() -> None:
    nodes, arrays = to_nodes(ImageKinds(some()))
    nodes[0] = {"map": "constant", "parts": []}
    with pytest.raises(ArtefactError, match="image-moments"):
        from_nodes(nodes, arrays)


@pytest.mark.parametrize("kinds", [0, 3])
def test_every_class_has_the_same_number_of_kinds(kinds: int) -> None:
    with pytest.raises(ValueError, match="same number of centres"):
        ImageMoments("image", None, np.full((1, 1), SCALE, np.int16), np.zeros((4, 1), np.int64), 1.0, 1.0, kinds)


def test_a_class_without_centres_stops_the_pass() -> None:
    with pytest.raises(IndexError):
        some().cells(of(np.zeros((1, 1, 1, 1), np.uint8), np.array([2], np.uint16)))


class TestDistance:
    def test_squared_distances_in_parts_of_the_radius(self) -> None:
        centres = np.array([[0, 0], [255, 0]], dtype=np.uint8)
        pixels = np.array([[255, 255], [255, 51]], dtype=np.uint8).reshape(2, 1, 2, 1)
        feature_map = ImageDistance("image", "label", centres, 2.0)
        found = feature_map(of(pixels, np.array([0, 1], np.uint16)))
        np.testing.assert_allclose(found[:, 0], [2 / 4, 0.2**2 / 4])

    @given(pixels=hnp.arrays(np.uint8, (3, 2, 2, 1)), centre=hnp.arrays(np.uint8, (1, 4)), radius=st.floats(1e-3, 10))
    def test_never_below_0_nor_above_1_and_the_same_in_files(
        self, pixels: NDArray[np.uint8], centre: NDArray[np.uint8], radius: float
    ) -> None:
        feature_map, records = ImageDistance("image", None, centre, radius), of(pixels, np.zeros(3, np.uint16))
        found = feature_map(records)
        assert ((found >= 0) & (found <= 1)).all()
        assert feature_map.nonnegative
        np.testing.assert_array_equal(from_nodes(*to_nodes(feature_map))(records), found)
        np.testing.assert_array_equal(feature_map(records.part(slice(1, 2))), found[1:2])

    @pytest.mark.parametrize("radius", [0.0, -1.0, math.inf, math.nan])
    def test_a_radius_that_cannot_be(self, radius: float) -> None:
        with pytest.raises(ValueError, match="radius"):
            ImageDistance("image", None, np.zeros((1, 4), np.uint8), radius)

    def test_centres_that_cannot_be(self) -> None:
        with pytest.raises(ValueError, match="centres"):
            ImageDistance("image", None, np.zeros((1, 4)), 1.0)  # type: ignore[arg-type]
