"""Reduced set: one noisy mean embedding of all columns together, then weighted rows that have nearly the same.

After Balog, Tolstikhin and Schölkopf (2018), Algorithm 2. Their random features can be longer than the bound that their
noise is made for; cos/sin pairs cannot. Theirs are of numbers; here categories turn the same waves, so that one map sees
how all columns hang together. And where they add points without end, the fit stops before it follows the noise.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from pointillist.errors import UsageError
from pointillist.features import MixedFourier, RandomFourier, Tiles
from pointillist.generators.points.settings import PointsSettings, PointWeights, SearchName
from pointillist.methods.base import METHODS
from pointillist.methods.merf import Floats, Merf
from pointillist.methods.parts import categories_of
from pointillist.model import Model
from pointillist.progress import Progress
from pointillist.release import Measurement, Release
from pointillist.schema.levels import Levels
from pointillist.settings import of_fit

KernelName = Literal["product", "sum"]


@METHODS.register("reduced-set", place=50)
@dataclass(frozen=True, kw_only=True)
class ReducedSet(Merf):
    """Random features of numbers and categories together, and points moved to fit them (Balog et al., Algorithm 2)."""

    category_share: float = 0.3
    """Part of the budget, after the counts', for every category by itself."""
    kernel: KernelName = "product"
    """"product": random features see all columns together. "sum": of numbers alone, beside the categories, as merf does."""
    category_gap: float = 0.5
    """How far apart two categories are, in parts of a number's range, where the kernel is a product."""
    points: int | None = of_fit(None)
    """How many points, or how many at most if greedy. None: 1,000."""
    weights: PointWeights = of_fit("probabilities")
    """"probabilities", "bounded" as in the paper, or "uniform"; see PointsSettings."""
    search: SearchName = of_fit("joint")
    """"joint", or "greedy" as in the paper."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._generator()  # refuses what it does not know
        if self.kernel not in get_args(KernelName):
            raise UsageError(f"kernel {self.kernel!r} is not known. Kernels: {', '.join(get_args(KernelName))}.")
        if not 0 < self.category_gap < math.inf:
            raise UsageError(f"category_gap must be above 0, not {self.category_gap}.")

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        return Model.fitted(release, self._generator(), seed=seed, progress=progress)

    def _generator(self) -> PointsSettings:
        return PointsSettings(points=self.points, weights=self.weights, search=self.search)

    def _random(self, levels: tuple[Levels, ...], label: Levels | None) -> tuple[Levels, ...]:
        if self.kernel == "sum":
            return super()._random(levels, label)
        return tuple(each for each in levels if each is not label)

    def _waves(self, columns: tuple[Levels, ...], features: int, measured: Sequence[Measurement]) -> RandomFourier:
        if self.kernel == "sum":
            return super()._waves(columns, features, measured)
        generator = np.random.default_rng(self.frequency_seed)
        numbers = tuple(each for each in columns if each.numeric)
        turned = [(each, leaf) for each in columns if (leaf := categories_of(each)) is not None]
        scales = np.broadcast_to(
            self._scales(numbers, features, measured, len(columns)), (features // 2, max(1, len(numbers)))
        )
        waves = generator.standard_normal((features // 2, len(numbers))) / scales[:, : len(numbers)]
        # Angles of variance v make a factor of exp(-v), as a gap does in a Gaussian kernel of variance gap^2 / (2 v).
        spread = self.category_gap / (math.sqrt(2) * scales.mean(axis=1, keepdims=True))
        angles = [spread * _angles(each, leaf, features // 2, generator) for each, leaf in turned]
        return MixedFourier(
            tuple(each.name for each in numbers),
            waves,
            tuple(each.name for each, _ in turned),
            tuple(each.size for each, _ in turned),
            np.concatenate([np.zeros((features // 2, 0)), *angles], axis=1),
        )

    def _scales(
        self, numbers: tuple[Levels, ...], features: int, measured: Sequence[Measurement], columns: int
    ) -> Floats:
        if not numbers and not isinstance(self.length_scales, tuple):
            return math.sqrt(columns) * np.ones((1, 1))  # nothing was said about categories
        return super()._scales(numbers, features, measured, columns)


def _angles(level: Levels, leaf: Tiles, pairs: int, generator: np.random.Generator) -> Floats:
    """Of every level of a column. A number's bins have none: its position is in the wave already."""
    angles = generator.standard_normal((pairs, leaf.dimension))
    if level.numeric:
        angles[:, 0] = 0.0
    return angles[:, leaf.table]
