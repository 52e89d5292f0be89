"""Score layers: slopes that are those of chi^2, and none where the mixture is what was measured."""

import numpy as np
import pytest

from pointillist.features import Score, ScoreProducts, Tiles
from pointillist.fitting.evidence import ScoreSums
from pointillist.generators.mixture.score_layer import ScoreLayer

BASE = {"a": Tiles("a", (0, 0, 1, 2)), "b": Tiles("b", (0, 1)), "y": Tiles("y", (0, 1, 2))}
PLACES = {"a": slice(0, 3), "b": slice(3, 5), "y": slice(5, 8)}
WITHIN = {"a": np.array([0.25, 0.75, 1.0, 1.0]), "b": np.ones(2), "y": np.ones(3)}
SCORES = (Score("a", (-1, 1, 1, 0)), Score("b", (-1, 1)))
ROWS = 1000.0


def mixture(seed: int, count: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    parts = [rng.dirichlet(np.ones(place.stop - place.start), count) for place in PLACES.values()]
    return rng.dirichlet(np.ones(count)).astype(np.float32), np.concatenate(parts, axis=1).astype(np.float32)


def layer(values: float = 100.0) -> ScoreLayer:
    pair = ScoreSums(ScoreProducts(SCORES, ((0, 1),)), None, np.array([[values]]), 20.0)
    label = Tiles("y", (0, 1, 1))
    by_class = ScoreSums(ScoreProducts(SCORES, ((0,), (1,))), label, np.array([[50.0, 10.0], [-30.0, 80.0]]), 15.0)
    return ScoreLayer([pair, by_class], ROWS, BASE, PLACES, WITHIN)


def chi_squared(made: ScoreLayer, weights: np.ndarray, table: np.ndarray) -> float:
    return made.add_slopes(weights, table, np.zeros_like(weights), np.zeros_like(table))


def test_a_mean_is_the_sum_over_levels_within_tiles() -> None:
    assert layer().matrix[:3, 0].tolist() == pytest.approx([0.5, 1.0, 0.0])


def test_slopes_are_those_of_half_of_chi_squared() -> None:
    made, (weights, table) = layer(), mixture(0)
    to_weights, to_table = np.zeros_like(weights), np.zeros_like(table)
    made.add_slopes(weights, table, to_weights, to_table)
    step = 1e-2
    for k, t in ((0, 1), (1, 4), (2, 6)):
        up, down = table.copy(), table.copy()
        up[k, t] += step
        down[k, t] -= step
        slope = (chi_squared(made, weights, up) - chi_squared(made, weights, down)) / (4 * step)
        assert to_table[k, t] == pytest.approx(slope, rel=1e-2, abs=1e-2)
    up, down = weights.copy(), weights.copy()
    up[1] += step
    down[1] -= step
    slope = (chi_squared(made, up, table) - chi_squared(made, down, table)) / (4 * step)
    assert to_weights[1] == pytest.approx(slope, rel=1e-2)


def one_product(value: float) -> ScoreLayer:
    sums = ScoreSums(ScoreProducts(SCORES, ((0, 1),)), None, np.array([[value]]), 1.0)
    return ScoreLayer([sums], ROWS, BASE, PLACES, WITHIN)


def test_what_was_measured_has_no_distance() -> None:
    weights, table = mixture(1)
    means = table @ one_product(0.0).matrix
    exact = one_product(ROWS * float(np.sum(weights * means[:, 0] * means[:, 1])))
    assert chi_squared(exact, weights, table) == pytest.approx(0.0, abs=1e-3)
    assert exact.cells == 1


def test_independent_columns_are_as_far_as_their_product_says() -> None:
    made = layer(values=300.0)
    marginal = np.array([0.5, 0.25, 0.25, 0.5, 0.5, 0.4, 0.3, 0.3])
    weights, table = np.ones(1, dtype=np.float32), marginal[None].astype(np.float32)
    assert made.distance(marginal) == pytest.approx(chi_squared(made, weights, table), rel=1e-5)
