"""Recipes by name: which feature maps, which generator, which defaults. `base` says what a method is.

The first method that suits a schema is its default: `chronicle` for persons with histories, `mosaic` for other tables,
`spectral` for images.
"""

from typing import Any

from pointillist.errors import UsageError
from pointillist.methods.base import METHODS, Method
from pointillist.methods.chronicle import Chronicle
from pointillist.methods.gallery import Gallery
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


def method_for(schema: Schema, method: str | Method | None, options: dict[str, Any] | None = None) -> Method:
    """A method that suits the schema, by its name; none: the default. A method passes through if it suits."""
    if isinstance(method, Method) and not isinstance(method, type):
        if not getattr(type(method), "suits", lambda _: True)(schema):
            raise UsageError(f"{type(method).__name__} is not a method for {_known(schema)}")
        return method
    return kind_for(schema, method)(**(options or {}))


def kind_for(schema: Schema, method: Any) -> type[Method]:
    """The class of the method of this name that suits the schema; none: of the default."""
    suiting = METHODS.suiting(schema)
    if method is None:
        preferred = (kind for kind in suiting.values() if getattr(kind, "preferred", lambda _: False)(schema))
        return next(preferred, next(iter(suiting.values())))
    if not isinstance(method, str) or method not in suiting:
        raise UsageError(f"method {method!r} is not known for {_known(schema)}")
    return suiting[method]


def methods_of(data: str) -> dict[str, type[Method]]:
    """Methods for "tables" or for "images", by name, the default first."""
    return {name: kind for name, kind in METHODS.entries if getattr(kind, "data", data) == data}


def _known(schema: Schema) -> str:
    """What the schema is of, and the methods for it."""
    suiting = METHODS.suiting(schema)
    data = {getattr(each, "data", "") for each in suiting.values()} - {""}
    return f"{' and '.join(sorted(data))}. Known methods: {', '.join(suiting)}."


__all__ = [
    "METHODS",
    "Chronicle",
    "Gallery",
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
    "kind_for",
    "method_for",
    "methods_of",
]
