"""Descent: what fits by gradient share. A step, a rate that falls, and a loop that looks up now and then. Needs torch."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from pointillist.fitting.checkpoint import restore, store
from pointillist.progress import Progress
from pointillist.training_log import Look, tell

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

    def run(
        self,
        loss: Callable[[int], Tensor],
        chi_squared: Callable[[], float | None],
        explained: float,
        progress: Progress,
    ) -> None:
        """Descend until chi^2 is what the noise explains, or the steps are done; a chi^2 of none ends nothing."""
        first, began = 0, time.monotonic()
        if self.checkpoint is not None and self.checkpoint.exists():
            first = restore(self.checkpoint, self.purpose, self.state, self.optimiser, self.rng)
        for step in range(first, self.steps):
            now = loss(step)
            move(self.optimiser, now)
            if (step + 1) % self.check == 0:
                progress("fit", (step + 1) / self.steps)
                chi2, seconds = chi_squared(), time.monotonic() - began
                done = step + 1 - first
                tell(progress, Look("fit", step + 1, self.steps, now.item(), seconds, done, chi2, explained))
                if chi2 is not None and chi2 <= explained:
                    break
                if self.checkpoint is not None:
                    store(self.checkpoint, self.purpose, step + 1, self.state, self.optimiser, self.rng)
        progress("fit", 1.0)
