"""Hermite features of images: of length at most 1, from a table, near the kernel; single pixels and groups of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from pointillist.curator.embedding import Embedding
from pointillist.errors import ArtefactError
from pointillist.features import Constant, FeatureMap, ImageHermite, ImageHermiteProducts, Products, Records
from pointillist.features.serial import from_nodes, to_nodes
from pointillist.privacy.grid import Grid

SHAPE = (3, 2, 3)
SINGLE = ImageHermite.spread("image", *SHAPE, 12, 0.2)
PAIRS = ImageHermiteProducts.draw("image", *SHAPE, 9, 0.3, groups=5, size=2, seed=0)
TRIPLES = ImageHermiteProducts.draw("image", *SHAPE, 4, 0.5, groups=2, size=3, seed=1)
MAPS = {"single": SINGLE, "order 0": ImageHermite.spread("image", *SHAPE, 0, 0.2), "pairs": PAIRS, "triples": TRIPLES}


def of(pixels: NDArray[np.uint8]) -> Records:
    return Records(len(pixels), {}, {}, {"image": pixels})


RECORDS = of(np.random.default_rng(0).integers(0, 256, (20, *SHAPE), dtype=np.uint8))


@pytest.mark.parametrize("name", MAPS)
@given(pixels=hnp.arrays(np.uint8, st.tuples(st.integers(1, 4), *map(st.just, SHAPE))))
def test_the_length_is_at_most_1(name: str, pixels: NDArray[np.uint8]) -> None:
    features = MAPS[name](of(pixels))
    assert features.shape == (len(pixels), MAPS[name].dimension)
    assert (np.linalg.norm(features, axis=1) <= MAPS[name].bound + 1e-12).all()
    if MAPS[name].nonnegative:
        assert (features >= 0).all()


def test_inner_products_are_the_sum_kernel() -> None:
    features = ImageHermite.spread("image", *SHAPE, 40, 0.2)(RECORDS)
    flat = RECORDS.images["image"].reshape(20, -1) / 255
    kernel = np.exp(-((flat[:, None] - flat[None]) ** 2) / (2 * 0.2**2)).mean(axis=2)
    np.testing.assert_allclose(features @ features.T, kernel, atol=1e-3)


def test_inner_products_are_the_product_kernel() -> None:
    feature_map = ImageHermiteProducts.draw("image", *SHAPE, 30, 0.3, groups=4, size=2, seed=2)
    features = feature_map(RECORDS)
    flat = RECORDS.images["image"].reshape(20, -1) / 255
    kernel = np.mean(
        [
            np.exp(-((flat[:, None, list(group)] - flat[None, :, list(group)]) ** 2).sum(axis=2) / (2 * 0.3**2))
            for group in feature_map.groups
        ],
        axis=0,
    )
    np.testing.assert_allclose(features @ features.T, kernel, atol=1e-3)


@pytest.mark.parametrize("name", MAPS)
def test_features_of_a_record_do_not_depend_on_its_batch(name: str) -> None:
    whole = MAPS[name](RECORDS)
    for part in (slice(0, 1), slice(7, 13), np.arange(20)[::-1]):
        assert np.array_equal(MAPS[name](RECORDS.part(part)), whole[part])


@pytest.mark.parametrize("name", MAPS)
def test_files_keep_maps(name: str) -> None:
    back = from_nodes(*to_nodes(MAPS[name]))
    assert back == MAPS[name]
    assert back.image_columns == {"image"}
    assert np.array_equal(back(RECORDS), MAPS[name](RECORDS))


def test_groups_are_drawn_by_a_public_seed() -> None:
    same, other = (ImageHermiteProducts.draw("image", *SHAPE, 9, 0.3, groups=5, size=2, seed=s) for s in (0, 1))
    assert same == PAIRS
    assert other != PAIRS
    assert all(len(set(group)) == 2 for group in PAIRS.groups)


@pytest.mark.parametrize("groups", [(), ((0, 1), (2,)), ((0, 18),), ((-1, 2),)])
def test_groups_that_do_not_fit_are_refused(groups: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(ValueError, match="groups must"):
        ImageHermiteProducts("image", *SHAPE, 3, 0.3, 1.0, groups)
    nodes, arrays = to_nodes(PAIRS)
    nodes[0]["groups"] = [list(group) for group in groups]
    with pytest.raises(ArtefactError, match="groups must"):
        from_nodes(nodes, arrays)


def test_refusals() -> None:
    for order, length_scale, scale in ((-1, 0.2, 1.0), (3, 0.0, 1.0), (3, 0.2, float("nan"))):
        with pytest.raises(ValueError, match="must"):
            ImageHermite("image", *SHAPE, order, length_scale, scale)
    for each in MAPS.values():
        with pytest.raises(TypeError, match="no products over pixels"):
            each.expectation(Products({}, {}))


def test_a_constant_counts_records() -> None:
    constant: FeatureMap = Constant()
    assert from_nodes(*to_nodes(constant)) == constant
    assert constant(RECORDS).tolist() == [[1.0]] * 20
    assert constant.expectation(Products({"a": np.ones((3, 1))}, {})).shape == (3, 1)
    embedding = Embedding(constant, Grid.counting())
    embedding.add(RECORDS)
    assert embedding.sums().tolist() == [20 * Grid.counting().scale]
