"""Bounded feature maps and how they compose."""

from pointillist.features.algebra import Concat, Labelled, Product, Weighted, blocks, factors
from pointillist.features.base import FeatureMap
from pointillist.features.fourier import RandomFourier
from pointillist.features.hermite import Hermite
from pointillist.features.indicator import OneHot, Tiles
from pointillist.features.records import Products, Records

__all__ = [
    "Concat",
    "FeatureMap",
    "Hermite",
    "Labelled",
    "OneHot",
    "Product",
    "Products",
    "RandomFourier",
    "Records",
    "Tiles",
    "Weighted",
    "blocks",
    "factors",
]
