"""Refits: fresh noise of the stated scale, and intervals around what was measured."""

import math

import numpy as np
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.inference.refitted_intervals import Refits, noisier


def test_fresh_noise_has_the_stated_scale(counted: pt.Received) -> None:
    again = noisier(counted.release, np.random.default_rng(5))
    for before, after in zip(counted.release.measurements, again.measurements, strict=True):
        assert after.sigma == pytest.approx(math.sqrt(2) * before.sigma)
        moved = (after.values - before.values) / before.sigma
        assert moved.std() == pytest.approx(1, abs=6 / math.sqrt(len(moved)))  # seeded: always the same


def test_intervals_move_with_the_rows_and_keep_to_their_bounds(counted: pt.Received) -> None:
    model = counted.model
    refits = Refits.made(counted.release, model=model, refits=2, confidence=0.9, rows=300, seed=0)
    assert [each.table.num_rows for each in refits.sampled] == [300, 300, 300]
    assert refits.sampled[0].table.equals(model.sample_table(300, seed=0))

    def far_out(table: object) -> float:
        return float(np.mean(table["x"].to_numpy() > 1))  # type: ignore[index]

    value, found = refits.interval(far_out, ["x"], (0.0, 1.0))
    assert value == far_out(refits.sampled[0].table)
    assert 0 <= found.low <= found.high <= 1
    _, wider = refits.interval(far_out, ["x"], (0.0, 1.0), unknown=0.05)
    assert wider.high - wider.low > found.high - found.low
    _, open_ = refits.interval(lambda table: math.nan, ["x"], (-1.0, 1.0))
    assert (open_.low, open_.high, open_.error) == (-1.0, 1.0, math.inf)


def test_without_refits_there_is_nothing_to_go_by(counted: pt.Received) -> None:
    none = Refits.made(counted.release, model=counted.model, refits=0, confidence=0.9, rows=None, seed=0)
    assert none.rows == 20_000
    with pytest.raises(UsageError, match="refits are needed"):
        none.require("correlation")
