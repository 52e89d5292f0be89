"""Bounded feature maps and how they compose."""

from pointillist.features.algebra import Concat, Labelled, Product, Weighted
from pointillist.features.base import FeatureMap
from pointillist.features.constant import Constant
from pointillist.features.fourier import RandomFourier
from pointillist.features.hermite import Hermite
from pointillist.features.images.distance import ImageDistance
from pointillist.features.images.extractor import Extractor
from pointillist.features.images.fourier import ImageFourier
from pointillist.features.images.gallery import GalleryMoments, GalleryOutside, GalleryPoint, GallerySquares
from pointillist.features.images.hermite import ImageHermite, ImageHermiteProducts
from pointillist.features.images.kinds import FirstMoments, ImageKinds, KindMoments, SecondMoments
from pointillist.features.images.moments import ImageMoments
from pointillist.features.images.perceptual import Perceptual
from pointillist.features.images.pixels import Pixels
from pointillist.features.images.probe import ImageProbe
from pointillist.features.images.spectrum import ImageSpectrum
from pointillist.features.indicator import OneHot, Tiles
from pointillist.features.kernel import Delta, Gaussian, Kernel, Plus, Times
from pointillist.features.landmark import Landmarks
from pointillist.features.mixed_fourier import MixedFourier
from pointillist.features.products import Products
from pointillist.features.scores import Score, ScoreProducts
from pointillist.records import Records

__all__ = [
    "Concat",
    "Constant",
    "Delta",
    "Extractor",
    "FeatureMap",
    "FirstMoments",
    "GalleryMoments",
    "GalleryOutside",
    "GalleryPoint",
    "GallerySquares",
    "Gaussian",
    "Hermite",
    "ImageDistance",
    "ImageFourier",
    "ImageHermite",
    "ImageHermiteProducts",
    "ImageKinds",
    "ImageMoments",
    "ImageProbe",
    "ImageSpectrum",
    "Kernel",
    "KindMoments",
    "Labelled",
    "Landmarks",
    "MixedFourier",
    "OneHot",
    "Perceptual",
    "Pixels",
    "Plus",
    "Product",
    "Products",
    "RandomFourier",
    "Records",
    "Score",
    "ScoreProducts",
    "SecondMoments",
    "Tiles",
    "Times",
    "Weighted",
]
