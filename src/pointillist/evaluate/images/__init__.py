"""Judging synthetic images: all of it works on the owner's side of the wall, but for `gallery`, whose page is public."""

from pointillist.evaluate.images.evaluation import (
    ImageEvaluation,
    PictureEvaluation,
    evaluate_images,
    evaluate_pictures,
)
from pointillist.evaluate.images.feature_space import NOT_COMPARABLE, Space, cosines, random_filters
from pointillist.evaluate.images.metrics.classifiers import CLASSIFIERS, Result, Results, classify
from pointillist.evaluate.images.metrics.copies import Copies, copies
from pointillist.evaluate.images.metrics.distances import Distance, distances
from pointillist.evaluate.images.metrics.diversity import Coverage, Curve, Diversity, coverage, curve, variance_ratios
from pointillist.evaluate.images.reading import read
from pointillist.pages.gallery import gallery

__all__ = [
    "CLASSIFIERS",
    "NOT_COMPARABLE",
    "Copies",
    "Coverage",
    "Curve",
    "Distance",
    "Diversity",
    "ImageEvaluation",
    "PictureEvaluation",
    "Result",
    "Results",
    "Space",
    "classify",
    "copies",
    "cosines",
    "coverage",
    "curve",
    "distances",
    "evaluate_images",
    "evaluate_pictures",
    "gallery",
    "random_filters",
    "read",
    "variance_ratios",
]
