"""Kernels and landmarks: positive definite, bounded, exact to the bit, and the projection that they claim to be."""

import functools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from pointillist.curator.clipping import quantise
from pointillist.curator.embedding import Embedding
from pointillist.errors import ArtefactError, UsageError
from pointillist.features import Concat, Products, Records, Tiles, Weighted
from pointillist.features.cholesky import pivoted_cholesky
from pointillist.features.kernel import Delta, Gaussian, Kernel, Plus, Times, kernel_from_json
from pointillist.features.landmark import Landmarks
from pointillist.features.serial import from_nodes, to_nodes
from pointillist.privacy.grid import Grid

X, XZ = Gaussian(("x",), (0.2,)), Gaussian(("x", "z"), (0.3, 0.1))
A, A_FLOOR, B = Delta(Tiles("a", (0, 1, 2))), Delta(Tiles("a", (0, 1, 2)), 0.4), Delta(Tiles("b", (0, 0, 1, 2)), 0.7)
KERNELS: dict[str, Kernel] = {
    "gaussian": XZ,
    "delta": A,
    "delta with a floor": A_FLOOR,
    "product": Times((XZ, A_FLOOR, B)),
    "sum": Plus((X, A), (0.5, 0.3)),
    "product of sums": Times((Plus((X, Gaussian(("x",), (0.6,))), (0.7, 0.3)), Plus((A, B), (0.5, 0.5)))),
}


def records(rows: int, seed: int) -> Records:
    """Random rows with some duplicates, and with values at the ends of their range."""
    rng = np.random.default_rng(seed)
    units = {name: rng.choice([0.0, 1.0, 0.5, *rng.random(3 * rows)], rows) for name in ("x", "z")}
    codes = {"a": rng.integers(0, 3, rows).astype(np.uint16), "b": rng.integers(0, 4, rows).astype(np.uint16)}
    return Records(rows, codes, units)


@functools.cache
def landmarks(name: str, rows: int = 60) -> Landmarks:
    return Landmarks.spanned(KERNELS[name], records(rows, 7))


batches = st.builds(records, st.integers(1, 40), st.integers(0, 10_000))
names = pytest.mark.parametrize("name", KERNELS)


@names
@given(batch=batches)
def test_a_kernel_is_symmetric_positive_definite_and_at_most_one(name: str, batch: Records) -> None:
    kernel = KERNELS[name]
    matrix = kernel(batch, batch)
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_allclose(np.diag(matrix), kernel.peak, rtol=1e-12)
    assert kernel.peak <= 1
    assert np.linalg.eigvalsh(matrix).min() > -1e-12 * batch.rows
    np.testing.assert_allclose(sum_of_terms(kernel, batch), matrix, rtol=1e-12)


def sum_of_terms(kernel: Kernel, batch: Records) -> np.ndarray:
    return sum(w * math.prod(factor(batch, batch) for factor in factors) for w, factors in kernel.terms)


@names
def test_a_kernel_comes_back_from_json(name: str) -> None:
    kernel = KERNELS[name]
    assert kernel_from_json(json.loads(json.dumps(kernel.to_json()))) == kernel


def test_values_by_hand() -> None:
    one = Records(1, {"a": np.array([1], np.uint16), "b": np.array([0], np.uint16)}, {"x": np.array([0.1])})
    two = Records(1, {"a": np.array([2], np.uint16), "b": np.array([1], np.uint16)}, {"x": np.array([0.5])})
    assert X(one, two)[0, 0] == pytest.approx(math.exp(-(0.4**2) / (2 * 0.2**2)))
    assert A(one, two)[0, 0] == 0
    assert A_FLOOR(one, two)[0, 0] == 0.4
    assert B(one, two)[0, 0] == 1  # levels 0 and 1 are one tile
    assert (X * A_FLOOR)(one, two)[0, 0] == pytest.approx(0.4 * math.exp(-2))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Gaussian((), ()), "at least one"),
        (lambda: Gaussian(("x",), (0.0,)), "'x'"),
        (lambda: Gaussian(("x", "x"), (0.1, 0.1)), "different columns"),
        (lambda: Delta(Tiles("a", (0, 1)), 1.0), "'a'"),
        (lambda: Times(()), "at least one"),
        (lambda: Times((X, X)), "different columns"),
        (lambda: Plus((X, A), (0.7, 0.4)), "at most 1"),
        (lambda: Plus((X, A), (1.1, -0.1)), "not be negative"),
        (lambda: Landmarks.spanned(Gaussian(("y",), (0.1,)), records(3, 0)), "'y'"),
    ],
)
def test_mistakes_are_named(make, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make()


def test_a_kernel_of_too_many_terms_is_refused() -> None:
    wide = [Plus(tuple(Gaussian((f"x{i}",), (s,)) for s in (0.1, 0.2, 0.3)), (0.3, 0.3, 0.4)) for i in range(6)]
    with pytest.raises(UsageError, match="terms"):
        _ = Times(tuple(wide)).terms


# ---------------------------------------------------------------- pivoted Cholesky


@names
@settings(max_examples=25)
@given(batch=st.builds(records, st.integers(1, 150), st.integers(0, 10_000)), power=st.integers(1, 9))
def test_pivoted_cholesky_reproduces_the_kernel_to_the_tolerance(name: str, batch: Records, power: int) -> None:
    kernel, tolerance = KERNELS[name], 10.0**-power
    found = pivoted_cholesky(kernel, batch, tolerance=tolerance)
    matrix = kernel(batch, batch)
    rest = matrix - found.factor @ found.factor.T
    assert np.diag(rest).max() <= tolerance + 1e-12
    assert np.abs(rest).max() <= tolerance + 1e-12  # by Cauchy and Schwarz: the rest is positive semi-definite
    assert len(set(found.pivots.tolist())) == found.rank
    assert found.missed[-1] == pytest.approx(np.diag(rest).mean(), abs=1e-12)
    assert (np.diff(found.missed) <= 0).all()
    triangle = found.triangle(found.rank)
    np.testing.assert_allclose(triangle @ triangle.T, matrix[np.ix_(found.pivots, found.pivots)], atol=1e-12)


@given(rows=st.integers(1, 80), copies=st.integers(1, 4), seed=st.integers(0, 99))
def test_points_that_are_there_twice_or_do_not_differ_are_landmarks_once(rows: int, copies: int, seed: int) -> None:
    some = records(rows, seed)
    many = some.part(np.tile(np.arange(rows), copies))
    constant = Records(many.rows, many.codes, {"x": np.full(many.rows, 0.25), "z": many.units["z"]})
    for batch in (many, constant):
        found = pivoted_cholesky(XZ, batch, tolerance=1e-8)
        different = len({(x, z) for x, z in zip(batch.units["x"], batch.units["z"], strict=True)})
        assert found.rank <= different


def test_pivots_are_nearly_greedy_and_stop_at_the_most() -> None:
    batch = records(400, 3)
    found = pivoted_cholesky(XZ, batch, tolerance=1e-12, most=100)
    assert found.rank == 100
    matrix = XZ(batch, batch)
    distance = np.ones(batch.rows)
    for rank in range(100):
        assert distance[found.pivots[rank]] >= 0.5 * distance.max() - 1e-9
        distance = np.diag(matrix - found.factor[:, : rank + 1] @ found.factor[:, : rank + 1].T)


# ---------------------------------------------------------------- the map


@names
@given(batch=batches)
def test_norms_stay_within_one_before_and_after_the_grid(name: str, batch: Records) -> None:
    found = landmarks(name)
    features = found(batch)
    assert (np.linalg.norm(features, axis=1) <= 1 + 1e-12).all()
    grid = Grid.dense(found.dimension)
    assert all(sum(int(v) ** 2 for v in row) <= grid.squared_norm for row in quantise(features, grid))


@names
@given(batch=batches)
def test_features_are_the_projection(name: str, batch: Records) -> None:
    """Inner products of features are those of projections: k_x' K^-1 k_y, solved directly."""
    found = landmarks(name)
    features = found(batch) / found.shrink
    base = found.kernel(found.landmarks, found.landmarks)
    alike = found.kernel(batch, found.landmarks)
    direct = alike @ np.linalg.lstsq(base, alike.T, rcond=1e-12)[0]
    np.testing.assert_allclose(features @ features.T, direct, atol=2 * (1 / found.shrink - 1) + 1e-8)
    # The points themselves lie in the span, to the tolerance: their distances are the kernel's.
    own = found(found.points) / found.shrink
    matrix = found.kernel(found.points, found.points)
    np.testing.assert_allclose(own @ own.T, matrix, atol=1e-5 + 2 * (1 / found.shrink - 1))


@names
@given(batch=batches, data=st.data())
def test_features_are_the_same_bits_whatever_stands_beside_a_record(name: str, batch: Records, data) -> None:
    found = landmarks(name)
    whole = found(batch)
    order = np.array(data.draw(st.permutations(range(batch.rows))))
    np.testing.assert_array_equal(found(batch.part(order)), whole[order])
    for row in range(min(batch.rows, 3)):
        np.testing.assert_array_equal(found(batch.part(np.array([row])))[0], whole[row])
    beside = records(batch.rows, data.draw(st.integers(0, 99)))
    mixed = Records(
        2 * batch.rows,
        {column: np.concatenate([codes, beside.codes[column]]) for column, codes in batch.codes.items()},
        {column: np.concatenate([units, beside.units[column]]) for column, units in batch.units.items()},
    )
    np.testing.assert_array_equal(found(mixed)[: batch.rows], whole)


def test_features_are_the_same_bits_in_large_batches_and_wide_maps() -> None:
    """Wide enough for every code path of a matrix product: blocks, tails, one row."""
    points = records(900, 1)
    found = Landmarks.spanned(Times((Gaussian(("x", "z"), (0.02, 0.02)), B)), points, tolerance=1e-4)
    assert found.dimension > 400
    batch = records(5000, 2)
    whole = found(batch)
    for rows in (slice(0, 1), slice(3, 10), slice(100, 133), slice(0, 2600), slice(4097, 5000)):
        part = batch.part(np.arange(batch.rows)[rows])
        np.testing.assert_array_equal(found(part), whole[rows])


def test_the_products_are_exact() -> None:
    """In Python's own integers, which never round."""
    found = landmarks("product")
    batch = records(20, 11)
    alike = np.rint(found.kernel(batch, found.landmarks) * 2**26)
    rows = np.split(found.basis.tolist(), np.cumsum(np.arange(1, found.dimension)))
    for record, features in zip(alike, found(batch), strict=True):
        for row, exponent, feature in zip(rows, found.exponents, features, strict=True):
            whole = sum(int(a) * int(k) for a, k in zip(row, record, strict=False))
            assert feature == whole * math.ldexp(found.shrink, -int(exponent) - 26)
            assert sum(abs(int(a)) for a in row) <= 2**27


def test_landmarks_too_much_alike_are_refused_and_the_remedy_named() -> None:
    line = Records(400, {}, {"x": np.linspace(0, 1, 400)})
    with pytest.raises(UsageError, match="Raise the tolerance"):
        Landmarks.spanned(Gaussian(("x",), (5.0,)), line, tolerance=1e-15)


@names
def test_a_map_comes_back_from_its_file_form_with_the_same_bits(name: str) -> None:
    found = landmarks(name)
    whole = Concat((Weighted(found, 0.8), Weighted(Tiles("a", (0, 0, 0)), 0.6)))
    nodes, arrays = to_nodes(whole)
    again = from_nodes(json.loads(json.dumps(nodes)), arrays)
    batch = records(30, 5)
    np.testing.assert_array_equal(again(batch), whole(batch))
    assert again.code_columns == whole.code_columns
    assert again.unit_columns == whole.unit_columns
    assert max(array.dtype.itemsize * array.size for array in arrays.values()) < 100_000


@pytest.mark.parametrize("damage", ["pivots", "basis", "exponents", "codes", "units", "kernel"])
def test_a_damaged_map_is_refused(damage: str) -> None:
    nodes, arrays = to_nodes(landmarks("product"))
    arrays = {name: array.copy() for name, array in arrays.items()}
    key = next((name for name in arrays if damage in name), "")
    match damage:
        case "pivots" | "codes":
            arrays[key][0] = 60_000
        case "basis":
            arrays[key][-1] = 2**31 - 1
        case "exponents":
            arrays[key] = arrays[key][:-1]
        case "units":
            arrays[key][0] = np.nan
        case "kernel":
            nodes[0]["kernel"] = [{"kernel": "magic"}]
    with pytest.raises(ArtefactError):
        from_nodes(nodes, arrays)


# ---------------------------------------------------------------- expectations


SPANS = {
    "x": (np.array([0.0, 0.5, 0.25]), np.array([0.5, 1.0, 0.25])),  # two bins and an atom
    "z": (np.array([0.0, 0.2]), np.array([0.2, 1.0])),
}
SIZES = {"x": 3, "z": 2, "a": 3, "b": 4}


@names
def test_expectations_are_means_over_rows(name: str) -> None:
    """Against a fine grid over every bin, weighted by the probabilities of all combinations of levels."""
    rng = np.random.default_rng(1)
    probabilities = {column: rng.dirichlet(np.ones(size), 2) for column, size in SIZES.items()}
    found = landmarks(name)
    steps = (np.arange(40) + 0.5) / 40
    places, weights = {}, {}
    for column, (low, high) in SPANS.items():
        places[column] = (low[:, None] + (high - low)[:, None] * steps).ravel()
        weights[column] = np.repeat(probabilities[column], 40, axis=1) / 40
    exact = found.expectation(Products(probabilities, SPANS))
    for which in range(2):
        mean = np.zeros(found.dimension)
        for a in range(3):
            for b in range(4):
                x, z = (grid.ravel() for grid in np.meshgrid(places["x"], places["z"], indexing="ij"))
                share = np.outer(weights["x"][which], weights["z"][which]).ravel()
                codes = {"a": np.full(len(x), a, np.uint16), "b": np.full(len(x), b, np.uint16)}
                part = found(Records(len(x), codes, {"x": x, "z": z}))
                mean += probabilities["a"][which, a] * probabilities["b"][which, b] * (share @ part)
        scale = np.linalg.norm(found._matrix * found._steps * 2**26, 2)
        np.testing.assert_allclose(exact[which], mean, atol=scale * 2e-4)


def test_the_mean_of_a_gaussian_over_a_bin_is_its_integral() -> None:
    narrow, wide = (0.3, 0.3 + 1e-9), (0.1, 0.9)
    spans = {"x": (np.array([narrow[0], wide[0]]), np.array([narrow[1], wide[1]]))}
    points = Records(1, {}, {"x": np.array([0.35])})
    found = X.by_level("x", Products({"x": np.eye(2)}, spans), points)[:, 0]
    for value, (low, high) in zip(found, (narrow, wide), strict=True):
        whole = quad(lambda x: math.exp(-(((x - 0.35) / 0.2) ** 2) / 2), low, high, epsabs=1e-14)[0]
        assert value == pytest.approx(whole / (high - low), rel=1e-8)


def test_a_column_may_be_a_number_and_a_category_at_once() -> None:
    """A number's position and whether it is an atom are not independent: their product is averaged level by level."""
    kernel = Times((X, Delta(Tiles("x", (0, 0, 1)), 0.1)))
    probabilities = {"x": np.array([[0.2, 0.3, 0.5]])}
    point = Records(1, {"x": np.array([2], np.uint16)}, {"x": np.array([0.25])})
    bins = X.by_level("x", Products(probabilities, SPANS), point)[:, 0]
    expected = 0.1 * (0.2 * bins[0] + 0.3 * bins[1]) + 0.5
    assert kernel.expectation(Products(probabilities, SPANS), point)[0, 0] == pytest.approx(expected)


# ---------------------------------------------------------------- in the pass over rows


def test_sums_do_not_depend_on_batches_and_one_record_moves_them_by_at_most_the_scale() -> None:
    found = Concat((Weighted(landmarks("product"), 0.8), Weighted(Tiles("a", (0, 0, 0)), 0.6)))
    grid = Grid.dense(found.dimension)
    batch = records(700, 21)
    whole = Embedding(found, grid)
    whole.add(batch)
    parts = Embedding(found, grid)
    for start in range(0, 700, 37):
        parts.add(batch.part(np.arange(start, min(700, start + 37))))
    np.testing.assert_array_equal(whole.sums(), parts.sums())
    for row in range(0, 700, 50):
        without = Embedding(found, grid)
        without.add(batch.part(np.delete(np.arange(700), row)))
        moved = whole.sums() - without.sums()
        assert sum(int(v) ** 2 for v in moved) <= grid.squared_norm
        assert (moved != 0).any()
