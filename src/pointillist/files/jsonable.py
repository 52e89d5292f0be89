"""Jsonable: values as JSON can hold them."""

import math
from typing import Any


def finite(value: Any) -> Any:
    """Dictionaries, lists and plain values alone. JSON has no infinity: what is beyond all bounds is null."""
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
