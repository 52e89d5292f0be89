"""Feature maps as data: a list of nodes, each with its settings and the numbers of its parts; arrays stand apart.

A map that occurs many times (a column's tiles occur in every pair) is written once.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import ArtefactError, UsageError
from pointillist.features.algebra import Concat, Labelled, Product, Weighted
from pointillist.features.base import FeatureMap
from pointillist.features.constant import Constant
from pointillist.features.fourier import RandomFourier
from pointillist.features.hermite import Hermite
from pointillist.features.images.distance import ImageDistance
from pointillist.features.images.fourier import ImageFourier
from pointillist.features.images.hermite import ImageHermite, ImageHermiteProducts
from pointillist.features.images.kinds import FirstMoments, ImageKinds, KindMoments, SecondMoments
from pointillist.features.images.moments import ImageMoments
from pointillist.features.images.perceptual import Perceptual
from pointillist.features.images.pixels import Pixels
from pointillist.features.indicator import MOST_LEVELS, OneHot, Tiles
from pointillist.features.landmark import Landmarks
from pointillist.features.mixed_fourier import MixedFourier
from pointillist.files.facts import listed, optional, real, text, texts, whole, wholes

Arrays = dict[str, NDArray[Any]]

_MOST_NODES, _DEEPEST = 1 << 22, 32
"""Of a map with every part written out, and how deep it may be nested."""
_MOST_FEATURES = 1 << 32
_MOST_LEVELS = 1 << 23
"""Of all indicators together: a one-hot map of any size is a few letters in a file."""
_HIGHEST_ORDER = 1 << 16
_LARGEST_IMAGE = 4096
"""Pixels each way."""

_NAMES: dict[type[FeatureMap], str] = {
    OneHot: "one-hot",
    Tiles: "tiles",
    RandomFourier: "random-fourier",
    MixedFourier: "mixed-fourier",
    Hermite: "hermite",
    Landmarks: "landmarks",
    ImageFourier: "image-fourier",
    ImageHermite: "image-hermite",
    Pixels: "pixels",
    ImageMoments: "image-moments",
    ImageKinds: "image-kinds",
    FirstMoments: "first-moments",
    SecondMoments: "second-moments",
    KindMoments: "kind-moments",
    ImageDistance: "image-distance",
    ImageHermiteProducts: "image-hermite-products",
    Perceptual: "perceptual",
    Constant: "constant",
    Concat: "concat",
    Product: "product",
    Labelled: "labelled",
    Weighted: "weighted",
}


def to_nodes(root: FeatureMap) -> tuple[list[dict[str, Any]], Arrays]:
    """A map as JSON nodes, parts before wholes, the map itself last; and the arrays that nodes refer to by name."""
    nodes: list[dict[str, Any]] = []
    arrays: Arrays = {}
    numbers: dict[tuple[type[FeatureMap], FeatureMap], int] = {}

    def write(node: FeatureMap) -> int:
        key = (type(node), node)
        if key not in numbers:
            parts = [write(part) for part in node.parts]
            facts: dict[str, Any] = {"map": _NAMES[type(node)], "parts": parts}
            for name, value in node.describe().items():
                facts[name] = value
                if isinstance(value, np.ndarray):
                    facts[name] = {"array": f"{len(nodes)}.{name}"}
                    arrays[f"{len(nodes)}.{name}"] = value
            nodes.append(facts)
            numbers[key] = len(nodes) - 1
        return numbers[key]

    write(root)
    try:
        _require_sane([node["parts"] for node in nodes])
    except ValueError as error:
        raise UsageError(f"the features do not fit into a file: {error}. Measure fewer of them.") from None
    return nodes, arrays


def from_nodes(nodes: list[dict[str, Any]], arrays: Arrays) -> FeatureMap:
    """The inverse of `to_nodes`; the map's own checks run again. Takes no longer than the map is large, whatever it says."""
    maps: list[FeatureMap] = []
    levels = 0
    try:
        _require_sane([node["parts"] for node in nodes])
        for node in nodes:
            facts: dict[str, Any] = {
                name: arrays[value["array"]] if isinstance(value, dict) else value for name, value in node.items()
            }
            parts = tuple(maps[i] for i in facts.pop("parts"))
            maps.append(_build(facts.pop("map"), parts, facts))
            if list(map(id, maps[-1].parts)) != list(map(id, parts)):
                raise ValueError("a map with parts that it does not have")
            levels += len(maps[-1].tile_of) if isinstance(maps[-1], Tiles) else 0
            if levels > _MOST_LEVELS or not 1 <= maps[-1].dimension <= _MOST_FEATURES:
                raise ValueError("too many levels or features, or none")
        return maps[-1]
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, UsageError) as error:
        raise ArtefactError(f"its feature map cannot be read ({str(error).rstrip('.')})") from None


def _require_sane(parts: list[list[int]]) -> None:
    """Refuse nodes that are no tree of sane size.

    Nodes may be shared, and whoever walks the map meets a shared one as often as it is used. So what counts is the size of
    the map with all of that written out, and it is known before anything is built.
    """
    sizes: list[int] = []
    depths: list[int] = []
    used: set[int] = set()
    for number, own in enumerate(parts):
        if not isinstance(own, list):
            raise ValueError("parts that are no list")
        for part in own:
            if isinstance(part, bool) or not isinstance(part, int) or not 0 <= part < number:
                raise ValueError("a part that does not come before its whole")
        sizes.append(1 + sum(sizes[part] for part in own))
        depths.append(1 + max((depths[part] for part in own), default=0))
        used.update(own)
        if sizes[-1] > _MOST_NODES or depths[-1] > _DEEPEST:
            raise ValueError(f"more than {_MOST_NODES:,} parts, or nested over {_DEEPEST} deep")
    if len(used) != len(parts) - 1:
        raise ValueError("parts that belong to nothing, or no parts at all")


def _build(name: str, parts: tuple[FeatureMap, ...], facts: dict[str, Any]) -> FeatureMap:
    match name:
        case "one-hot":
            return OneHot(text(facts, "column"), whole(facts, "size", 1, MOST_LEVELS))
        case "tiles":
            return Tiles(text(facts, "column"), wholes(facts, "tile_of", 0, MOST_LEVELS - 1))
        case "random-fourier":
            return RandomFourier(texts(facts, "columns"), _floats(facts, "frequencies"))
        case "mixed-fourier":
            return MixedFourier(
                texts(facts, "columns"),
                _floats(facts, "frequencies"),
                texts(facts, "turned"),
                wholes(facts, "sizes", 1, MOST_LEVELS),
                _floats(facts, "angles"),
            )
        case "hermite":
            return Hermite(text(facts, "column"), *_curve(facts))
        case "landmarks":
            return Landmarks.from_facts(facts)
        case "perceptual":
            return Perceptual.from_facts(facts)
        case "concat":
            return Concat(parts)
        case "product":
            return Product(parts)
        case "labelled":
            return Labelled(parts)
        case "weighted":
            (weighted,) = parts
            return Weighted(weighted, real(facts, "weight", 0.0))
        case "constant":
            return Constant()
    return _build_image(name, parts, facts)


def _build_image(name: str, parts: tuple[FeatureMap, ...], facts: dict[str, Any]) -> FeatureMap:
    """Maps of images."""
    match name:
        case "image-kinds":
            return ImageKinds(_moments(parts))
        case "first-moments":
            return FirstMoments(_moments(parts))
        case "second-moments":
            return SecondMoments(_moments(parts))
        case "kind-moments":
            return KindMoments(parts)
        case "image-distance":
            return ImageDistance(*_centred(facts), _array(facts, "centres"), real(facts, "radius"))
        case "image-fourier":
            return ImageFourier(*_image(facts), _array(facts, "frequencies"), real(facts, "scale"))
        case "pixels":
            return Pixels(*_image(facts), real(facts, "radius"))
        case "image-moments":
            arrays = _array(facts, "vectors"), _array(facts, "centres")
            lengths = real(facts, "radius"), real(facts, "lift")
            return ImageMoments(*_centred(facts), *arrays, *lengths, whole(facts, "kinds", 1, MOST_LEVELS))
        case "image-hermite":
            return ImageHermite(*_image(facts), *_curve(facts))
        case "image-hermite-products":
            groups = listed(facts, "groups", lambda one, each: wholes(one, each, 0, _LARGEST_IMAGE**2 * 3))
            return ImageHermiteProducts(*_image(facts), *_curve(facts), groups)
    raise ValueError(f"unknown map {str(name)[:50]!r}")


def _moments(parts: tuple[FeatureMap, ...]) -> ImageMoments:
    (moments,) = parts
    if not isinstance(moments, ImageMoments):
        raise ValueError("kinds and moments are those of image-moments")
    return moments


def _image(facts: dict[str, Any]) -> tuple[str, int, int, int]:
    """The column of an image, and its size."""
    height, width = (whole(facts, name, 1, _LARGEST_IMAGE) for name in ("height", "width"))
    return text(facts, "image"), height, width, whole(facts, "channels", 1, 3)


def _centred(facts: dict[str, Any]) -> tuple[str, str | None]:
    """The columns of an image and of its label, if there is one."""
    return text(facts, "image"), optional(facts, "label", text)


def _curve(facts: dict[str, Any]) -> tuple[int, float, float]:
    return whole(facts, "order", 0, _HIGHEST_ORDER), real(facts, "length_scale"), real(facts, "scale")


def _array(facts: dict[str, Any], name: str) -> NDArray[Any]:
    if not isinstance(facts[name], np.ndarray):
        raise ValueError(f"{name} must be an array")
    return np.asarray(facts[name])


def _floats(facts: dict[str, Any], name: str) -> NDArray[np.float64]:
    found = _array(facts, name)
    if found.dtype.kind != "f":
        raise ValueError(f"{name} must be numbers with fractions")
    return found.astype(np.float64)
