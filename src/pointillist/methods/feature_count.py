"""Feature count: how many random Fourier features are worth their noise, from public facts alone.

More features come nearer to the kernel; but each carries noise. With D features (D/2 cos/sin pairs) of records of norm 1,
noise of standard deviation sigma on each feature of the sum over m rows, and M the squared MMD between the data and any
other distribution under the exact kernel, the noisy squared distance N^2 of the two mean embeddings obeys

    E|N^2 - M|  <=  D (sigma/m)^2  +  2 sqrt(2/pi) (sigma/m) sqrt(M)  +  sqrt(2 M (4 - M) / D).

docs/explanation/kernels.md proves it, and says where it differs from Prop. 3.1 of DP-MERF. It is about the *squared* MMD
because that is what a fit minimises, and what is a plain mean over the frequencies. For a labelled embedding D counts
once for each class in the first term; the other two stay as they are.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pointillist.errors import UsageError

FARTHEST = 2.0
"""The largest squared MMD under a kernel with values from 0 to 1."""
LEAST, MOST = 100, 20_000
"""Fewer features than this see too little of any distribution; more cost more time than they bring."""
SHOWN = (100, 300, 1_000, 3_000, 10_000, 20_000)


@dataclass(frozen=True)
class ExpectedError:
    """Bounds on the expected error of the squared MMD, by cause."""

    features: int
    """Random Fourier features, for each class."""
    noise: float
    approximation: float

    @property
    def total(self) -> float:
        return self.noise + self.approximation


def noise_error(features: int, sigma: float, rows: float, *, classes: int = 1, squared_mmd: float = FARTHEST) -> float:
    """How far privacy noise moves the squared distance of two mean embeddings: a bound on the expected absolute error.

    `sigma` is the standard deviation of the noise on each feature of the *sum*, where a record's features have norm 1:
    `plan.sigma(i) / grid.scale`, divided by the weight of the block. It holds the sensitivity already (1 for add-remove, 2
    for replace-one). At `squared_mmd` 0 the bound is the expected error itself; it is never above twice that.
    """
    _check_features(features)
    _check_release(sigma, rows, classes)
    _check_distance(squared_mmd)
    noise = sigma / rows
    return features * classes * noise**2 + 2 * math.sqrt(2 / math.pi * squared_mmd) * noise


def approximation_error(features: int, *, squared_mmd: float = FARTHEST) -> float:
    """How far random frequencies move the squared MMD from the kernel's own: a bound on the expected absolute error."""
    _check_features(features)
    _check_distance(squared_mmd)
    return math.sqrt(2 * squared_mmd * (4 - squared_mmd) / features)


def expected_error(
    features: int, sigma: float, rows: float, *, classes: int = 1, squared_mmd: float = FARTHEST
) -> ExpectedError:
    """Both errors of a release with so many features."""
    noise = noise_error(features, sigma, rows, classes=classes, squared_mmd=squared_mmd)
    return ExpectedError(features, noise, approximation_error(features, squared_mmd=squared_mmd))


def best_features(
    sigma: float,
    rows: float,
    *,
    classes: int = 1,
    squared_mmd: float = FARTHEST,
    least: int = LEAST,
    most: int = MOST,
) -> int:
    """The even number of features from `least` to `most` with the smallest total error.

    a D + b / sqrt(D) is convex in D and smallest at (b / 2a)^(2/3), so one of the two even numbers next to it is best.
    """
    _check_release(sigma, rows, classes)
    _check_distance(squared_mmd)
    low, high = least + least % 2, most - most % 2
    if not 2 <= low <= high:
        raise UsageError(f"least and most must hold an even number of features between them, not {least} and {most}.")

    def total(features: int) -> float:
        return expected_error(features, sigma, rows, classes=classes, squared_mmd=squared_mmd).total

    slope = 2 * classes * (sigma / rows) ** 2
    ideal = (math.sqrt(2 * squared_mmd * (4 - squared_mmd)) / slope) ** (2 / 3) if slope else math.inf
    below = 2 * int(min(max(ideal, low), high) // 2)
    return min((below, min(below + 2, high)), key=total)


def trade_off(
    sigma: float,
    rows: float,
    *,
    classes: int = 1,
    squared_mmd: float = FARTHEST,
    shown: Sequence[int] = SHOWN,
    least: int = LEAST,
    most: int = MOST,
) -> tuple[ExpectedError, ...]:
    """The errors at the best number of features and at those in `shown`, in order: what a plan can show."""
    best = best_features(sigma, rows, classes=classes, squared_mmd=squared_mmd, least=least, most=most)
    return tuple(
        expected_error(features, sigma, rows, classes=classes, squared_mmd=squared_mmd)
        for features in sorted({*shown, best})
    )


def _check_features(features: int) -> None:
    if features < 2 or features % 2:
        raise UsageError(f"features must be even and at least 2, not {features}: they come as cos/sin pairs.")


def _check_release(sigma: float, rows: float, classes: int) -> None:
    if not (math.isfinite(sigma) and sigma > 0):
        raise UsageError(f"sigma must be finite and above 0, not {sigma}.")
    if not (math.isfinite(rows) and rows > 0):
        raise UsageError(f"rows must be above 0, not {rows}.")
    if classes < 1:
        raise UsageError(f"classes must be at least 1, not {classes}: without a label it is 1.")


def _check_distance(squared_mmd: float) -> None:
    if not 0 <= squared_mmd <= FARTHEST:
        raise UsageError(f"squared_mmd must lie between 0 and {FARTHEST:g}, not {squared_mmd}.")
