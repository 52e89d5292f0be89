"""Rejection: records that meet a condition, by trial, and words where trials do not find them."""

import numpy as np
import pytest

from pointillist.errors import UsageError
from pointillist.records import Records
from pointillist.sampling.rejection import Rejection


class Coins:
    """Level 1 with a chance."""

    def __init__(self, chance: float):
        self.chance = chance

    def sample(self, count: int, rng: np.random.Generator) -> Records:
        return Records(count, {"coin": (rng.random(count) < self.chance).astype(np.uint16)}, {})


def test_every_record_meets_the_condition() -> None:
    found = Rejection(Coins(0.1), {"coin": np.array([0.0, 1.0])}).sample(500, np.random.default_rng(0))
    assert found.rows == 500
    assert found.codes["coin"].all()


def test_a_level_may_meet_it_in_part() -> None:
    """One half of level 0 and all of level 1: a third of an even coin is left at 0; six deviations of 10,000 are 0.03."""
    found = Rejection(Coins(0.5), {"coin": np.array([0.5, 1.0])}).sample(10_000, np.random.default_rng(0))
    assert np.mean(found.codes["coin"]) == pytest.approx(2 / 3, abs=0.03)


def test_what_hardly_ever_comes_is_refused_in_words() -> None:
    never = Rejection(Coins(0.0), {"coin": np.array([0.0, 1.0])})
    assert never.probability(np.random.default_rng(0)) == 0
    with pytest.raises(UsageError, match="hardly ever makes a row that meets the condition"):
        never.sample(1, np.random.default_rng(0))
