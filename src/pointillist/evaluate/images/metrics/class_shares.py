"""Class shares: how often each class turns up among real and among synthetic images."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pointillist.evaluate.images.metric import METRICS, ImageContext, ImageMetric
from pointillist.evaluate.metric import Result
from pointillist.evaluate.verdict import Point, grade_beyond_chance
from pointillist.files.images import Images


@dataclass(frozen=True)
class ClassShares(Result):
    """By class: its share of the real images, and of the synthetic ones. Empty without labels."""

    shares: dict[str, tuple[float, float]]
    images: tuple[int, int]
    """Real and synthetic."""

    def to_json(self) -> dict[str, Any]:
        return {name: list(pair) for name, pair in self.shares.items()}

    def points(self) -> tuple[Point, ...]:
        if not self.shares:
            return ()
        real, synthetic = self.images
        distance = sum(abs(one - other) for one, other in self.shares.values()) / 2
        # The mean of |difference| of two shares drawn from one population, by the normal approximation.
        pooled = np.array([one * real + other * synthetic for one, other in self.shares.values()]) / (real + synthetic)
        spread = np.sqrt(pooled * (1 - pooled) * (1 / real + 1 / synthetic))
        chance = float(spread.sum() / np.sqrt(2 * np.pi))
        worst = max(self.shares, key=lambda name: abs(self.shares[name][0] - self.shares[name][1]))
        return (
            Point(
                "shares of classes",
                grade_beyond_chance(distance, chance),
                f"{distance:.3f}",
                f"{distance:.1%} of the synthetic images would have to change their class to make the shares right, most of "
                f"all {worst}: {self.shares[worst][1]:.1%} in place of {self.shares[worst][0]:.1%}. Chance alone would give "
                f"{chance:.1%}.",
                "total variation distance beyond what chance alone gives: good up to 0.015, fair up to 0.05",
            ),
        )


def class_shares(real: Images, synthetic: Images) -> ClassShares:
    """Over all images of either set."""
    sizes = len(real), len(synthetic)
    if real.codes is None or synthetic.codes is None:
        return ClassShares({}, sizes)
    counts = [np.bincount(each, minlength=len(real.classes)) for each in (real.codes, synthetic.codes)]
    pairs = zip(*(each / each.sum() for each in counts), strict=True)
    named = zip(real.classes, pairs, strict=True)
    return ClassShares({str(name): (float(a), float(b)) for name, (a, b) in named if a or b}, sizes)


@METRICS.register("shares", place=20)
class ClassSharesMetric(ImageMetric[ClassShares]):
    """Whether classes are as frequent as they should be."""

    def compute(self, real: Images, synthetic: Images, context: ImageContext) -> ClassShares:
        return class_shares(real, synthetic)
