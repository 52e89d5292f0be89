"""Recipes by name."""

from collections.abc import Callable
from typing import Any

from pointillist.errors import UsageError
from pointillist.methods.base import Method
from pointillist.methods.hermite import Hermite
from pointillist.methods.image_hermite import ImageHermite
from pointillist.methods.image_merf import ImageMerf
from pointillist.methods.landmarks import Landmarks
from pointillist.methods.merf import Merf
from pointillist.methods.mosaic import Mosaic
from pointillist.methods.perceptual import Perceptual
from pointillist.methods.reduced_set import ReducedSet
from pointillist.methods.spectral import Spectral
from pointillist.schema import Schema

METHODS: dict[str, Callable[..., Method]] = {
    "mosaic": Mosaic,
    "merf": Merf,
    "hermite": Hermite,
    "landmarks": Landmarks,
    "reduced-set": ReducedSet,
}
"""For tables; the first is the default."""

IMAGE_METHODS: dict[str, Callable[..., Method]] = {
    "spectral": Spectral,
    "merf": ImageMerf,
    "hermite": ImageHermite,
    "perceptual": Perceptual,
}
"""For images; the first is the default."""


def method_for(schema: Schema, method: str | Method | None, options: dict[str, Any] | None = None) -> Method:
    """A method that suits the schema, by its name; none: the default. A method passes through if it suits."""
    known, others, kind = METHODS, IMAGE_METHODS, "tables"
    if schema.image is not None:
        known, others, kind = IMAGE_METHODS, METHODS, "images"
    if method is None:
        method = next(iter(known))
    if isinstance(method, Method) and not isinstance(method, type):
        if type(method) in others.values():
            raise UsageError(f"{type(method).__name__} is not a method for {kind}. Known methods: {', '.join(known)}.")
        return method
    if method not in known:
        raise UsageError(f"method {method!r} is not known for {kind}. Known methods: {', '.join(known)}.")
    return known[method](**(options or {}))


def method_named(method: str | Method, options: dict[str, Any] | None = None) -> Method:
    """A method by its name, with its defaults or with `options`; a method passes through."""
    if isinstance(method, Method) and not isinstance(method, type):
        return method
    if not isinstance(method, str) or method not in METHODS:
        raise UsageError(f"method {method!r} is not known. Known methods: {', '.join(METHODS)}.")
    return METHODS[method](**(options or {}))


__all__ = [
    "IMAGE_METHODS",
    "METHODS",
    "Hermite",
    "ImageHermite",
    "ImageMerf",
    "Landmarks",
    "Merf",
    "Method",
    "Mosaic",
    "Perceptual",
    "ReducedSet",
    "Spectral",
    "method_for",
    "method_named",
]
