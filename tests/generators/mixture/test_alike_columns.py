"""Alike columns: the correlation of two columns of one quantity, from the product of their signs."""

import numpy as np
import pytest

from pointillist.features import Score, ScoreProducts, Tiles
from pointillist.fitting.evidence import Evidence, ScoreSums
from pointillist.generators.mixture.alike_columns import alike_gaps
from pointillist.generators.trends import Trends, normal_ends

ROWS, LEVELS = 10_000.0, 8
SIGNS = tuple([-1] * 4 + [1] * 4)
TILES = {name: Tiles(name, tuple(range(LEVELS))) for name in ("now", "then")}


def found(product: float, alike: set[frozenset[str]]) -> dict[tuple[int, int], tuple[float, float]]:
    products = ScoreProducts((Score("now", SIGNS), Score("then", SIGNS)), ((0, 1),))
    sums = ScoreSums(products, None, np.array([[product * ROWS]]), 50.0)
    even = np.full(LEVELS, 1 / LEVELS)
    low, high = normal_ends(even, np.arange(LEVELS))
    trends = Trends(np.arange(2), (low, low), (high, high), np.zeros((2, 2)), np.eye(2))
    evidence = Evidence(ROWS, (), (sums,), {})
    return alike_gaps(evidence, TILES, ["now", "then"], trends, np.zeros((2, 2)), {"now": even, "then": even}, alike)


@pytest.mark.parametrize("correlation", [-0.5, 0.3, 0.9])
def test_the_correlation_is_the_sine_of_a_quarter_turn_times_the_product(correlation: float) -> None:
    """Two normal variables lie on the same side as often as their correlation says."""
    gap, noise = found(2 / np.pi * np.arcsin(correlation), {frozenset(("now", "then"))})[0, 1]
    assert gap == pytest.approx(correlation * 0.95, abs=0.05)
    assert 0 < noise < 0.02


def test_other_columns_are_left_alone() -> None:
    assert found(0.5, set()) == {}


def test_scores_that_tell_gaps_from_values_say_nothing_of_a_quantity() -> None:
    """The last level has no order: a score that sets it apart is no side of a middle."""
    gaps = tuple([-1] * (LEVELS - 1) + [1])
    products = ScoreProducts((Score("now", SIGNS), Score("then", gaps)), ((0, 1),))
    sums = ScoreSums(products, None, np.array([[-0.6 * ROWS]]), 50.0)
    share = np.array([0.5 / (LEVELS - 1)] * (LEVELS - 1) + [0.5])
    low, high = normal_ends(share, np.arange(LEVELS - 1))
    trends = Trends(np.arange(2), (low, low), (high, high), np.zeros((2, 2)), np.eye(2))
    shares = {"now": np.full(LEVELS, 1 / LEVELS), "then": share}
    evidence = Evidence(ROWS, (), (sums,), {})
    alike = {frozenset(("now", "then"))}
    assert alike_gaps(evidence, TILES, ["now", "then"], trends, np.zeros((2, 2)), shares, alike) == {}
