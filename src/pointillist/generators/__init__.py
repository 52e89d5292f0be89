"""Generators: what rows and images are drawn from. Each has a folder with its fit, and a line in `GENERATORS`."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pointillist.errors import UsageError
from pointillist.generators.base import Generator, GeneratorSettings
from pointillist.schema import Schema


@dataclass(frozen=True)
class Known:
    """Where a generator is defined. It is loaded when it is asked for: networks need torch."""

    generator: str
    """The module of this package and the class."""
    settings: str | None = None
    """The same of its settings; none: only its own method fits it."""


GENERATORS: dict[str, Known] = {
    "mixture": Known("mixture.mixture.Mixture", "mixture.settings.MixtureSettings"),
    "histories": Known("histories.histories.Histories"),
    "network": Known("network.row_network.Network", "network.settings.NetworkSettings"),
    "points": Known("points.points.Points", "points.settings.PointsSettings"),
    "image-network": Known("image_network.image_network.ImageNetwork", "image_network.settings.ImageNetworkSettings"),
    "gaussians": Known("gaussians.gaussians.Gaussians"),
    "gallery": Known("gallery.gallery.Gallery"),
}
"""By their names in model files and on the command line."""


def generator_class(kind: str) -> type[Generator]:
    """A generator by its name in model files."""
    if kind not in GENERATORS:
        raise ValueError(f"a generator of kind {kind[:50]!r} is not known here")
    try:
        found: type[Generator] = _loaded(GENERATORS[kind].generator)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise UsageError(
            "this model is a network, which needs torch. Install it with: pip install 'pointillist[network]'"
        ) from None
    return found


def fittable() -> dict[str, type[GeneratorSettings]]:
    """The settings of those that fit more than one method's releases, by name."""
    return {name: _loaded(known.settings) for name, known in GENERATORS.items() if known.settings is not None}


def generator_named(generator: str | GeneratorSettings) -> GeneratorSettings:
    """Settings by the name of their kind, with their defaults; settings pass through."""
    if isinstance(generator, GeneratorSettings) and not isinstance(generator, type):
        return generator
    known = fittable()
    if not isinstance(generator, str) or generator not in known:
        raise UsageError(f"generator {generator!r} is not known. Known generators: {', '.join(known)}.")
    return known[generator]()


def generator_for(schema: Schema, generator: str | GeneratorSettings) -> GeneratorSettings:
    """The same, if it suits the schema: tables and images have generators of their own."""
    settings = generator_named(generator)
    if settings.suits(schema):
        return settings
    known = fittable()
    name = next((name for name, kind in known.items() if kind is type(settings)), type(settings).__name__)
    suiting = ", ".join(name for name, kind in known.items() if kind.suits(schema))
    other, own = ("tables", "images") if schema.image is not None else ("images", "none")
    raise UsageError(
        f"generator {name!r} is for {other}, and {schema.name!r} has {own}. Choose one of {suiting}, or none: then the "
        "release's method chooses."
    )


def _loaded(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"pointillist.generators.{module}"), name)
