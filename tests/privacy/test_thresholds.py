import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.privacy.thresholds import epsilon_slack, threshold


def tail(sigma: float, least: int) -> float:
    """P[Z >= least] of the discrete Gaussian, summed out."""
    reach = math.ceil(12 * sigma)
    weights = {z: math.exp(-z * z / (2 * sigma**2)) for z in range(-reach, reach + 1)}
    return math.fsum(weight for z, weight in weights.items() if z >= least) / math.fsum(weights.values())


@pytest.mark.parametrize("sigma", [3.0, 40.0, 250.0])
@pytest.mark.parametrize("most", [1, 70])
@pytest.mark.parametrize("keys", [1, 30])
@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_counts_of_one_person_hardly_reach_it(sigma: float, most: int, keys: int, delta: float) -> None:
    limit = threshold(sigma, most, keys, delta)
    chance = keys * tail(sigma, limit - most)
    assert chance <= delta
    assert chance >= delta / (3 if sigma >= 40 else 30)  # and it is not far higher than it must be


@given(st.floats(1e-12, 0.5))
def test_the_slack_of_epsilon_is_not_below_what_the_other_side_loses(delta: float) -> None:
    assert math.exp(-epsilon_slack(delta)) <= 1 - delta
    assert epsilon_slack(delta) < 2 * delta


@pytest.mark.parametrize("facts", [(0.0, 1, 1, 0.1), (1.0, 0, 1, 0.1), (1.0, 1, 0, 0.1), (1.0, 1, 1, 0.0)])
def test_what_makes_no_sense_is_refused(facts: tuple[float, int, int, float]) -> None:
    with pytest.raises(ValueError, match="threshold"):
        threshold(*facts)
