"""Gallery's features: lengths, signs, and what one image can change in integers, for both relations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.galleries import SIDE, point, records

from pointillist.curator.clipping import quantise
from pointillist.curator.embedding import Embedding
from pointillist.features import (
    Concat,
    Constant,
    GalleryMoments,
    GalleryOutside,
    GallerySquares,
    ImageSpectrum,
    Labelled,
    OneHot,
    Records,
    Weighted,
)
from pointillist.features.images.gallery import least_product, positive_count
from pointillist.features.serial import from_nodes, to_nodes
from pointillist.privacy.grid import Grid
from pointillist.privacy.guarantee import Neighbours
from pointillist.privacy.sensitivity import squared_sensitivity

LABEL = OneHot("label", 2)


def moments(
    means: float = 1.0, squares: float = 0.7, counts: float | None = None, *, labelled: bool = True
) -> GalleryMoments:
    weights = np.array([means, positive_count(means, squares) if counts is None else counts, squares])
    one, two, three = (weights / np.linalg.norm(weights)).tolist()
    return GalleryMoments.of(point(), LABEL if labelled else None, (one, two, three))


def whole() -> Concat:
    """As the method measures it."""
    share = 0.9
    shape = (SIDE, SIDE, 1)
    outside = Labelled.of(GalleryOutside(point()), LABEL)
    maps = ((moments(), share), (ImageSpectrum("image", *shape), 0.05), (outside, 0.05))
    return Concat(tuple(Weighted(each, math.sqrt(part)) for each, part in maps))


def pictures() -> Records:
    """Bars, and images that lie as far apart as any: negatives, black, white and noise."""
    rng = np.random.default_rng(5)
    given = records(3, 2)
    bars = given.images["image"]
    more = [
        255 - bars,
        np.zeros_like(bars[:1]),
        np.full_like(bars[:1], 255),
        rng.integers(0, 256, bars[:2].shape, dtype=np.uint8),
    ]
    pixels = np.concatenate([bars, *more])
    codes = (np.arange(len(pixels)) % 2).astype(np.uint16)
    return Records(len(pixels), {"label": codes}, {}, {"image": pixels})


@given(st.floats(0.05, 5), st.floats(0.05, 5), st.floats(0.05, 5))
def test_the_least_inner_product_is_what_a_search_finds(means: float, counts: float, squares: float) -> None:
    s = np.linspace(-1, 1, 2_001)
    found = (counts**2 + means**2 * s + squares**2 * s**2).min()
    assert least_product(means, counts, squares) == pytest.approx(found, rel=1e-5, abs=1e-5)


@given(st.floats(0.05, 5), st.floats(0.05, 5))
def test_the_count_that_makes_products_positive(means: float, squares: float) -> None:
    count = positive_count(means, squares)
    weights = np.array([means, count, squares])
    assert least_product(*(weights / np.linalg.norm(weights)).tolist()) >= 0
    assert least_product(means, 0.99 * count - 1e-3, squares) < 0 or count < 1e-2


def test_positive_is_said_only_where_it_holds() -> None:
    assert moments().positive
    assert moments(labelled=False).positive
    assert not moments(counts=0.3).positive
    assert moments().bound == pytest.approx(1)


@pytest.mark.parametrize("labelled", [True, False])
def test_inner_products_of_images_are_not_negative(labelled: bool) -> None:
    features = moments(labelled=labelled)(pictures())
    assert (features @ features.T).min() > -1e-9
    assert np.linalg.norm(features, axis=1).max() <= 1


def test_opposite_images_would_move_the_sum_farther_without_the_count() -> None:
    """What the bound rests on is needed: with a small count, two images of one class are farther apart than sqrt 2."""
    z = np.linalg.norm(moments(counts=0.05).maps[0](pictures()), axis=1).max()
    least = least_product(*moments(counts=0.05).weights)
    assert z > 0
    assert least < -0.1


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_one_image_moves_the_integer_sum_no_farther_than_is_said(neighbours: Neighbours) -> None:
    features, images = whole(), pictures()
    grid = Grid.dense(features.dimension)
    assert features.positive
    limit = squared_sensitivity(grid.squared_norm, neighbours, None, nonnegative=False, positive=features.dimension)

    def sums(part: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        found = Embedding(features, grid)
        found.add(images.part(part))
        return found.sums()

    every = np.arange(images.rows)
    base = sums(every[1:])
    for number in range(images.rows):
        other = sums(np.append(every[1:], number)) if neighbours is Neighbours.ADD_REMOVE else None
        if other is not None:
            assert int(((other - base) ** 2).sum()) <= limit
        for second in range(images.rows):
            if neighbours is Neighbours.REPLACE_ONE and number < second:
                apart = sums(np.array([number])) - sums(np.array([second]))
                assert int((apart**2).sum()) <= limit


def test_sums_are_the_same_bits_whatever_the_batch() -> None:
    features, images = whole(), pictures()
    grid = Grid.dense(features.dimension)
    together = Embedding(features, grid)
    together.add(images)
    apart = Embedding(features, grid)
    for start in range(0, images.rows, 5):
        apart.add(images.part(slice(start, start + 5)))
    assert np.array_equal(together.sums(), apart.sums())
    assert np.array_equal(quantise(features(images), grid).sum(axis=0), together.sums())


def test_squares_are_the_outer_product() -> None:
    images = records(4, 9)
    z = point()(images)
    squares = GallerySquares(point())
    found = squares(images)
    assert found.shape == (4, squares.dimension)
    assert np.allclose(found @ found.T, (z @ z.T) ** 2)
    assert np.allclose(squares.matrices(found.sum(axis=0)), z.T @ z)


def test_it_is_written_and_read_again() -> None:
    features = whole()
    found = from_nodes(*to_nodes(features))
    assert np.array_equal(found(records(3, 4)), features(records(3, 4)))
    assert found.positive


def test_other_makes_are_refused() -> None:
    own, other = point(), point()
    with pytest.raises(ValueError, match="means, counts and squares"):
        GalleryMoments((Weighted(own, 1.0), Weighted(Constant(), 1.0)))
    for maps in (
        (own, Constant(), GallerySquares(other)),
        (own, LABEL, GallerySquares(own)),
        (Labelled.of(own, OneHot("label", 2)), LABEL, GallerySquares(own)),
        (own, Constant(), own),
    ):
        with pytest.raises(ValueError, match="of the same images"):
            GalleryMoments(tuple(Weighted(each, 0.5) for each in maps))
    with pytest.raises(ValueError, match="gallery-point"):
        GallerySquares.from_description({}, (Constant(),))
