"""Judging synthetic images: all of it works on the owner's side of the wall, but for `gallery`, whose page is public."""

from pointillist.evaluate.pictures.classifiers import CLASSIFIERS, Result, Results, classify
from pointillist.evaluate.pictures.copies import Copies, copies
from pointillist.evaluate.pictures.distance import Distance, distances
from pointillist.evaluate.pictures.diversity import Coverage, Curve, Diversity, coverage, curve, variance_ratios
from pointillist.evaluate.pictures.evaluation import PictureEvaluation, evaluate_pictures
from pointillist.evaluate.pictures.gallery import gallery
from pointillist.evaluate.pictures.reading import read
from pointillist.evaluate.pictures.space import NOT_COMPARABLE, Space, cosines, random_filters

__all__ = [
    "CLASSIFIERS",
    "NOT_COMPARABLE",
    "Copies",
    "Coverage",
    "Curve",
    "Distance",
    "Diversity",
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
    "evaluate_pictures",
    "gallery",
    "random_filters",
    "read",
    "variance_ratios",
]
