"""Checkpoint: the state of a network's fit in one file, so that a fit that was broken off goes on where it was.

Weights, the optimiser's moments and the state of the random numbers; no pickle. Bound to one release, seed and settings.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from pointillist.errors import ArtefactError, UsageError
from pointillist.files import container
from pointillist.files.facts import whole

KIND, FORMAT = "checkpoint", 1
_MOST_STEPS = 1 << 48


def store(
    path: Path,
    purpose: dict[str, Any],
    step: int,
    module: nn.Module,
    optimiser: torch.optim.Optimizer,
    generator: np.random.Generator,
) -> None:
    """Write the state after so many steps, whole or not at all."""
    arrays = {f"weights.{name}": value.cpu().numpy() for name, value in module.state_dict().items()}
    for number, moments in optimiser.state_dict()["state"].items():
        arrays |= {f"moments.{number}.{name}": torch.as_tensor(value).cpu().numpy() for name, value in moments.items()}
    facts = {"purpose": _plain(purpose), "step": step, "random": generator.bit_generator.state}
    container.write(path, container.pack(KIND, FORMAT, facts, arrays))


def restore(
    path: Path,
    purpose: dict[str, Any],
    module: nn.Module,
    optimiser: torch.optim.Optimizer,
    generator: np.random.Generator,
) -> int:
    """Put the state of a file in place; returns the number of steps done."""
    facts, arrays = container.unpack(path, KIND, FORMAT)
    if facts.get("purpose") != _plain(purpose):
        raise UsageError(
            f"{path}: belongs to a fit of another release, or with another seed or settings. Name another file, or "
            "remove this one to begin anew."
        )
    try:
        step = whole(facts, "step", 0, _MOST_STEPS)
        module.load_state_dict(_part(arrays, "weights."))
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in _part(arrays, "moments.").items():
            number, _, kind = name.partition(".")
            moments.setdefault(int(number), {})[kind] = value
        _require_moments(moments, optimiser)
        optimiser.load_state_dict({**optimiser.state_dict(), "state": moments})
        generator.bit_generator.state = facts["random"]
        return step
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError):
        raise ArtefactError(f"{path}: does not hold the state of such a network. Remove it to begin anew.") from None


def _require_moments(moments: dict[int, dict[str, torch.Tensor]], optimiser: torch.optim.Optimizer) -> None:
    """Refuse moments of other weights than the optimiser moves: it would find out in the middle of a step."""
    weights = [each for group in optimiser.param_groups for each in group["params"]]
    for number, found in moments.items():
        shape = weights[number].shape if number >= 0 else None
        if found.keys() != {"step", "exp_avg", "exp_avg_sq"} or found["step"].numel() != 1:
            raise ValueError("moments of another optimiser")
        if not found["exp_avg"].shape == found["exp_avg_sq"].shape == shape or bool((found["exp_avg_sq"] < 0).any()):
            raise ValueError("moments that do not fit the weights")


def _part(arrays: container.Arrays, prefix: str) -> dict[str, torch.Tensor]:
    found = {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
    return {name: torch.as_tensor(value, device="cpu") for name, value in found.items()}


def _plain(value: dict[str, Any]) -> Any:
    """As it comes back from a file."""
    return json.loads(json.dumps(value))
