"""Progress: how long work says how far it is."""

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Told the step under way and how much of it is done, from 0 to 1."""


def silent(step: str, fraction: float) -> None:
    """For work that nobody watches."""
