"""Facts: values that came in a file, perhaps from a stranger, read strictly.

A truth value is no number, a number with a fraction is not whole, and everything has its limits. What does not hold is a
`ValueError` that names the fact; `artefact.sound` adds the file.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

_Value = TypeVar("_Value")

LONGEST = 1 << 16
"""Letters of a name."""


def whole(facts: Mapping[str, Any], name: str, low: int, high: int) -> int:
    """A whole number from `low` to `high`."""
    value = facts[name]
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{name} must be a whole number from {low} to {high}")
    return value


def real(facts: Mapping[str, Any], name: str, low: float = -math.inf, high: float = math.inf) -> float:
    """A finite number from `low` to `high`."""
    value = facts[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number")
    value = float(value)
    if not (math.isfinite(value) and low <= value <= high):
        raise ValueError(f"{name} is out of range")
    return value


def text(facts: Mapping[str, Any], name: str, longest: int = LONGEST) -> str:
    """A text of at most so many letters."""
    value = facts[name]
    if not isinstance(value, str) or len(value) > longest:
        raise ValueError(f"{name} must be a text of at most {longest:,} letters")
    return value


def flag(facts: Mapping[str, Any], name: str) -> bool:
    """True or false."""
    if not isinstance(facts[name], bool):
        raise ValueError(f"{name} must be true or false")
    return bool(facts[name])


def listed(
    facts: Mapping[str, Any], name: str, read: Callable[[Mapping[str, Any], str], _Value], most: int = 1 << 24
) -> tuple[_Value, ...]:
    """A list of at most so many values, each read by `read`, which is told the list's name."""
    values = facts[name]
    if isinstance(values, str) or not isinstance(values, Sequence) or len(values) > most:
        raise ValueError(f"{name} must be a list of at most {most:,} values")
    return tuple(read({name: value}, name) for value in values)


def texts(facts: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of different texts."""
    found = listed(facts, name, text)
    if len(set(found)) < len(found):
        raise ValueError(f"{name} has an entry twice")
    return found


def wholes(facts: Mapping[str, Any], name: str, low: int, high: int) -> tuple[int, ...]:
    """A list of whole numbers from `low` to `high`. There may be many of them, so they are looked at all at once."""
    values = facts[name]
    if not isinstance(values, list | tuple) or {type(value) for value in values} - {int}:
        raise ValueError(f"{name} must be a list of whole numbers")
    if values and not (low <= min(values) and max(values) <= high):
        raise ValueError(f"{name} must be whole numbers from {low} to {high}")
    return tuple(values)


def reals(facts: Mapping[str, Any], name: str, low: float = -math.inf, high: float = math.inf) -> tuple[float, ...]:
    """A list of finite numbers from `low` to `high`."""
    return listed(facts, name, lambda one, each: real(one, each, low, high))


def table(facts: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Facts within facts."""
    if not isinstance(facts[name], Mapping):
        raise ValueError(f"{name} must hold facts by name")
    return dict(facts[name])


def optional(facts: Mapping[str, Any], name: str, read: Callable[[Mapping[str, Any], str], _Value]) -> _Value | None:
    """The same as `read`, or none."""
    return None if facts[name] is None else read(facts, name)
