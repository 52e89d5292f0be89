"""Merf for images: random Fourier features of all pixels, by class, in one release.

After DP-MERF (Harder, Adamczewski and Park, 2021; Sec. 6 and supplement L), with class counts out of the same budget, and
length scales that no image is looked at for.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from pointillist.errors import UsageError
from pointillist.features import FeatureMap, ImageFourier
from pointillist.generators.image_network.settings import ImageNetworkSettings
from pointillist.methods.base import METHODS, ImageMethod
from pointillist.methods.image_parts import image_of, require_images, spent_on_counts, with_counts
from pointillist.methods.parts import Part, joined, require_share, round_of
from pointillist.model import Model
from pointillist.plan import Plan, Request
from pointillist.progress import Progress
from pointillist.release import Measurement, Release


@METHODS.register("merf", place=70)
@dataclass(frozen=True, kw_only=True)
class ImageMerf(ImageMethod):
    """Random Fourier features of all pixels, by class (DP-MERF)."""

    features: int = 10_000
    """Random Fourier features, an even number; times the classes."""
    length_scales: tuple[float, ...] = (0.366,)
    """Of the Gaussian kernel, in parts of the distance between black and white: times the root of the number of pixels.
    The paper's 105 for MNIST, a variance, is 0.366, and its 127 for FashionMNIST is 0.402. Several: a mixture."""
    count_share: float = 0.05
    """Part of the budget (of mu^2) for the class counts. 0: classes are taken to be equally frequent."""
    frequency_seed: int = 0
    """The seed of the frequencies, which are public."""

    def __post_init__(self) -> None:
        if self.features < 2 or self.features % 2:
            raise UsageError(f"features must be even and at least 2, not {self.features}: they come as cos/sin pairs.")
        require_share("count_share", self.count_share, zero=True)
        if isinstance(self.length_scales, str | float | int):
            raise UsageError(f"length_scales must be a list of numbers, not {self.length_scales!r}.")
        object.__setattr__(self, "length_scales", tuple(self.length_scales))  # as they come back from a file
        if not self.length_scales or not all(0 < each < math.inf for each in self.length_scales):
            raise UsageError("length_scales must be numbers above 0, at least one.")

    def plan(self, request: Request) -> Plan:
        require_images(request, self.name, self.count_share)
        return Plan.make(self.name, asdict(self), request, (round_of(self._parts(request), 1.0),), ())

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        return joined(self._parts(plan.request))

    def _parts(self, request: Request) -> list[Part]:
        share = spent_on_counts(request, self.count_share)
        name, image = image_of(request.schema, self.name)
        farthest = math.sqrt(math.prod(image.shape))
        scales = [farthest * each for each in self.length_scales]
        waves = ImageFourier.draw(name, *image.shape, self.features, scales, seed=self.frequency_seed)
        return with_counts([Part("random features", waves, 1 - share)], request.schema, share)

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        return Model.fitted(release, self.network, seed=seed, progress=progress)

    @property
    def network(self) -> ImageNetworkSettings:
        """What is fitted unless the caller asks for another."""
        return ImageNetworkSettings()
