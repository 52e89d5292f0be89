"""Recipes by name."""

from collections.abc import Callable
from typing import Any

from pointillist.errors import UsageError
from pointillist.methods.base import Method
from pointillist.methods.hermite import Hermite
from pointillist.methods.landmarks import Landmarks
from pointillist.methods.merf import Merf
from pointillist.methods.mosaic import Mosaic
from pointillist.methods.reduced_set import ReducedSet

METHODS: dict[str, Callable[..., Method]] = {
    "mosaic": Mosaic,
    "merf": Merf,
    "hermite": Hermite,
    "landmarks": Landmarks,
    "reduced-set": ReducedSet,
}


def method_named(method: str | Method, options: dict[str, Any] | None = None) -> Method:
    """A method by its name, with its defaults or with `options`; a method passes through."""
    if isinstance(method, Method) and not isinstance(method, type):
        return method
    if not isinstance(method, str) or method not in METHODS:
        raise UsageError(f"method {method!r} is not known. Known methods: {', '.join(METHODS)}.")
    return METHODS[method](**(options or {}))


__all__ = ["METHODS", "Hermite", "Landmarks", "Merf", "Method", "Mosaic", "ReducedSet", "method_named"]
