"""The number of features: both parts of the bound by simulation, and the choice that follows from it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.features import Labelled, OneHot, RandomFourier, Records
from pointillist.methods.feature_count import (
    FARTHEST,
    approximation_error,
    best_features,
    expected_error,
    noise_error,
    trade_off,
)
from pointillist.plan import Block, Plan, Request, Round
from pointillist.privacy.budget import Budget
from pointillist.privacy.grid import Grid
from pointillist.privacy.guarantee import Neighbours
from pointillist.privacy.noise import add_noise

Floats = np.ndarray
sigmas = st.floats(1e-2, 1e3)
rows = st.integers(1, 10**7)
classes = st.integers(1, 20)
distances = st.floats(0, FARTHEST)


def sigma_of(epsilon: float, neighbours: Neighbours, features: int = 100) -> float:
    """The noise on a feature that a real plan with one block of norm 1 asks for."""
    schema = pt.Schema(name="one", rows=1000, columns={"x": pt.Real(min=0, max=1)})
    request = Request(schema, Budget(epsilon, 1e-5), neighbours)
    grid = Grid.dense(features)
    block = Block("random features", 1, features, 1.0, counts=False)
    return Plan.make("test", {}, request, (Round(1.0, (block,), grid),), ()).sigma(0) / grid.scale


def pair(name: str, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Two samples, some of them alike and some not."""
    return {
        "alike": (rng.normal(0, 1, 60), rng.normal(0, 1, 60)),
        "shifted": (rng.normal(0, 1, 60), rng.normal(1, 1, 60)),
        "two modes": (rng.normal(0, 1, 60), rng.choice([-3.0, 3.0], 60) + rng.normal(0, 0.2, 60)),
        "combs": (3.0 * np.arange(40), 3.0 * np.arange(40) + 1.5),
        "far": (np.zeros(1), np.full(1, 30.0)),
    }[name]


LOOSENESS = {"alike": math.inf, "shifted": 15, "two modes": 3, "combs": 3, "far": 2}
"""How far above the error the bound may lie. Smooth distributions that are nearly alike differ at every frequency by
little; the bound must hold for combs as well, which are as near but differ at few frequencies by much."""


def exact_squared_mmd(x: Floats, y: Floats) -> float:
    def mean_kernel(a: Floats, b: Floats) -> float:
        return float(np.exp(-((a[:, None] - b) ** 2) / 2).mean())

    return mean_kernel(x, x) + mean_kernel(y, y) - 2 * mean_kernel(x, y)


def embedding(features: RandomFourier, x: Floats) -> Floats:
    return features(Records(len(x), {}, {"x": x})).mean(axis=0)


class TestNoise:
    @pytest.mark.parametrize("neighbours", list(Neighbours))
    def test_of_equal_tables_is_exact(self, neighbours: Neighbours) -> None:
        """The release's own noise. False alarms once in five million, for each of the two."""
        features, count = 1000, 50
        sigma, grid = sigma_of(1.0, neighbours, features), Grid.dense(features)
        noise = add_noise(np.zeros(features, dtype=np.int64), sigma * grid.scale) / grid.scale / count
        expected = noise_error(features, sigma, count, squared_mmd=0)
        low, high = chi2.ppf([1e-7, 1 - 1e-7], features) / features
        assert low < np.square(noise).sum() / expected < high

    def test_to_replace_a_row_costs_four_times_the_noise(self) -> None:
        """The factor by which the paper and its supplement differ: the sensitivity of the mean is 2/m, not 1/m."""
        added, replaced = (sigma_of(1.0, each) for each in (Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE))
        ratio = noise_error(100, replaced, 1000, squared_mmd=0) / noise_error(100, added, 1000, squared_mmd=0)
        assert ratio == pytest.approx(4, rel=1e-4)

    @pytest.mark.parametrize("distance", [0.001, 0.1, 1.0, 2.0])
    @pytest.mark.parametrize("noise", [0.001, 0.02, 0.3])
    def test_bound_is_at_most_twice_the_error(self, distance: float, noise: float) -> None:
        """A seeded simulation: no chance in it from run to run."""
        rng = np.random.default_rng(0)
        apart = rng.normal(size=40)
        apart *= math.sqrt(distance) / np.linalg.norm(apart)
        noisy = np.square(apart + rng.normal(0, noise, (100_000, 40))).sum(axis=1)
        error = np.abs(noisy - distance).mean()
        bound = noise_error(40, noise * 500, 500, squared_mmd=distance)
        assert 0.99 * error <= bound <= 2.02 * error

    def test_classes_multiply_the_features(self) -> None:
        assert noise_error(100, 3.0, 1000, classes=5) == noise_error(500, 3.0, 1000)


class TestApproximation:
    @pytest.mark.parametrize("features", [60, 200, 1000])
    @pytest.mark.parametrize("name", list(LOOSENESS))
    def test_bound_holds_and_says_something(self, name: str, features: int) -> None:
        """Over 300 draws of the frequencies, from fixed seeds."""
        x, y = pair(name, np.random.default_rng(1))
        exact = exact_squared_mmd(x, y)
        errors = []
        for seed in range(300):
            drawn = RandomFourier.draw(("x",), features, 1.0, seed=seed)
            errors.append(np.square(embedding(drawn, x) - embedding(drawn, y)).sum() - exact)
        error, bound = np.abs(errors).mean(), approximation_error(features, squared_mmd=exact)
        assert error <= bound <= LOOSENESS[name] * error
        assert bound <= approximation_error(features)
        assert abs(np.mean(errors)) < 5 * np.std(errors) / math.sqrt(300)  # no bias

    def test_holds_for_a_labelled_embedding(self) -> None:
        """Two far clusters with a label each, which the other distribution has mostly wrong."""
        rng = np.random.default_rng(2)
        right = rng.integers(0, 2, 60).astype(np.uint16)
        wrong = np.where(rng.random(60) < 0.9, 1 - right, right).astype(np.uint16)
        x = 8.0 * right + rng.normal(0, 0.1, 60)
        weight = (right[:, None] == [0, 1]) / 60 - (wrong[:, None] == [0, 1]) / 60  # by row and class
        exact = float(np.einsum("ic,ij,jc->", weight, np.exp(-((x[:, None] - x) ** 2) / 2), weight))
        errors = []
        for seed in range(300):
            drawn = Labelled.of(RandomFourier.draw(("x",), 100, 1.0, seed=seed), OneHot("y", 2))
            means = [drawn(Records(60, {"y": label}, {"x": x})).mean(axis=0) for label in (right, wrong)]
            errors.append(np.square(means[0] - means[1]).sum() - exact)
        assert np.abs(errors).mean() <= approximation_error(100, squared_mmd=exact) <= 6 * np.abs(errors).mean()
        assert abs(np.mean(errors)) < 5 * np.std(errors) / math.sqrt(300)


@pytest.mark.parametrize("features", [20, 400])
@pytest.mark.parametrize("noise", [0.002, 0.1])
def test_the_whole_bound_holds(features: int, noise: float) -> None:
    """Noise and frequencies together, against the exact kernel, from fixed seeds."""
    rng = np.random.default_rng(3)
    x, y = pair("two modes", rng)
    exact = exact_squared_mmd(x, y)
    errors = []
    for seed in range(400):
        drawn = RandomFourier.draw(("x",), features, 1.0, seed=seed)
        apart = embedding(drawn, x) - embedding(drawn, y) + rng.normal(0, noise, features)
        errors.append(np.square(apart).sum() - exact)
    bound = expected_error(features, noise * len(x), len(x), squared_mmd=exact)
    assert np.abs(errors).mean() <= bound.total <= 4 * np.abs(errors).mean()
    assert bound.total == bound.noise + bound.approximation


class TestBestFeatures:
    @given(
        sigma=sigmas,
        count=rows,
        labels=classes,
        distance=distances,
        least=st.integers(1, 300),
        more=st.integers(2, 900),
    )
    def test_is_the_minimiser(
        self, sigma: float, count: int, labels: int, distance: float, least: int, more: int
    ) -> None:  # fmt: skip
        options = {"classes": labels, "squared_mmd": distance}
        best = best_features(sigma, count, **options, least=least, most=least + more)
        grid = [number for number in range(least, least + more + 1) if number % 2 == 0]
        assert best in grid
        smallest = min(expected_error(number, sigma, count, **options).total for number in grid)
        assert expected_error(best, sigma, count, **options).total <= smallest * (1 + 1e-12)

    @given(sigma=sigmas, count=rows, labels=classes, distance=distances)
    def test_more_noise_asks_for_fewer(self, sigma: float, count: int, labels: int, distance: float) -> None:
        best = best_features(sigma, count, classes=labels, squared_mmd=distance)
        assert best % 2 == 0
        assert 100 <= best <= 20_000
        assert best_features(1.5 * sigma, count, classes=labels, squared_mmd=distance) <= best
        assert best_features(sigma, 2 * count, classes=labels, squared_mmd=distance) >= best
        assert best_features(sigma, count, classes=labels + 1, squared_mmd=distance) <= best

    def test_a_larger_budget_asks_for_more(self) -> None:
        found = [best_features(sigma_of(e, Neighbours.ADD_REMOVE), 1000) for e in (0.1, 0.3, 1.0, 3.0, 10.0)]
        assert found == sorted(found)
        assert found[0] < 500 < found[2] < 5_000 < found[-1]

    def test_to_replace_a_row_asks_for_fewer(self) -> None:
        added, replaced = (
            best_features(sigma_of(1.0, each), 1000) for each in (Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE)
        )
        assert added / replaced == pytest.approx(4 ** (2 / 3), rel=0.01)


def test_the_trade_off_shows_the_best_among_others() -> None:
    found = trade_off(3.73, 1000, classes=2, shown=(100, 1000, 5000))
    counts = [each.features for each in found]
    assert counts == sorted({100, 1000, 5000, best_features(3.73, 1000, classes=2)})
    assert min(found, key=lambda each: each.total).features == best_features(3.73, 1000, classes=2)
    assert [each.noise for each in found] == sorted(each.noise for each in found)
    assert [each.approximation for each in found] == sorted((each.approximation for each in found), reverse=True)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("features", 7), ("features", 0), ("features", -2), ("sigma", 0.0), ("sigma", -1.0), ("sigma", math.nan),
        ("sigma", math.inf), ("rows", 0), ("rows", math.nan), ("classes", 0), ("squared_mmd", -0.1),
        ("squared_mmd", 2.1), ("squared_mmd", math.nan),
    ],
)  # fmt: skip
def test_impossible_facts_are_refused(name: str, wrong: float) -> None:
    right = {"features": 100, "sigma": 3.0, "rows": 1000, "classes": 1, "squared_mmd": 1.0}
    with pytest.raises(UsageError, match=name):
        expected_error(**{**right, name: wrong})  # type: ignore[arg-type]
    if name != "features":
        with pytest.raises(UsageError, match=name):
            trade_off(**{key: value for key, value in {**right, name: wrong}.items() if key != "features"})  # type: ignore[arg-type]


@pytest.mark.parametrize(("least", "most"), [(10, 8), (11, 11), (-4, 0), (0, 10)])
def test_a_range_without_an_even_number_is_refused(least: int, most: int) -> None:
    with pytest.raises(UsageError, match="least and most"):
        best_features(3.0, 1000, least=least, most=most)
