"""FID and KID: distances between two sets of images in the space that published figures are taken in.

FID (Heusel et al., 2017) is the Fréchet distance between Gaussians with the sets' means and covariances. KID (Binkowski et
al., 2018) is the squared MMD of the kernel (<x, y> / d + 1)^3 without bias, over subsets of up to 1,000 images. Both need
FID's own network, whose weights the user brings; without it there are relative distances alone (`distances`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pointillist.errors import UsageError
from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.images.metric import FID, METRICS, ImageContext, ImageMetric
from pointillist.evaluate.images.metrics.distances import frechet
from pointillist.evaluate.metric import Result
from pointillist.files.images import Images
from pointillist.pages import count, number
from pointillist.pages.blocks import Table
from pointillist.pages.report import Section

MOST_IMAGES = 50_000
"""Of each set, as is the custom."""
_SUBSETS, _SUBSET = 100, 1000
_FEWEST = 2


@dataclass(frozen=True)
class Fid(Result):
    """Synthetic to real."""

    network: str
    fid: float
    kid: float
    """The mean over subsets."""
    kid_deviation: float
    """How far subsets differ, as a standard deviation."""
    images: tuple[int, int]
    """Real and synthetic."""
    features: int

    @property
    def few(self) -> bool:
        """Whether a covariance was made from fewer images than it has columns: FID is then too large."""
        return min(self.images) < self.features

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "images": list(self.images)}

    def headlines(self) -> dict[str, float]:
        return {"FID": self.fid, "KID": self.kid}

    def lines(self) -> tuple[str, ...]:
        sizes = " and ".join(map(count, self.images))
        return (f"FID {self.fid:.2f}, KID {self.kid:.5f} ± {self.kid_deviation:.5f} ({sizes} images). {self._advice}",)

    @property
    def _advice(self) -> str:
        few = f" Fewer than {count(self.features)} images of a set make FID larger." if self.few else ""
        return f"Compare with figures of as many images of the same real set.{few}"

    def sections(self) -> tuple[Section, ...]:
        row = (
            self.network,
            *map(count, self.images),
            number(self.fid, 2),
            number(self.kid, 5),
            number(self.kid_deviation, 5),
        )
        table = Table.of("network|#real images|#synthetic images|*FID|*KID|#± of subsets", [row], "FID and KID")
        return (FID.saying(self._advice, blocks=[table]),)


@METRICS.register("fid", place=65)
class FidMetric(ImageMetric[Fid]):
    """Where the user has brought FID's network."""

    needs = ("fid",)
    cost = 20

    def compute(self, real: Images, synthetic: Images, context: ImageContext) -> Fid:
        assert context.fid is not None
        sets = [each.at_most(MOST_IMAGES, seed=context.seed).pixels for each in (real, synthetic)]
        if min(map(len, sets)) < _FEWEST:
            raise UsageError(f"FID needs {_FEWEST} images of each set at least.")
        first, second = (context.fid(each) for each in sets)
        kids = kernel_distances(first, second, seed=context.seed)
        return Fid(
            context.fid.name,
            frechet(first, second, unbiased=True),
            float(kids.mean()),
            float(kids.std()),
            (len(first), len(second)),
            first.shape[1],
        )


def kernel_distances(first: Floats, second: Floats, *, seed: int = 0) -> Floats:
    """Squared MMD without bias, for subsets drawn from each set."""
    rng = np.random.default_rng(seed)
    size = min(_SUBSET, len(first), len(second))
    found = np.empty(_SUBSETS)
    for number_ in range(_SUBSETS):
        x, y = (each[rng.choice(len(each), size, replace=False)] for each in (first, second))
        inside = [_kernel(each, each) for each in (x, y)]
        own = sum(float(each.sum() - np.trace(each)) for each in inside) / (size * (size - 1))
        found[number_] = own - 2 * float(_kernel(x, y).mean())
    return found


def _kernel(first: Floats, second: Floats) -> Floats:
    return np.asarray((first @ second.T / first.shape[1] + 1.0) ** 3)
