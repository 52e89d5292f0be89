"""Weights: within their bounds, as near as the bounds allow, and no nearer than the noise makes sense of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, nnls

from pointillist.errors import UsageError
from pointillist.features import Records
from pointillist.features.kernel import Gaussian
from pointillist.features.landmark import Landmarks
from pointillist.generators.points.weighting import KINDS, informed, unexplained, weigh

problems = st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(0, 10_000), st.floats(0, 3))


def problem(points: int, dimension: int, seed: int, far: float) -> tuple[np.ndarray, np.ndarray]:
    """Random features, and a target that lies among them or not."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(points, dimension)) * rng.exponential(size=dimension)
    return features, rng.dirichlet(np.ones(points)) @ features + far * rng.normal(size=dimension)


def distance(features: np.ndarray, weights: np.ndarray, target: np.ndarray) -> float:
    return float(np.square(features.T @ weights - target).sum())


@pytest.mark.parametrize("kind", KINDS)
@given(sizes=problems, sigma=st.sampled_from([0.0, 1e-6, 0.1, 10.0]))
def test_weights_keep_their_bounds(kind: str, sizes: tuple[int, int, int, float], sigma: float) -> None:
    features, target = problem(*sizes)
    weights = weigh(features, target, sigma, kind)
    assert weights.shape == (len(features),)
    assert np.isfinite(weights).all()
    if kind == "probabilities":
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1, abs=1e-9)
    if kind == "bounded":
        assert np.abs(weights).sum() <= 1 + 1e-9


@given(sizes=problems)
def test_probabilities_are_the_best_there_are(sizes: tuple[int, int, int, float]) -> None:
    """Held against non-negative least squares with a very heavy row for the sum."""
    features, target = problem(*sizes)
    heavy = 1e4 * max(1.0, np.abs(features).max())
    other, _ = nnls(np.vstack([features.T, np.full(len(features), heavy)]), np.append(target, heavy))
    best = distance(features, other / other.sum(), target)
    assert distance(features, weigh(features, target, 0.0), target) <= best * 1.001 + 1e-8


@given(sizes=st.tuples(st.integers(1, 8), st.integers(1, 8), st.integers(0, 10_000), st.floats(0, 3)))
def test_bounded_weights_are_the_best_there_are(sizes: tuple[int, int, int, float]) -> None:
    """Held against a general solver, over the weights' positive and negative parts."""
    features, target = problem(*sizes)
    points = len(features)

    def left(halves: np.ndarray) -> float:
        return distance(features, halves[:points] - halves[points:], target)

    def slope(halves: np.ndarray) -> np.ndarray:
        found = 2 * features @ (features.T @ (halves[:points] - halves[points:]) - target)
        return np.concatenate([found, -found])

    whole = {"type": "ineq", "fun": lambda halves: 1 - halves.sum(), "jac": lambda halves: -np.ones(2 * points)}
    start = np.full(2 * points, 0.5 / points)
    solved = minimize(left, start, jac=slope, bounds=[(0, 1)] * (2 * points), constraints=[whole], method="SLSQP")
    assert distance(features, weigh(features, target, 0.0, "bounded"), target) <= solved.fun * 1.001 + 1e-7


@given(sizes=problems)
def test_signed_weights_are_the_shortest_least_squares_solution(sizes: tuple[int, int, int, float]) -> None:
    features, target = problem(*sizes)
    expected = np.linalg.lstsq(features.T, target, rcond=1e-10)[0]
    found = weigh(features, target, 0.0, "signed")
    assert distance(features, found, target) == pytest.approx(distance(features, expected, target), abs=1e-7)
    assert np.linalg.norm(found) <= np.linalg.norm(expected) * 1.001 + 1e-9


@pytest.mark.parametrize("kind", ["probabilities", "bounded"])
@given(sizes=problems, sigma=st.floats(0.01, 1))
def test_a_fit_goes_no_further_than_the_noise_explains(kind: str, sizes, sigma: float) -> None:
    features, target = problem(*sizes)
    allowed = unexplained(len(target), sigma)
    start = np.full(len(features), 1 / len(features))
    weights = weigh(features, target, sigma, kind)
    best = distance(features, weigh(features, target, 0.0, kind), target)
    assert distance(features, weights, target) <= max(allowed, best * 1.001 + 1e-8)
    if distance(features, start, target) <= allowed:
        np.testing.assert_allclose(weights, start, atol=1e-12)  # equal weights explain it already: they stay


def smooth(points: int, dimension: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    batch = Records(points, {}, {name: rng.random(points) for name in "abcd"})
    return Landmarks.spanned(Gaussian(tuple("abcd"), (0.3,) * 4), batch, most=dimension)(batch)


def test_more_landmarks_are_not_worse() -> None:
    """The paper's signed weights fit more noise with every landmark; stopping at the noise does not.

    The noise has a seed here: it is no privacy noise.
    """
    rng = np.random.default_rng(3)
    features = smooth(1000, 300)
    true = rng.dirichlet(np.full(1000, 0.3)) @ features
    sigma = 2e-3
    noisy = true + sigma * rng.normal(size=300)
    errors = {
        kind: [
            np.linalg.norm(features.T @ weigh(features[:, :dimension], noisy[:dimension], sigma, kind) - true)
            for dimension in (30, 100, 300)
        ]
        for kind in ("signed", "probabilities")
    }
    assert errors["signed"][-1] > 1.2 * min(errors["signed"])
    assert errors["probabilities"][-1] <= 1.05 * min(errors["probabilities"])
    assert errors["probabilities"][-1] < 0.9 * min(errors["signed"])  # 0.75 to 0.85, as the machine rounds


def test_many_points_are_weighted_as_well() -> None:
    features = smooth(10_000, 200)
    rng = np.random.default_rng(1)
    target = rng.dirichlet(np.full(10_000, 0.1)) @ features + 1e-4 * rng.normal(size=features.shape[1])
    weights = weigh(features, target, 1e-4)
    assert distance(features, weights, target) <= features.shape[1] * 1e-8


def test_the_start_is_where_a_fit_begins() -> None:
    features, target = problem(20, 3, 1, 0.0)
    start = np.random.default_rng(2).dirichlet(np.ones(20))
    far = weigh(features, target, 0.0, start=start)
    assert distance(features, far, target) < 1e-6
    easy = weigh(features, start @ features, 1.0, start=start)
    np.testing.assert_allclose(easy, start, atol=1e-12)


def test_one_point_and_equal_points_are_fine() -> None:
    np.testing.assert_array_equal(weigh(np.ones((1, 3)), np.zeros(3), 0.1), [1.0])
    np.testing.assert_allclose(weigh(np.ones((4, 3)), np.zeros(3), 0.0), np.full(4, 0.25))


def test_mistakes_are_refused() -> None:
    with pytest.raises(UsageError, match="probabilities, bounded, signed"):
        weigh(np.ones((2, 2)), np.ones(2), 0.1, "heavy")  # type: ignore[arg-type]
    for features, target, sigma in (
        (np.ones((2, 2)), np.ones(3), 0.1),
        (np.full((2, 2), np.nan), np.ones(2), 0.1),
        (np.ones((2, 2)), np.ones(2), -1.0),
    ):
        with pytest.raises(ValueError, match=r"weigh needs|must be finite"):
            weigh(features, target, sigma)


def sample_and_target(
    rng: np.random.Generator, sigma: float, shift: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A hundred public rows' features, the noisy mean of the private ones, and the true one."""
    scales = np.array([1.0, 0.3, 0.1, 0.01, 0.0])
    public = shift + rng.normal(size=(100, 5)) * scales
    return public, sigma * rng.normal(size=5), np.zeros(5)


@pytest.mark.parametrize("sigma", [1e-4, 0.01, 0.03, 0.3])
def test_private_and_public_rows_together_know_more_than_either(sigma: float) -> None:
    """Mean squared errors over 2,000 draws, to within 20 %: seeds are fixed, so there are no false alarms."""
    rng = np.random.default_rng(0)
    errors = np.zeros(3)
    for _ in range(2000):
        public, noisy, true = sample_and_target(rng, sigma)
        found = informed(public, noisy, sigma)[0], noisy, public.mean(axis=0)
        errors += [np.square(each - true).sum() for each in found]
    assert errors[0] <= 1.2 * min(errors[1:])


def test_public_rows_that_are_no_sample_are_not_believed() -> None:
    rng = np.random.default_rng(1)
    errors = np.zeros(2)
    for _ in range(500):
        public, noisy, true = sample_and_target(rng, 0.01, shift=1.0)
        errors += [np.square(each - true).sum() for each in (informed(public, noisy, 0.01)[0], noisy)]
    assert errors[0] < 3 * errors[1]  # the mean of the public rows is ten thousand times as far


def test_without_noise_the_target_stands() -> None:
    public, noisy, _ = sample_and_target(np.random.default_rng(2), 0.1)
    assert np.array_equal(informed(public, noisy, 0.0)[0], noisy)
    assert informed(public, noisy, 0.1)[1] < 0.1
