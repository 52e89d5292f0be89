"""Copies: whether synthetic images know single images that were released. For the owner's eyes.

Three looks, each beside what images show that took no part in the release. How many repeat a released image pixel by
pixel. How many lie, in their low frequencies, less than half as far from one released image as from the next nearest: a
copy with some noise does, another image of the same kind hardly ever. And of equally many released and held-out images,
which side holds the nearest more often: one half by chance, if held-out images are a random part of the same set. Many
synthetic images may share one nearest image, so chance is computed over the real images' sides.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pointillist.errors import UsageError
from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.images.feature_space import cosines
from pointillist.evaluate.images.metric import COPIES, METRICS, ImageContext, ImageMetric
from pointillist.evaluate.images.metrics.diversity import squared_distances
from pointillist.evaluate.images.reading import require_alike
from pointillist.evaluate.metric import Result
from pointillist.evaluate.verdict import Point
from pointillist.files.images import Images
from pointillist.pages import count, share
from pointillist.pages.blocks import html
from pointillist.pages.report import Section

MOST_IMAGES = 2_000
"""Synthetic and held-out images that are looked at."""
MOST_RELEASED = 60_000
"""Released images that they are looked up among; exact repetitions are looked for in all."""
_SPACE = cosines()
"""Noise on single pixels hardly shows in low frequencies, so that noisy copies are found."""
_FAR = 5.0
"""Standard deviations of chance beyond which something is said."""


@dataclass(frozen=True)
class Copies(Result):
    """Shares of images, synthetic and (expected) held-out ones."""

    exact: float
    """Repeat a released image pixel by pixel."""
    expected_exact: float
    pointed: float
    """Lie less than half as far from one released image as from the next nearest."""
    expected_pointed: float
    nearer: float
    """Of the synthetic images, have a released image nearest, rather than one of as many held-out images."""
    deviations: float
    """How far that lies above one half, in standard deviations of chance."""
    images: tuple[int, int]
    """Synthetic and held-out images looked at."""

    @property
    def suspicious(self) -> bool:
        """Far more exact or pointed images than held-out ones show."""
        return self._more(self.exact, self.expected_exact) or self._more(self.pointed, self.expected_pointed)

    @property
    def lopsided(self) -> bool:
        """Synthetic images lie on the released images' side more than chance explains.

        Either they know released images, or the held-out images are not a random part of the same set.
        """
        return self.deviations > _FAR

    def _more(self, share: float, expected: float) -> bool:
        made, held = self.images
        pooled = max((share * made + expected * held) / (made + held), 1 / (made + held))
        return share - expected > _FAR * (pooled * (1 / made + 1 / held)) ** 0.5 + 0.001

    def to_json(self) -> dict[str, Any]:
        return {
            **vars(self), "images": list(self.images), "suspicious": self.suspicious, "lopsided": self.lopsided
        }  # fmt: skip

    def headlines(self) -> dict[str, float]:
        return {"nearest to a released image": self.nearer}

    def points(self) -> tuple[Point, ...]:
        if not self.suspicious:
            return ()
        return (
            Point(
                "copies of released images",
                "poor",
                f"{max(self.exact, self.pointed):.0%}",
                f"{self.exact:.1%} of the synthetic images repeat a released image pixel by pixel, and {self.pointed:.1%} "
                "lie less than half as far from one released image as from the next; of held-out ones "
                f"{self.expected_exact:.1%} and {self.expected_pointed:.1%} do. Do not hand these images out: is it the "
                "right file?",
                "poor if either share lies five standard deviations above that of held-out images",
            ),
        )

    def sections(self) -> tuple[Section, ...]:
        synthetic, held_out = map(count, self.images)
        strange = (
            " That is more than chance explains: either the synthetic images know released ones, or the held-out images are "
            "not a random part of the same set (MNIST's own test images are not: other people wrote them)."
        )
        return (
            COPIES.saying(
                f"{share(self.exact)} of {synthetic} synthetic images repeat a released image pixel by pixel, and "
                f"{share(self.pointed)} lie less than half as far from one released image as from the next nearest; of "
                f"{held_out} held-out images {share(self.expected_exact)} and {share(self.expected_pointed)} do. Of as many "
                f"released and held-out images, a released one is the nearest for {share(self.nearer)} of the synthetic "
                f"images, {self.deviations:+.1f} standard deviations of chance from one half."
                f"{strange if self.lopsided else ''}"
            ),
        )


def copies(
    real: Images, synthetic: Images, held_out: Images, *, most_images: int = MOST_IMAGES, seed: int = 0
) -> Copies:
    """`real` are images that took part in the release, `held_out` are images that did not."""
    require_alike(real, synthetic, held_out)
    if not min(len(real), len(synthetic), len(held_out)):
        raise UsageError("copies can be looked for only where there are released, held-out and synthetic images.")
    made, held = (each.at_most(most_images, seed=seed) for each in (synthetic, held_out))
    known = {each.tobytes() for each in real.pixels}
    exact = [float(np.mean([each.tobytes() in known for each in part.pixels])) for part in (made, held)]
    released = _SPACE(real.at_most(MOST_RELEASED, seed=seed).pixels)
    pointed = [_pointed(_SPACE(part.pixels), released) for part in (made, held)]
    nearer, deviations = _sides(real, made, held_out, seed)
    return Copies(exact[0], exact[1], pointed[0], pointed[1], nearer, deviations, (len(made), len(held)))


def _pointed(points: Floats, others: Floats) -> float:
    """The share of points that are less than half as far from their nearest as from the next."""
    if len(others) < 2:
        return 0.0
    found = []
    for start in range(0, len(points), 256):
        two = np.partition(squared_distances(points[start : start + 256], others), 1, axis=1)[:, :2]
        found.append(two[:, 0] < two[:, 1] / 4)
    return float(np.concatenate(found).mean())


def _sides(real: Images, made: Images, held_out: Images, seed: int) -> tuple[float, float]:
    count = min(MOST_IMAGES, len(real), len(held_out))
    both = np.concatenate([_SPACE(each.at_most(count, seed=seed).pixels) for each in (real, held_out)])
    # Of images that stand on both sides the first counts as nearest: shuffle them.
    order = np.random.default_rng(seed).permutation(len(both))
    both, released = both[order], order < count
    points = _SPACE(made.pixels)
    nearest = np.concatenate(
        [squared_distances(points[i : i + 512], both).argmin(axis=1) for i in range(0, len(points), 512)]
    )
    votes = np.bincount(nearest, minlength=len(both)).astype(np.float64)
    # Sides dealt out at random, half and half: the exact standard deviation of the votes for one side.
    spread = float(np.sqrt(votes.var() * len(both) ** 2 / (4 * (len(both) - 1))))
    above = float(votes[released].sum() - votes.sum() / 2)
    return float(votes[released].sum() / votes.sum()), above / spread if spread > 0 else 0.0


@METRICS.register("copies", place=10)
class CopiesMetric(ImageMetric[Copies]):
    """Whether synthetic images know released ones."""

    needs = ("holdout",)

    def compute(self, real: Images, synthetic: Images, context: ImageContext) -> Copies:
        assert context.holdout is not None
        return copies(real, synthetic, context.holdout, seed=context.seed)

    def sections(self, found: Copies | None) -> tuple[Section, ...]:
        if found is not None:
            return found.sections()
        missing = html(
            "Whether synthetic images lie nearer to released images than to others can be seen only with images that took "
            "no part in the release: pass them with <code>--holdout</code>."
        )
        return (COPIES.saying(missing),)
