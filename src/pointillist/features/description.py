"""Descriptions: arrays among the facts that a file tells of a feature map, read strictly. See `files.facts` for the rest."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def array(facts: Mapping[str, Any], name: str) -> NDArray[Any]:
    """An array of any kind."""
    if not isinstance(facts[name], np.ndarray):
        raise ValueError(f"{name} must be an array")
    return np.asarray(facts[name])


def floats(facts: Mapping[str, Any], name: str) -> NDArray[np.float64]:
    """An array of numbers with fractions."""
    found = array(facts, name)
    if found.dtype.kind != "f":
        raise ValueError(f"{name} must be numbers with fractions")
    return found.astype(np.float64)
