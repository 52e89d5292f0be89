"""Metrics of images: where they register, what they are given, and the sections of the page."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from pointillist.errors import UsageError
from pointillist.evaluate.images.feature_space import Space
from pointillist.evaluate.metric import Context, Metric, Metrics, Result
from pointillist.files.images import Images
from pointillist.pages.report import Section
from pointillist.registry import Registry

METRICS: Metrics = Registry("metric", "pointillist.evaluate.images.metrics")
"""Every metric of images, in the order in which they are computed and graded."""

SAMPLES = Section("images", "Images, class by class", "Images", 10)
MODELS = Section("models", "Train on synthetic, test on real", "Classifiers", 20)
DIVERSITY = Section("diversity", "Do they vary as real ones do?", "Diversity", 30)
DISTANCE = Section("distance", "Fréchet distance", "Distance", 40)
FID = Section("fid", "FID and KID", "FID", 45)
COPIES = Section("copies", "Copies", "Copies", 50)

MOST_CLASSES = 60
"""Classes on the page."""

Found = TypeVar("Found", bound=Result)


@dataclass(frozen=True, eq=False, repr=False)
class ImageContext(Context[Images]):
    """Two sets of images, and all that was given with them."""

    models: tuple[str, ...] = ()
    """Classifiers to train."""
    most_images: int = 0
    """The most images that a classifier is trained on."""
    spaces: tuple[Space, ...] | None = None
    """Where Fréchet distances are taken; None for the usual ones."""
    fid: Space | None = None
    """Where FID and KID are taken, if the user has brought its network."""

    @cached_property
    def training_and_test(self) -> tuple[Images, Images]:
        """Real images to train on and real images to test on: the holdout, or a quarter of the real ones."""
        if self.holdout is not None:
            return self.real, self.holdout
        if len(self.real) < 2:
            raise UsageError("one real image is too few to be compared with anything.")
        order = np.random.default_rng(self.seed).permutation(len(self.real))
        cut = max(1, len(self.real) // 4)
        return self.real.part(np.sort(order[cut:])), self.real.part(np.sort(order[:cut]))


class ImageMetric(Metric[Images, ImageContext, Found]):
    """A metric of two sets of images that were read with one schema."""
