"""Every feature map: its bound before and after the grid, its value, its expectation, its file form."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.curator.clipping import quantise
from pointillist.errors import ArtefactError
from pointillist.features import (
    Concat,
    FeatureMap,
    Labelled,
    OneHot,
    Product,
    Products,
    RandomFourier,
    Records,
    Tiles,
    Weighted,
)
from pointillist.features.serial import from_nodes, to_nodes
from pointillist.privacy.grid import Grid

A, B, Y = OneHot("a", 4), Tiles("b", (0, 0, 1, 2, 1)), OneHot("y", 2)
FOURIER = RandomFourier.draw(("x", "z"), 20, 0.2, seed=3)
MAPS: dict[str, FeatureMap] = {
    "one-hot": A,
    "tiles": B,
    "fourier": FOURIER,
    "fourier of one pair": RandomFourier.draw(("x",), 2, 1.0, seed=1),
    "weighted": Weighted(A, 0.6),
    "product of indicators": Product((A, B)),
    "product with fourier": Product((A, FOURIER)),
    "labelled indicators": Labelled.of(Product((A, B)), Y),
    "labelled fourier": Labelled.of(FOURIER, Y),
    "concat": Concat((Weighted(Product((A, B)), 0.6), Weighted(Labelled.of(FOURIER, Y), 0.8))),
    "concat of many": Concat(tuple(Weighted(m, 0.5) for m in (A, B, Product((A, B)), Product((B, FOURIER))))),
}
SIZES = {"a": 4, "b": 5, "y": 2}

units = st.one_of(
    st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.5, 5e-324, 1 - 2**-53, math.pi / 4, -0.0])
)  # the encoder yields positions in [0, 1]
wild = st.floats(allow_nan=True, allow_infinity=True)


def records(draw_codes: Callable[[int], list[int]], positions: list[float]) -> Records:
    rows = len(positions) // 2
    codes = {name: np.array(draw_codes(size)[:rows], dtype=np.uint16) for name, size in SIZES.items()}
    x = np.array(positions, dtype=np.float64)
    return Records(rows, codes, {"x": x[:rows], "z": x[rows : 2 * rows]})


@st.composite
def batches(draw: st.DrawFn, position: st.SearchStrategy[float] = units) -> Records:
    rows = draw(st.integers(1, 8))
    return records(
        lambda size: draw(st.lists(st.integers(0, size - 1), min_size=rows, max_size=rows)),
        draw(st.lists(position, min_size=2 * rows, max_size=2 * rows)),
    )


@pytest.mark.parametrize("name", MAPS)
@given(batch=batches())
def test_norms_stay_within_the_bound(name: str, batch: Records) -> None:
    features = MAPS[name](batch)
    assert features.shape == (batch.rows, MAPS[name].dimension)
    assert (np.linalg.norm(features, axis=1) <= MAPS[name].bound * (1 + 1e-12)).all()
    if MAPS[name].nonnegative:
        assert (features >= 0).all()


@pytest.mark.parametrize("name", MAPS)
@given(batch=batches())
def test_integer_norms_stay_within_the_limit_on_the_grid(name: str, batch: Records) -> None:
    grid = Grid.dense(MAPS[name].dimension)
    values = quantise(MAPS[name](batch) / max(1.0, MAPS[name].bound), grid)
    assert all(sum(int(v) ** 2 for v in row) <= grid.squared_norm for row in values)


@given(batch=batches(wild))
def test_fourier_features_of_positions_that_are_not_numbers_are_bounded_by_the_grid(batch: Records) -> None:
    with np.errstate(invalid="ignore", over="ignore"):
        values = quantise(FOURIER(batch), Grid(20))
    assert all(sum(int(v) ** 2 for v in row) <= 4**20 for row in values)


@given(batch=batches())
def test_fourier_features_have_norm_one(batch: Records) -> None:
    np.testing.assert_allclose(np.linalg.norm(FOURIER(batch), axis=1), 1.0, rtol=1e-12)


def test_fourier_inner_products_approximate_the_gaussian_kernel() -> None:
    """Mean of 20,000 cos terms: standard error at most 0.0071/sqrt 2; 0.03 is over four of them at 100 pairs."""
    fourier = RandomFourier.draw(("x", "z"), 40_000, 0.5, seed=5)
    rng = np.random.default_rng(6)
    x, y = rng.random((10, 2)), rng.random((10, 2))
    left = fourier(Records(10, {}, {"x": x[:, 0].copy(), "z": x[:, 1].copy()}))
    right = fourier(Records(10, {}, {"x": y[:, 0].copy(), "z": y[:, 1].copy()}))
    distance = ((x[:, None] - y[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(left @ right.T, np.exp(-distance / (2 * 0.5**2)), atol=0.03)


@pytest.mark.parametrize("name", [name for name, m in MAPS.items() if m.indicator])
@given(batch=batches())
def test_cells_say_where_the_one_is(name: str, batch: Records) -> None:
    features, cells = MAPS[name](batch), MAPS[name].cells(batch)
    assert (features.sum(axis=1) == 1).all()
    assert (features[np.arange(batch.rows), cells] == 1).all()


def test_maps_that_are_no_indicators_have_no_cells() -> None:
    with pytest.raises(TypeError, match="not an indicator"):
        FOURIER.cells(Records(0, {}, {}))


def products(count: int, seed: int) -> Products:
    rng = np.random.default_rng(seed)
    sizes = {**SIZES, "x": 6, "z": 3}
    edges = {"x": np.linspace(0, 1, 6), "z": np.linspace(0, 1, 3)}
    spans = {name: (np.append(e[:-1], 0.5), np.append(e[1:], 0.5)) for name, e in edges.items()}  # last: an atom
    return Products({name: rng.dirichlet(np.ones(size), count) for name, size in sizes.items()}, spans)


@pytest.mark.parametrize("name", MAPS)
def test_expectations_are_what_sampling_gives(name: str) -> None:
    """400,000 draws: a feature in [-1, 1] has standard error at most 0.0016, so 0.01 fails less than once in 1e9."""
    distribution = products(2, seed=11)
    rng = np.random.default_rng(12)
    count = 400_000
    expected = MAPS[name].expectation(distribution)
    assert expected.shape == (2, MAPS[name].dimension)
    for k in range(2):
        drawn = {n: rng.choice(p.shape[1], count, p=p[k]) for n, p in distribution.probabilities.items()}
        position = {}
        for column, (low, high) in distribution.spans.items():
            level = drawn[column]
            position[column] = low[level] + rng.random(count) * (high - low)[level]
        batch = Records(count, {n: drawn[n].astype(np.uint16) for n in SIZES}, position)
        np.testing.assert_allclose(MAPS[name](batch).mean(axis=0), expected[k], atol=0.01)


@pytest.mark.parametrize("name", MAPS)
def test_maps_survive_their_file_form(name: str) -> None:
    nodes, arrays = to_nodes(MAPS[name])
    back = from_nodes(nodes, arrays)
    distribution = products(2, seed=13)
    assert type(back) is type(MAPS[name])
    assert back.bound == MAPS[name].bound
    np.testing.assert_array_equal(back.expectation(distribution), MAPS[name].expectation(distribution))


def test_a_map_that_occurs_twice_is_written_once() -> None:
    nodes, _ = to_nodes(Concat((Product((A, B)), Product((A, Y)))))
    assert [node["map"] for node in nodes].count("one-hot") == 2  # A and Y; A is shared


@pytest.mark.parametrize(
    "nodes",
    [
        [],
        [{"map": "pickle", "parts": []}],
        [{"map": "concat", "parts": [5]}],
        [{"map": "weighted", "parts": []}],
        [{"map": "tiles", "parts": [], "column": "a", "tile_of": [0, 2]}],
        [{"map": "one-hot", "parts": []}],
    ],
)
def test_nonsense_nodes_are_refused(nodes: list[dict[str, object]]) -> None:
    with pytest.raises(ArtefactError, match="feature map"):
        from_nodes(nodes, {})


@pytest.mark.parametrize(
    "make",
    [
        lambda: Concat(()),
        lambda: Product(()),
        lambda: Product((A, A)),
        lambda: Weighted(A, -1.0),
        lambda: Weighted(A, math.inf),
        lambda: Tiles("a", (1, 2)),
        lambda: RandomFourier(("x",), np.zeros((2, 2))),
        lambda: RandomFourier(("x",), np.full((2, 1), np.nan)),
        lambda: RandomFourier.draw(("x",), 3, 1.0, seed=0),
        lambda: RandomFourier.draw(("x",), 4, 0.0, seed=0),
    ],
)
def test_impossible_maps_are_refused(make: Callable[[], FeatureMap]) -> None:
    with pytest.raises(ValueError):
        make()


def test_bounds_compose() -> None:
    assert Concat((Weighted(A, 0.6), Weighted(B, 0.8))).bound == pytest.approx(1.0)
    assert Product((Weighted(A, 0.5), Weighted(B, 0.5))).bound == pytest.approx(0.25)
    assert not FOURIER.nonnegative
    assert Product((A, B)).nonnegative


@pytest.mark.parametrize("function", [np.exp, np.log, np.sin, np.cos])
def test_a_number_has_the_same_bits_wherever_it_stands(function: np.ufunc) -> None:
    """A record's integers must not depend on its neighbours; these are the functions that are not exact by IEEE's rules."""
    rng = np.random.default_rng(0)
    values = np.abs(rng.standard_normal(64)) * 10.0 ** rng.integers(-8, 6, 64)
    if function is np.exp:
        values = -np.minimum(values, 700.0)
    alone = np.array([function(values[i : i + 1])[0] for i in range(len(values))])
    for offset in range(17):
        for size in range(1, len(values) - offset + 1):
            part = slice(offset, offset + size)
            assert np.array_equal(function(values[part]), alone[part])
    wide, out = np.repeat(values[:, None], 3, axis=1), np.zeros((len(values), 7))
    function(wide, out=out[:, 2:5])
    assert np.array_equal(out[:, 2:5], np.repeat(alone[:, None], 3, axis=1))
    with np.errstate(all="ignore"):
        for stranger in (np.nan, np.inf, 1e300, 5e-324):
            mixed = np.insert(values, np.arange(0, 64, 5), stranger)
            kept = np.isin(mixed, values)
            assert np.array_equal(function(mixed)[kept], alone)
