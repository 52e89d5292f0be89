"""Feature maps as data: a list of nodes, each with its settings and the numbers of its parts; arrays stand apart.

A map that occurs many times (a column's tiles occur in every pair) is written once.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import ArtefactError
from pointillist.features.algebra import Concat, Labelled, Product, Weighted
from pointillist.features.base import FeatureMap
from pointillist.features.constant import Constant
from pointillist.features.fourier import RandomFourier
from pointillist.features.hermite import Hermite
from pointillist.features.image_distance import ImageDistance
from pointillist.features.image_fourier import ImageFourier
from pointillist.features.image_hermite import ImageHermite, ImageHermiteProducts
from pointillist.features.image_kinds import FirstMoments, ImageKinds, KindMoments, SecondMoments
from pointillist.features.image_moments import ImageMoments
from pointillist.features.indicator import OneHot, Tiles
from pointillist.features.landmark import Landmarks
from pointillist.features.mixed_fourier import MixedFourier
from pointillist.features.perceptual import Perceptual
from pointillist.features.pixels import Pixels

Arrays = dict[str, NDArray[Any]]

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
    return nodes, arrays


def from_nodes(nodes: list[dict[str, Any]], arrays: Arrays) -> FeatureMap:
    """The inverse of `to_nodes`; the map's own checks run again."""
    maps: list[FeatureMap] = []
    try:
        for node in nodes:
            facts: dict[str, Any] = {
                name: arrays[value["array"]] if isinstance(value, dict) else value for name, value in node.items()
            }
            maps.append(_build(facts.pop("map"), tuple(maps[i] for i in facts.pop("parts")), facts))
        return maps[-1]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ArtefactError(f"its feature map cannot be read ({error})") from None


def _build(name: str, parts: tuple[FeatureMap, ...], facts: dict[str, Any]) -> FeatureMap:
    match name:
        case "one-hot":
            return OneHot(facts["column"], int(facts["size"]))
        case "tiles":
            return Tiles(facts["column"], tuple(int(tile) for tile in facts["tile_of"]))
        case "random-fourier":
            return RandomFourier(tuple(facts["columns"]), np.asarray(facts["frequencies"], dtype=np.float64))
        case "mixed-fourier":
            return MixedFourier(
                tuple(facts["columns"]),
                np.asarray(facts["frequencies"], dtype=np.float64),
                tuple(facts["turned"]),
                tuple(int(size) for size in facts["sizes"]),
                np.asarray(facts["angles"], dtype=np.float64),
            )
        case "hermite":
            return Hermite(facts["column"], int(facts["order"]), float(facts["length_scale"]), float(facts["scale"]))
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
            return Weighted(parts[0], float(facts["weight"]))
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
            return ImageDistance(facts["image"], facts["label"], np.asarray(facts["centres"]), float(facts["radius"]))
        case "image-fourier":
            return ImageFourier(*_image(facts), np.asarray(facts["frequencies"]), float(facts["scale"]))
        case "pixels":
            return Pixels(*_image(facts), float(facts["radius"]))
        case "image-moments":
            arrays = np.asarray(facts["vectors"]), np.asarray(facts["centres"])
            lengths = float(facts["radius"]), float(facts["lift"])
            return ImageMoments(facts["image"], facts["label"], *arrays, *lengths, int(facts["kinds"]))
        case "image-hermite":
            return ImageHermite(*_image(facts), *_curve(facts))
        case "image-hermite-products":
            groups = tuple(tuple(int(pixel) for pixel in group) for group in facts["groups"])
            return ImageHermiteProducts(*_image(facts), *_curve(facts), groups)
    raise ValueError(f"unknown map {name!r}")


def _moments(parts: tuple[FeatureMap, ...]) -> ImageMoments:
    (moments,) = parts
    if not isinstance(moments, ImageMoments):
        raise ValueError("kinds and moments are those of image-moments")
    return moments


def _image(facts: dict[str, Any]) -> tuple[str, int, int, int]:
    """The column of an image, and its size."""
    return facts["image"], int(facts["height"]), int(facts["width"]), int(facts["channels"])


def _curve(facts: dict[str, Any]) -> tuple[int, float, float]:
    return int(facts["order"]), float(facts["length_scale"]), float(facts["scale"])
