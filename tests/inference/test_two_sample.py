"""The two-sample test: as often wrong as it says, and seldom blind."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import pointillist as pt
from pointillist.errors import DataError, UsageError


def test_level_and_bias(known, with_points) -> None:
    """Private rows and a sample drawn alike, with fresh noise each time.

    Rejections at 5 %: their number is below a bound that a coin with chance 7 % exceeds once in 1e7. The squared distance is
    0 on average: within 7 standard errors.
    """
    runs, p_values, squares = 40, [], []
    for seed in range(runs):
        received = with_points(known(800, seed), known(20, 1))
        test = received.two_sample_test(known(400, 10_000 + seed))
        p_values.append(test.p_value)
        squares.append(test.mmd_squared)
        assert test.mmd == pytest.approx(np.sqrt(max(0, test.mmd_squared)))
    assert np.count_nonzero(np.array(p_values) <= 0.05) <= stats.binom.isf(1e-7, runs, 0.07)
    assert np.median(p_values) > 0.1
    assert abs(np.mean(squares)) < 7 * np.std(squares) / np.sqrt(runs)


def test_a_difference_is_seen(known, with_points) -> None:
    """Half a standard deviation of both numbers. The p-value is as small as the simulation allows."""
    received = with_points(known(2_000, 1), known(20, 1), epsilon=3.0)
    test = received.two_sample_test(known(1_000, 2, shift=0.5))
    assert test.p_value < 1e-3
    assert test.mmd > 0.1
    assert received.mmd(known(1_000, 2, shift=0.5)) == test.mmd
    assert test.to_json()["rows"][1] == 1_000


def test_two_releases(known, with_points) -> None:
    """By the features that both measured: the same maps, so all of them."""
    pairs = [[with_points(known(2_000, 10 * run + n), known(50, n), epsilon=3.0) for n in (1, 2)] for run in range(4)]
    one = pairs[0][0]
    far = with_points(known(2_000, 2, shift=0.5), known(50, 4), epsilon=1.0)
    tests = [a.two_sample_test(b) for a, b in pairs]
    alike, unlike = tests[0], one.two_sample_test(far)
    assert max(test.p_value for test in tests) > 0.02  # four independent ones: false alarms below 1e-6
    assert unlike.p_value < 1e-3
    assert unlike.mmd_squared > alike.mmd_squared
    assert alike.dimension == one.embedding.dimension


def test_counts_are_compared_without_writing_features_out(counted: pt.Received, known) -> None:
    near, far = counted.two_sample_test(known(1_000, 5)), counted.two_sample_test(known(1_000, 5, shift=1.0))
    assert far.p_value < 1e-3
    assert far.mmd > 0.2
    assert near.mmd_squared < far.mmd_squared / 2


def test_mistakes_are_named(received: pt.Received, counted: pt.Received, known) -> None:
    with pytest.raises(DataError, match="'kind'"):
        received.two_sample_test(known(10, 1).drop_columns(["kind"]))
    with pytest.raises(UsageError, match="fewer than two rows"):
        received.mmd(known(1, 1))
    with pytest.raises(UsageError, match="is not known"):
        received.mmd(3)
    other = pt.Schema(name="other", columns={"x": pt.Real(min=0, max=1)})
    table = pa.table({"x": np.linspace(0, 1, 50)})
    stranger = pt.receive(pt.release(table, other, epsilon=1.0, method=pt.Mosaic(components=2, steps=3)), rows=50)
    with pytest.raises(UsageError, match="different schemas"):
        received.two_sample_test(stranger)
