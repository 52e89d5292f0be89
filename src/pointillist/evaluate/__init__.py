"""Judging synthetic data: everything here takes tables of any kind, and works on the owner's side of the wall.

`evaluate` does it all at once; the rest are its parts, and the researcher's measures.
"""

from pointillist.evaluate.audit import Audit, audit
from pointillist.evaluate.dependence import dependence
from pointillist.evaluate.discriminator import discriminator
from pointillist.evaluate.evaluation import Evaluation, evaluate
from pointillist.evaluate.kernel_test import kernel_test, mmd
from pointillist.evaluate.marginals import marginals
from pointillist.evaluate.pictures.evaluation import PictureEvaluation, evaluate_pictures
from pointillist.evaluate.research.honest_protocol import honest_protocol
from pointillist.evaluate.research.known_mixture import DPMERF_GRID, KnownMixture
from pointillist.evaluate.research.learning_curve import learning_curve
from pointillist.evaluate.research.papers_protocol import papers_protocol
from pointillist.evaluate.research.undersampling import undersample
from pointillist.evaluate.sample import Sample, read
from pointillist.evaluate.utility import utility

__all__ = [
    "DPMERF_GRID",
    "Audit",
    "Evaluation",
    "KnownMixture",
    "PictureEvaluation",
    "Sample",
    "audit",
    "dependence",
    "discriminator",
    "evaluate",
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
