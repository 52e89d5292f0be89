"""Judging synthetic data: everything here takes tables of any kind, and works on the owner's side of the wall.

`evaluate` does it all at once; the rest are its parts, and the researcher's measures.
"""

from pointillist.evaluate.audit import Audit, audit
from pointillist.evaluate.images.evaluation import (
    ImageEvaluation,
    PictureEvaluation,
    evaluate_images,
    evaluate_pictures,
)
from pointillist.evaluate.research.honest_protocol import honest_protocol
from pointillist.evaluate.research.known_mixture import DPMERF_GRID, KnownMixture
from pointillist.evaluate.research.learning_curve import learning_curve
from pointillist.evaluate.research.papers_protocol import papers_protocol
from pointillist.evaluate.research.undersampling import undersample
from pointillist.evaluate.tables.evaluation import Evaluation, evaluate
from pointillist.evaluate.tables.metrics.dependence import dependence
from pointillist.evaluate.tables.metrics.discriminator import discriminator
from pointillist.evaluate.tables.metrics.kernel_test import kernel_test, mmd
from pointillist.evaluate.tables.metrics.marginals import marginals
from pointillist.evaluate.tables.metrics.utility import utility
from pointillist.evaluate.tables.sample import Sample, read

__all__ = [
    "DPMERF_GRID",
    "Audit",
    "Evaluation",
    "ImageEvaluation",
    "KnownMixture",
    "PictureEvaluation",
    "Sample",
    "audit",
    "dependence",
    "discriminator",
    "evaluate",
    "evaluate_images",
    "evaluate_pictures",
    "honest_protocol",
    "kernel_test",
    "learning_curve",
    "marginals",
    "mmd",
    "papers_protocol",
    "read",
    "undersample",
    "utility",
]
