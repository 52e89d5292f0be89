"""Weights: what a stored network learned, put in place. Needs torch."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

_Module = TypeVar("_Module", bound=nn.Module)

_PREFIX = "weights."


def with_weights(module: Callable[[], _Module], arrays: dict[str, NDArray[Any]]) -> _Module:
    """A network with the weights of a file. It takes no more memory than they do, whatever sizes the file speaks of."""
    with torch.device("meta"):  # shapes alone: nothing is taken yet
        made = module()
    wanted = {name: (tuple(each.shape), each.dtype) for name, each in made.state_dict().items()}
    found = {name.removeprefix(_PREFIX): value for name, value in arrays.items() if name.startswith(_PREFIX)}
    weights = {name: torch.as_tensor(value) for name, value in found.items()}
    for name, each in weights.items():
        if each.shape == (1,) and wanted.get(name, ((1,),))[0] == ():
            weights[name] = each[0]  # files know no numbers without a dimension
    if {name: (tuple(each.shape), each.dtype) for name, each in weights.items()} != wanted:
        raise ValueError("the weights do not fit the network")
    if any(name.endswith("running_var") and (value < 0).any() for name, value in found.items()):
        raise ValueError("a variance is below 0")
    made.load_state_dict(weights, assign=True)
    return made.eval()


def stored_weights(module: nn.Module) -> dict[str, NDArray[np.generic]]:
    """The inverse: what of a network goes into a file."""
    return {f"{_PREFIX}{name}": value.numpy() for name, value in module.state_dict().items()}
