"""Components: probabilities, slopes through the softmax and the pull, and steps that a slope calls for."""

import numpy as np
import pytest

from pointillist.generators.mixture.count_descent import Components

STARTS = np.array([0, 3])
MARGINAL = np.array([0.2, 0.3, 0.5, 0.6, 0.4, 0.0])


def components(count: int = 4, seed: int = 0, bends: float = 0.0) -> Components:
    found = np.zeros(4, dtype=np.float32)
    found[0] = bends
    return Components(MARGINAL, STARTS, found, count, seed)


def test_every_column_adds_up_to_one_and_empty_tiles_stay_empty() -> None:
    weights, table = components().result()
    np.testing.assert_allclose(weights, 0.25)
    np.testing.assert_allclose(table[:, :3].sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(table[:, 3:].sum(axis=1), 1, rtol=1e-6)
    assert (table[:, 5] == 0).all()


def test_the_softmax_slope_is_exact() -> None:
    made = components(1)
    weights, table = made.result()
    slope = np.array([[1.0, -2.0, 0.5, 3.0, 0.0, 7.0]], dtype=np.float32)
    blocks = [np.diag(p) - np.outer(p, p) for p in (table[0, :3].copy(), table[0, 3:].copy())]
    expected = np.concatenate([blocks[0] @ slope[0, :3], blocks[1] @ slope[0, 3:]])
    found, _ = made.slopes(weights, np.zeros(1, np.float32), slope.copy(), 0.0)
    np.testing.assert_allclose(found[0], expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("bends", [0.0, 2.0])
def test_the_slope_of_the_pull_is_exact(bends: float) -> None:
    """Central differences of relative entropy and bends, with a slope in the weights on top."""
    made = components(3, bends=bends)
    tilt = np.array([1.0, -1.0, 0.5], dtype=np.float32)

    def loss() -> float:
        weights, table = made.result()
        entropy = (table * (np.log(np.maximum(table, 1e-12)) - made.log_marginal)).sum(axis=1)
        raised = made.logits - made.log_marginal
        bent = raised[:, 2] - 2 * raised[:, 1] + raised[:, 0]
        return float(weights @ (5.0 * (entropy + bends * bent**2 / 2) + tilt))

    weights, table = made.result()
    found = [each.copy() for each in made.slopes(weights, tilt, np.zeros_like(table), 5.0)]
    for logits, slope in zip((made.logits, made.weight_logits), found, strict=True):
        for place in np.ndindex(logits.shape):
            kept = logits[place]
            logits[place] = kept + 0.01
            up = loss()
            logits[place] = kept - 0.01
            down = loss()
            logits[place] = kept
            empty = len(place) == 2 and place[1] == 5
            assert slope[place] == pytest.approx(0 if empty else (up - down) / 0.02, abs=5e-3)


def test_the_first_step_goes_down_every_slope_by_the_rate() -> None:
    made = components(2)
    before = made.logits.copy()
    slope = np.array([[1.0, -1.0, 9.0, 0.0, -0.1, 0.0]] * 2, dtype=np.float32)
    made.step(slope, np.array([0.5, -3.0], np.float32), 0.1, 0)
    np.testing.assert_allclose(before - made.logits, 0.1 * np.sign(slope), atol=1e-5)
    np.testing.assert_allclose(made.weight_logits, [-0.1, 0.1], atol=1e-6)
