"""Positive kernels: how far replacing one record moves an integer sum, whatever rounding does to inner products."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

import pointillist as pt
from pointillist.curator.clipping import quantise
from pointillist.curator.embedding import Embedding
from pointillist.features import Concat, FeatureMap, ImageMoments, Labelled, OneHot, Records, Weighted
from pointillist.features.images.cosines import cosine_basis
from pointillist.plan import Block, Round
from pointillist.privacy.grid import Grid
from pointillist.privacy.guarantee import Neighbours
from pointillist.privacy.sensitivity import squared_sensitivity

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SHAPE, MIDDLE = (4, 3, 1), 128
VECTORS = cosine_basis(*SHAPE, 3).vectors
LABEL = OneHot("label", 2)


def allowed(grid: Grid, dimension: int, neighbours: Neighbours = Neighbours.REPLACE_ONE, rows: int = 1) -> int:
    person = None if rows == 1 else pt.Person(column="id", max_rows=rows)
    return squared_sensitivity(grid.squared_norm, neighbours, person, nonnegative=False, positive=dimension)


def distance(first: Integers, second: Integers) -> int:
    return sum((int(a) - int(b)) ** 2 for a, b in zip(first, second, strict=True))


# --- any features, as long as no inner product is negative ---


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Floats, Floats, Grid]:
    """Two vectors whose inner product is not negative, on a grid that may be very coarse; some are over the limit."""
    size = draw(st.integers(1, 40))
    entries = st.one_of(st.floats(-1, 1, width=32), st.sampled_from([0.0, 0.25, -0.25, 0.999, -0.999]))
    a, b = (draw(hnp.arrays(np.float64, size, elements=entries)) for _ in range(2))
    if sum(Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)) < 0:
        b = -b
    shrunk = draw(st.sampled_from([1.0, 0.5, 2.0**-4]))
    return a * shrunk, b * shrunk, Grid(draw(st.integers(1, 20)))


def straddling() -> tuple[Floats, Floats, Grid]:
    """36 entries that rounding takes apart, and one that is opposite already: N = 8, D = 37."""
    a, b = np.ones(37), np.full(37, 0.99)
    a[0], b[0] = 5, -5
    return a / 8, b / 8, Grid(3)


@settings(max_examples=200)
@example(pair=straddling())
@given(pair=pairs())
def test_rounding_stays_within_the_slack(pair: tuple[Floats, Floats, Grid]) -> None:
    first, second, grid = pair
    a, b = quantise(np.stack([first, second]), grid)
    slack, norm = 3 * math.sqrt(len(first)), grid.scale
    assert int(a @ b) >= -2 * slack * norm - slack**2
    assert distance(a, b) <= allowed(grid, len(first))


@settings(max_examples=200)
@given(pair=pairs())
def test_integers_are_near_a_multiple_of_the_features(pair: tuple[Floats, Floats, Grid]) -> None:
    """The step of the proof: q = t f + r with t >= 0 and ||r|| < 3 sqrt D, also where q was clipped to the limit."""
    for features in pair[:2]:
        grid = pair[2]
        rounded = np.trunc(features * grid.scale).astype(np.int64)
        squared = int(rounded @ rounded)
        factor = Fraction(1)
        if squared > grid.squared_norm:
            factor = Fraction(grid.scale, math.isqrt(squared - 1) + 1)
        rest = [
            int(q) - factor * grid.scale * Fraction(f)
            for q, f in zip(quantise(features[None], grid)[0], features, strict=True)
        ]
        assert all(abs(each) < 2 for each in rest)
        assert sum(each**2 for each in rest) < 9 * len(features)


def test_without_the_slack_the_promise_would_break() -> None:
    """A fact about the grid, not an excuse: real vectors at a right angle, and integers further apart than sqrt 2 N."""
    first, second, grid = straddling()
    assert first @ second > 0
    assert max(first @ first, second @ second) <= 1
    a, b = quantise(np.stack([first, second]), grid)
    assert distance(a, b) > 2 * grid.squared_norm
    assert distance(a, b) <= allowed(grid, 37)


# --- the formula ---


@given(squared=st.integers(1, 1 << 52), dimension=st.integers(1, 1 << 24), rows=st.integers(1, 9))
def test_the_formula_is_on_the_safe_side(squared: int, dimension: int, rows: int) -> None:
    """2 N^2 + 4 e N + 2 e^2 with e = 3 sqrt D and N a root: squares of both roots bound the rounded ones from below."""
    person = pt.Person(column="id", max_rows=rows)
    found = squared_sensitivity(squared, Neighbours.REPLACE_ONE, person, nonnegative=False, positive=dimension)
    assert found % rows**2 == 0
    each = found // rows**2
    if each < 4 * squared:
        # each - 2 N^2 - 2 e^2 >= 4 e N, squared: in whole numbers, as e^2 = 9 D and N^2 are whole.
        rest = each - 2 * squared - 18 * dimension
        assert rest >= 0
        assert rest**2 >= 16 * 9 * dimension * squared
    assert 2 * squared <= each <= 4 * squared


def test_it_never_costs_more_than_a_map_of_no_kind() -> None:
    assert allowed(Grid(2), 10**6) == 4 * 4**2


@pytest.mark.parametrize("rows", [1, 3])
def test_adding_or_removing_costs_the_same_as_ever(rows: int) -> None:
    assert allowed(Grid(24), 1000, Neighbours.ADD_REMOVE, rows) == rows**2 * 4**24


def test_nonnegative_features_need_no_slack() -> None:
    found = squared_sensitivity(4**24, Neighbours.REPLACE_ONE, None, nonnegative=True, positive=1000)
    assert found == 2 * 4**24


def test_on_the_grids_in_use_it_is_nearly_sqrt_2() -> None:
    """Digits: 196 coefficients, ten classes."""
    dimension = 197 * 198 // 2 * 10
    grid = Grid.dense(dimension)
    assert 1 < math.sqrt(allowed(grid, dimension) / (2 * grid.squared_norm)) < 1.001


def test_a_round_hands_its_dimension_on() -> None:
    """All coordinates of the plan, not only those of one class."""
    schema = pt.Schema(name="s", columns={"a": pt.Boolean()})
    block = Block("moments", 1, 5000, 1.0, counts=False)
    squared = {
        positive: Round(1.0, (block, block), Grid(20), positive=positive).sensitivity(Neighbours.REPLACE_ONE, schema)
        ** 2
        for positive in (True, False)
    }
    assert squared[True] == pytest.approx(allowed(Grid(20), 10_000), rel=1e-12)
    assert squared[False] == pytest.approx(4 * 4**20, rel=1e-12)


# --- the maps of images that make use of it ---

MAPS: dict[str, FeatureMap] = {}
for _name, _radius, _lift in (("even", 0.4, 0.4), ("long", 1.3, 0.2), ("short", 0.1, 1.0), ("wide", 50.0, 3.0)):
    _centre = VECTORS.astype(np.int64) @ np.full(12, MIDDLE)
    _centres = np.stack([_centre, _centre // 2])
    _moments = ImageMoments("image", "label", VECTORS, _centres, _radius, _lift)
    MAPS[f"{_name}, one sum"] = _moments
    MAPS[f"{_name}, by class"] = Labelled.of(_moments, LABEL)
    MAPS[f"{_name}, beside counts"] = Concat(
        (Weighted(Labelled.of(_moments, LABEL), math.sqrt(0.8)), Weighted(LABEL, math.sqrt(0.2)))
    )

images = st.one_of(
    hnp.arrays(np.uint8, SHAPE),
    hnp.arrays(np.uint8, SHAPE, elements=st.sampled_from([0, MIDDLE - 1, MIDDLE, MIDDLE + 1, 255])),
)
record = st.tuples(images, st.integers(0, 1))
Record = tuple[NDArray[np.uint8], int]


def total(feature_map: FeatureMap, grid: Grid, records: list[Record]) -> Integers:
    embedding = Embedding(feature_map, grid)
    if records:
        pixels = np.stack([pixels for pixels, _ in records])
        codes = np.array([code for _, code in records], dtype=np.uint16)
        embedding.add(Records(len(records), {"label": codes}, {}, {"image": pixels}))
    return embedding.sums()


def opposite(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """As far from the centre the other way, as far as whole pixels go."""
    return np.clip(2 * MIDDLE - image.astype(np.int64), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("name", MAPS)
@settings(max_examples=40)
@given(old=record, new=record, bits=st.sampled_from([3, 8, 16, 24]))
def test_replacing_an_image_moves_the_sum_by_at_most_the_sensitivity(
    name: str, old: Record, new: Record, bits: int
) -> None:
    """The new image is any, the opposite of the old one in its class, or the same one in the other class."""
    feature_map, grid = MAPS[name], Grid(bits)
    before = total(feature_map, grid, [old])
    for each in (new, (opposite(old[0]), old[1]), (old[0], 1 - old[1]), (opposite(old[0]), 1 - old[1])):
        after = total(feature_map, grid, [each])
        assert distance(before, after) <= allowed(grid, feature_map.dimension)


@pytest.mark.parametrize("name", MAPS)
@settings(max_examples=20)
@given(others=st.lists(record, max_size=4), old=record, new=record)
def test_neighbouring_sets_are_within_the_sensitivity(
    name: str, others: list[Record], old: Record, new: Record
) -> None:
    feature_map = MAPS[name]
    grid = Grid.dense(feature_map.dimension)
    without = total(feature_map, grid, others)
    before, after = (total(feature_map, grid, [*others, each]) for each in (old, new))
    added = allowed(grid, feature_map.dimension, Neighbours.ADD_REMOVE)
    assert distance(before, without) <= added == grid.squared_norm
    assert distance(before, after) <= allowed(grid, feature_map.dimension)
    # The sum moves by the record's own integers: nobody else's have changed.
    np.testing.assert_array_equal(before - without, total(feature_map, grid, [old]))


def test_opposite_images_reach_the_sensitivity() -> None:
    """Opposite and over the radius, with a lift as long as the radius: at a right angle, so the bound is tight."""
    pattern = np.where(np.arange(12).reshape(SHAPE) % 2 == 0, 1, -1)
    image = (MIDDLE + 127 * pattern).astype(np.uint8)
    feature_map = MAPS["even, one sum"]
    grid = Grid.dense(feature_map.dimension)
    moved = distance(total(feature_map, grid, [(image, 0)]), total(feature_map, grid, [(opposite(image), 0)]))
    assert 0.9999 * 2 * grid.squared_norm < moved <= allowed(grid, feature_map.dimension)


def test_an_image_in_another_class_reaches_the_sensitivity() -> None:
    """Over the radius around both centres."""
    image = np.zeros(SHAPE, dtype=np.uint8)
    feature_map = MAPS["even, by class"]
    grid = Grid.dense(feature_map.dimension)
    moved = distance(*(total(feature_map, grid, [(image, code)]) for code in (0, 1)))
    assert 0.9999 * 2 * grid.squared_norm < moved <= allowed(grid, feature_map.dimension)


def test_integer_features_do_have_negative_inner_products() -> None:
    """So the slack is there for a reason, on images as well: opposite ones, on a coarse grid."""
    rng = np.random.default_rng(0)
    feature_map, grid, least = MAPS["even, one sum"], Grid(4), 0
    for _ in range(300):
        image = rng.integers(0, 256, SHAPE).astype(np.uint8)
        first, second = (total(feature_map, grid, [(each, 0)]) for each in (image, opposite(image)))
        least = min(least, int(first @ second))
    assert least < 0
