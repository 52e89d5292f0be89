"""Recipes by name."""

from pointillist.errors import UsageError
from pointillist.methods.base import Method
from pointillist.methods.mosaic import Mosaic

METHODS: dict[str, type[Mosaic]] = {"mosaic": Mosaic}


def method_named(method: "str | Method") -> Method:
    """A method by its name, with its defaults; a method passes through."""
    if not isinstance(method, str):
        return method
    if method not in METHODS:
        raise UsageError(f"method {method!r} is not known. Known methods: {', '.join(METHODS)}.")
    return METHODS[method]()


__all__ = ["METHODS", "Method", "Mosaic", "method_named"]
