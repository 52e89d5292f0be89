"""Descent: a rate that falls, a step that goes down, and a loop that ends where it is enough and goes on where it was."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from pointillist.fitting.descent import Descent, falling, move


class Place(nn.Module):
    """One number, which is to become 3."""

    def __init__(self) -> None:
        super().__init__()
        self.place = nn.Parameter(torch.zeros(1))

    def loss(self, step: int) -> torch.Tensor:
        return ((self.place - 3.0) ** 2).sum()


def descent(state: Place, checkpoint: Path | None = None, steps: int = 60) -> Descent:
    optimiser = torch.optim.Adam(state.parameters(), lr=0.3)
    return Descent(state, optimiser, np.random.default_rng(0), steps, 10, checkpoint, {"of": "a place"})


def test_rates_fall_from_one_to_almost_nothing() -> None:
    rates = [falling(step, 100) for step in range(101)]
    assert rates[0] == 1.0
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] == pytest.approx(0.01)


def test_a_step_goes_down() -> None:
    state = Place()
    optimiser = torch.optim.SGD(state.parameters(), lr=0.1)
    before = state.loss(0).item()
    move(optimiser, state.loss(0))
    assert state.loss(0).item() < before


def test_it_ends_where_it_is_enough() -> None:
    state, told = Place(), []
    descent(state, steps=1000).run(
        state.loss, lambda: state.loss(0).item(), 0.1, lambda step, fraction: told.append(fraction)
    )
    assert state.loss(0).item() < 0.1
    assert told[-1] == 1.0
    assert len(told) < 20


def test_a_fit_that_was_broken_off_goes_on(tmp_path: Path) -> None:
    whole = Place()
    descent(whole).run(whole.loss, lambda: None, 0.0, lambda step, fraction: None)

    class Broken(Exception):
        pass

    def breaking(step: str, fraction: float) -> None:
        if fraction > 0.5:
            raise Broken

    first, path = Place(), tmp_path / "place.checkpoint"
    with pytest.raises(Broken):
        descent(first, path).run(first.loss, lambda: None, 0.0, breaking)
    again = Place()
    descent(again, path).run(again.loss, lambda: None, 0.0, lambda step, fraction: None)
    assert torch.equal(again.place, whole.place)
