"""Hermite features: Mehler's expansion of a Gaussian kernel, bounded at every order."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial.hermite import hermval

from pointillist.features import Hermite, Product, Products, Records
from pointillist.features.serial import from_nodes, to_nodes

scales = st.floats(0.02, 50)
orders = st.integers(0, 60)


def records(**columns: np.ndarray) -> Records:
    return Records(len(next(iter(columns.values()))), {}, columns)


def gaussian(x: np.ndarray, length: float) -> np.ndarray:
    return np.exp(-((x[:, None] - x) ** 2) / (2 * length**2))


@given(
    order=orders,
    length=st.floats(1e-3, 1e3),
    scale=st.floats(1e-3, 1e3),
    places=st.lists(st.floats(0, 1), min_size=1, max_size=20),
)
def test_no_record_is_longer_than_one(order: int, length: float, scale: float, places: list[float]) -> None:
    for features in (Hermite("x", order, length, scale), Hermite.spread("x", order, length)):
        found = features(records(x=np.array(places)))
        assert found.shape == (len(places), order + 1)
        assert np.isfinite(found).all()
        assert np.linalg.norm(found, axis=1).max() <= 1 + 1e-9


class TestScale:
    @given(order=orders, length=scales, scale=st.floats(0.01, 100), seed=st.integers(0, 99))
    def test_is_the_same_as_scaling_positions_and_length(
        self, order: int, length: float, scale: float, seed: int
    ) -> None:
        x = np.random.default_rng(seed).random(8) - 0.5
        found = Hermite("x", order, length, scale).at(x)
        np.testing.assert_allclose(found, Hermite("x", order, scale * length).at(scale * x), rtol=1e-9, atol=1e-12)

    @pytest.mark.parametrize("scale", [0.5, 1.0, 3.0, 8.0])
    @pytest.mark.parametrize("length", [0.2, 0.5, 2.0])
    def test_keeps_the_kernel(self, length: float, scale: float) -> None:
        """Features differ by scale, but with orders enough they all stand for the same kernel."""
        x = np.linspace(0, 1, 23)
        order = 20
        while True:
            features = Hermite("x", order, length, scale)(records(x=x))
            error = np.abs(features @ features.T - gaussian(x, length)).max()
            if error < 1e-6:
                break
            order *= 2
            assert order <= 1280

    @pytest.mark.parametrize("order", [5, 10, 20, 50])
    def test_that_suits_the_order_makes_the_most_of_it(self, order: int) -> None:
        """Never far worse than no scale, and far better for a kernel that is narrow for the order."""
        x = np.linspace(0, 1, 51)

        def error(features: Hermite, length: float) -> float:
            found = features(records(x=x))
            return float(np.abs(found @ found.T - gaussian(x, length)).mean())

        narrow = 2 / order
        assert error(Hermite.spread("x", order, narrow), narrow) < 0.05 * error(Hermite("x", order, narrow), narrow)
        for length in (0.05, 0.1, 0.3, 1.0, 3.0):
            spread, plain = (make("x", order, length) for make in (Hermite.spread, Hermite))
            assert error(spread, length) < max(1e-3, 1.01 * error(plain, length))

    def test_does_not_reach_beyond_numbers(self) -> None:
        """Orders of 200 and 500, widths from a thousandth of the range to a thousand ranges."""
        for order, length in ((200, 1e-3), (200, 0.05), (500, 0.05), (500, 1e3)):
            found = Hermite.spread("x", order, length)(records(x=np.linspace(0, 1, 101)))
            assert np.isfinite(found).all()
            assert np.linalg.norm(found, axis=1).max() <= 1 + 1e-9

    @pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
    def test_must_be_a_number_above_zero(self, scale: float) -> None:
        with pytest.raises(ValueError, match="scale must be above 0"):
            Hermite("x", 3, 0.1, scale)


@pytest.mark.parametrize("length", [0.3, 1.0, 5.0])
def test_features_are_what_their_definition_says(length: float) -> None:
    """Against the Hermite polynomials themselves, at orders where those do not overflow."""
    x = np.linspace(-0.5, 0.5, 11)
    features = Hermite("x", 12, length)
    rho, found = features.rho, features.at(x)
    for c in range(13):
        norm = 2**c * math.factorial(c) * math.sqrt((1 - rho) / (1 + rho))
        polynomial = hermval(x, [0] * c + [1])
        expected = math.sqrt((1 - rho) * rho**c / norm) * polynomial * np.exp(-rho / (1 + rho) * x * x)
        assert found[:, c] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("length", [0.2, 0.5, 1.0, 10.0])
def test_inner_products_approach_the_kernel_from_below(length: float) -> None:
    x = np.linspace(0, 1, 21)
    errors = []
    for order in (2, 5, 10, 40, 120):
        features = Hermite("x", order, length)(records(x=x))
        gap = gaussian(x, length) - features @ features.T
        assert np.linalg.eigvalsh(gap).min() > -1e-9  # what is left is a kernel too
        errors.append(np.abs(gap).max())
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < (0.02 if length < 0.5 else 1e-6)


def test_nothing_overflows_at_high_order() -> None:
    for length in (0.01, 1.0, 1e4):
        features = Hermite("x", 500, length).at(np.array([-0.5, 0.0, 0.5, 40.0]))
        assert np.isfinite(features).all()


@pytest.mark.parametrize("length", [1e-3, 0.1, 1.0, 100.0, 1e6])
def test_rho_solves_its_equation(length: float) -> None:
    """The textbook form cancels to 0 for wide kernels; this one does not."""
    rho = Hermite("x", 1, length).rho
    assert 0 < rho < 1
    assert rho / (1 - rho * rho) == pytest.approx(1 / (2 * length**2), rel=1e-6)


@given(order=st.integers(0, 30), length=st.floats(0.05, 5), scale=st.floats(0.5, 12), seed=st.integers(0, 99))
def test_expectations_are_means_over_the_bins(order: int, length: float, scale: float, seed: int) -> None:
    """Against a fine midpoint rule."""
    features = Hermite("x", order, length, scale)
    rng = np.random.default_rng(seed)
    edges = np.sort(np.concatenate([[0, 1], rng.random(4)]))
    low, high = np.append(edges[:-1], 0.25), np.append(edges[1:], 0.25)  # five bins and an atom
    shares = rng.dirichlet(np.ones(6), size=2)
    found = features.expectation(Products({"x": shares}, {"x": (low, high)}))
    steps = (np.arange(4000) + 0.5) / 4000
    means = [features.at(a + (b - a) * steps - 0.5).mean(axis=0) for a, b in zip(low, high, strict=True)]
    assert found == pytest.approx(shares @ np.array(means), abs=1e-5)


def test_products_of_columns_are_products_of_kernels() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random(10), rng.random(10)
    both = Product((Hermite("x", 30, 0.5), Hermite("y", 30, 0.7)))(records(x=x, y=y))
    assert both @ both.T == pytest.approx(gaussian(x, 0.5) * gaussian(y, 0.7), abs=1e-3)


@given(order=orders, length=st.floats(1e-3, 1e3), scale=st.floats(1e-3, 1e3))
def test_round_trip(order: int, length: float, scale: float) -> None:
    features = Product((Hermite("x", order, length, scale), Hermite.spread("y", 4, 0.125)))
    nodes, arrays = to_nodes(features)
    assert from_nodes(json.loads(json.dumps(nodes)), arrays) == features


@pytest.mark.parametrize(("order", "length"), [(-1, 1.0), (2, 0.0), (2, -1.0), (2, math.inf), (2, math.nan)])
def test_impossible_settings_are_refused(order: int, length: float) -> None:
    with pytest.raises(ValueError, match="must"):
        Hermite("x", order, length)
