"""How near Hermite and random Fourier features come to their kernel: Prop. B.1 of DP-HP, and what lies behind it.

Expectations over normal variables are sums over a fine grid; frequencies come from fixed seeds. No chance is involved.
"""

import math

import numpy as np
import pytest

from pointillist.features import Hermite, RandomFourier, Records

PLACES = np.linspace(-9, 9, 901)
WEIGHTS = np.exp(-(PLACES**2) / 2) / np.exp(-(PLACES**2) / 2).sum()
THIRD = math.sqrt(4 / 3)
"""The length scale at which rho is 1/3."""


def kernel(length: float) -> np.ndarray:
    return np.exp(-((PLACES[:, None] - PLACES) ** 2) / (2 * length**2))


def mean(errors: np.ndarray) -> float:
    """Over X and Y, both N(0, 1)."""
    return float(WEIGHTS @ errors @ WEIGHTS)


def gap(order: int, length: float, scale: float = 1.0) -> np.ndarray:
    """Kernel minus features. The scale changes the features but not the kernel that they approach."""
    features = Hermite("x", order, scale * length).at(scale * PLACES)
    return kernel(length) - features @ features.T


def fitting(length: float) -> tuple[float, float]:
    """The rho and the scale at which Hermite features are orthogonal under N(0, 1)."""
    rho = (2 / (length + math.sqrt(length**2 + 4))) ** 2
    return rho, math.sqrt((1 + rho) / (2 * (1 - rho)))


@pytest.mark.parametrize("order", [0, 1, 2, 5, 9])
def test_hermite_error_of_proposition_b1(order: int) -> None:
    assert Hermite("x", order, THIRD).rho == pytest.approx(1 / 3)
    bound = 3.0**-order / (3 * math.sqrt(2))
    assert math.sqrt(mean(gap(order, THIRD) ** 2)) == pytest.approx(bound, rel=1e-6)  # exact, in the mean square
    assert bound / 4 < mean(np.abs(gap(order, THIRD))) <= bound


@pytest.mark.parametrize("features", [2, 10, 40])
def test_fourier_error_of_proposition_b1(features: int) -> None:
    """The bound holds, but falls as 1/C where the error itself falls as 1/sqrt(C)."""
    squares, sizes = [], []
    for seed in range(200):
        waves = RandomFourier.draw(("x",), features, THIRD, seed=seed)(Records(len(PLACES), {}, {"x": PLACES}))
        error = kernel(THIRD) - waves @ waves.T
        squares.append(mean(error**2))
        sizes.append(mean(np.abs(error)))
    assert np.mean(squares) == pytest.approx(1 / (features * math.sqrt(7)), rel=0.1)
    assert np.mean(sizes) > 0.35 / math.sqrt(features) > 1 / (8 * features)


@pytest.mark.parametrize("length", [0.3, 0.71, THIRD, 7.07])
@pytest.mark.parametrize("order", [0, 2, 6])
def test_the_same_at_any_length_scale(length: float, order: int) -> None:
    rho, scale = fitting(length)
    assert Hermite("x", order, scale * length).rho == pytest.approx(rho)
    expected = math.sqrt((1 - rho) / (1 + rho)) * rho ** (order + 1)
    assert math.sqrt(mean(gap(order, length, scale) ** 2)) == pytest.approx(expected, rel=1e-5, abs=1e-14)


@pytest.mark.parametrize("length", [0.3, THIRD, 3.0])
def test_no_features_do_better_on_normal_data(length: float) -> None:
    """The kernel's eigenvalues under N(0, 1) are (1 - rho) rho^c, and Hermite features keep the largest."""
    rho, _ = fitting(length)
    root = np.sqrt(WEIGHTS)
    values = np.linalg.eigvalsh(root[:, None] * kernel(length) * root)[::-1]
    assert values[:8] == pytest.approx((1 - rho) * rho ** np.arange(8), rel=1e-6)


@pytest.mark.parametrize("length", [0.05, 0.1, 0.2])
def test_the_scale_of_positions_matters(length: float) -> None:
    """Over [0, 1], as a table's positions are."""
    x, order = np.linspace(-0.5, 0.5, 101), 20
    exact = np.exp(-((x[:, None] - x) ** 2) / (2 * length**2))
    errors = []
    for scale in (1.0, 1.7 * math.sqrt(2 * order + 1)):
        features = Hermite("x", order, scale * length).at(scale * x)
        assert np.linalg.norm(features, axis=1).max() <= 1 + 1e-9  # the bound does not depend on it
        errors.append(np.abs(exact - features @ features.T).mean())
    assert errors[0] > 0.05
    assert errors[1] < 0.002
