"""Descent: what fits by gradient share. A step, a rate that falls, and a loop that looks up now and then. Needs torch."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from pointillist.fitting.checkpoint import restore, store
from pointillist.progress import Progress

Tensor = torch.Tensor


def falling(step: int, steps: int) -> float:
    """What a rate is multiplied by: from 1 to almost nothing, along half a wave."""
    return 0.505 + 0.495 * math.cos(math.pi * step / steps)


def move(optimiser: torch.optim.Optimizer, loss: Tensor) -> None:
    """One step down the loss."""
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()


@dataclass(frozen=True, eq=False)
class Descent:
    """A fit batch by batch, whose state can be kept in a file: one that was broken off ends where it would have ended."""

    state: nn.Module
    """All that the fit moves."""
    optimiser: torch.optim.Optimizer
    rng: np.random.Generator
    steps: int
    check: int
    """Steps between looks, and between checkpoints."""
    checkpoint: Path | None
    purpose: dict[str, Any]
    """What the fit is of: a checkpoint of another is refused."""

    def run(self, loss: Callable[[int], Tensor], enough: Callable[[], bool], progress: Progress) -> None:
        """Descend until a look says that it is enough, or the steps are done."""
        first = 0
        if self.checkpoint is not None and self.checkpoint.exists():
            first = restore(self.checkpoint, self.purpose, self.state, self.optimiser, self.rng)
        for step in range(first, self.steps):
            move(self.optimiser, loss(step))
            if (step + 1) % self.check == 0:
                progress("fit", (step + 1) / self.steps)
                if enough():
                    break
                if self.checkpoint is not None:
                    store(self.checkpoint, self.purpose, step + 1, self.state, self.optimiser, self.rng)
        progress("fit", 1.0)
