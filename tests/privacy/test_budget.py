"""Budgets that are none are refused, with a word on what would be one."""

import math

import pytest

from pointillist.errors import BudgetError
from pointillist.privacy.budget import Budget


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf])
def test_impossible_epsilons_are_refused(epsilon: float) -> None:
    with pytest.raises(BudgetError, match="epsilon must be"):
        Budget(epsilon, 1e-5)


@pytest.mark.parametrize("delta", [0.0, 1.0, 2.0, -0.1, math.nan])
def test_impossible_deltas_are_refused(delta: float) -> None:
    with pytest.raises(BudgetError, match="delta must"):
        Budget(1.0, delta)


def test_an_epsilon_that_protects_nobody_is_refused() -> None:
    with pytest.raises(BudgetError, match="protects nobody"):
        Budget(501.0)
    assert Budget(500.0).delta == 1e-5
