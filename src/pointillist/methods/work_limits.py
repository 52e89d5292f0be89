"""Work limits: how much work a file from a stranger may ask of whoever fits it."""

from collections.abc import Mapping
from typing import Any

_MOST = {
    "components": 20_000,
    "points": 1_000_000,
    "steps": 1_000_000,
    "batch": 100_000,
    "breadth": 10_000,
    "noise": 10_000,
}
"""What a release may ask of whoever fits it; who passes a method of their own may ask for more."""


def check_work(options: Mapping[str, Any]) -> None:
    """Refuse an unreasonable amount of work."""
    for name, value in options.items():
        if isinstance(value, Mapping):
            check_work(value)
        elif name in _MOST and isinstance(value, int | float) and value > _MOST[name]:
            raise ValueError(f"{name} = {value:g} is more work than a release may ask for")
