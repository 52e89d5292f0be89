"""Spectral: first and second moments of an image's low frequencies, by class, and Gaussians that have them.

No public data and no training: two passes over the images, and a generator in closed form. The first pass takes a small part
of the budget for the mean image of each class. The second measures first and second moments around these means, where images
are short, and so is the noise.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.features import FeatureMap, ImageMoments, Pixels, blocks
from pointillist.features.cosines import SCALE, Basis, cosine_basis
from pointillist.generators.gaussians import Gaussians
from pointillist.generators.image_estimate import Moments, estimate, shrunken_means
from pointillist.generators.image_model import ImageModel
from pointillist.generators.image_settings import image_shares
from pointillist.generators.model import Model
from pointillist.methods.image_labelling import image_of, label_of_images, require_images, with_counts
from pointillist.methods.labelling import Part, by_class, joined, require_share, round_of
from pointillist.plan import Plan, Request, Round
from pointillist.progress import Progress
from pointillist.release import Measurement, Release
from pointillist.schema import Schema

Floats = NDArray[np.float64]
Map = TypeVar("Map", bound=FeatureMap)

_MOST_FREQUENCIES = 64
_CLEAR, _DIM = 1000, 100
"""Images of a class times mu: from the first on noise leaves 14 frequencies, from the second on 12."""


@dataclass(frozen=True, kw_only=True)
class Spectral:
    """The default for images."""

    frequencies: int | None = None
    """How many low frequencies of each direction are measured. None: as many as the noise leaves, 8, 12 or 14."""
    mean_share: float = 0.1
    """Part of the budget (of mu^2) for the first pass: the mean image and the number of images of each class."""
    count_share: float = 0.1
    """Part of that for the numbers."""
    brightness: float = 0.35
    """Images are shortened to this length for their mean, in parts of an all-white image's. Public, never looked up."""
    radius: float = 0.19
    """Deviations from the mean are shortened to this length, in the same parts."""
    lift: float = 0.1
    """How long the constant beside a deviation is: the larger, the less noise on means, and the more on covariances."""

    def __post_init__(self) -> None:
        require_share("mean_share", self.mean_share)
        require_share("count_share", self.count_share)
        for name in ("brightness", "radius", "lift"):
            if not 0 < getattr(self, name) <= 1:
                raise UsageError(f"{name} must lie between 0 and 1, not {getattr(self, name)}.")
        if self.frequencies is not None and not 1 <= self.frequencies <= _MOST_FREQUENCIES:
            raise UsageError(f"frequencies must lie between 1 and {_MOST_FREQUENCIES}, not {self.frequencies}.")

    @property
    def name(self) -> str:
        return "spectral"

    def plan(self, request: Request) -> Plan:
        require_images(request, self.name, self.count_share)
        first = round_of(self._first(request), self.mean_share)
        frequencies = self.frequencies or _frequencies(request, first)
        moments = self._moments(request.schema, frequencies, None)
        second = round_of(moments, 1 - self.mean_share)
        options = {**asdict(self), "frequencies": frequencies}
        return Plan.make(self.name, options, request, (first, second), ())

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        if not measured:
            return joined(self._first(plan.request))
        frequencies = int(plan.options["frequencies"])
        return joined(self._moments(plan.request.schema, frequencies, measured[0]))

    def _first(self, request: Request) -> list[Part]:
        """Sums of images, and counts, by class. Nothing is negative."""
        share = self.count_share
        name, image = image_of(request.schema, self.name)
        radius = self.brightness * math.sqrt(math.prod(image.shape))
        return with_counts([Part("mean images", Pixels(name, *image.shape, radius), 1 - share)], request.schema, share)

    def _moments(self, schema: Schema, frequencies: int, first: Measurement | None) -> list[Part]:
        """Moments around the means of the first pass; before it, around zero."""
        name, image = image_of(schema, self.name)
        basis = cosine_basis(*image.shape, frequencies)
        label = label_of_images(schema)
        classes = 1 if label is None else label.size
        centres = np.zeros((classes, basis.size))
        if first is not None:
            counts = _counts(first, classes)
            centres = _sums(first, Pixels) / np.maximum(counts, _few(first))[:, None] @ basis.unit.T
        whole = math.sqrt(math.prod(image.shape))
        moments = ImageMoments(
            name,
            None if label is None else label.name,
            basis.vectors,
            np.rint(np.clip(centres, -whole, whole) * 255 * SCALE).astype(np.int64),
            self.radius * whole,
            self.lift * whole,
        )
        return by_class([Part("moments", moments, 1.0)], label)

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        """Nothing is drawn and nothing is trained, so the seed changes nothing."""
        rows, label, shares = image_shares(release)
        progress("fit", 0.0)
        assert release.schema.image is not None
        size = release.schema.image[1].shape
        basis = cosine_basis(*size, int(release.plan["options"]["frequencies"]))
        means, noise, covariances = _read(release, rows * shares, basis)
        waves = _block(release.measurements[1], ImageMoments)[0].vectors / SCALE
        levels = () if label is None else tuple(float(share) for share in shares)
        painter = Gaussians.matching(size, levels, waves, means, noise, covariances)
        progress("fit", 1.0)
        return ImageModel.of(release, rows=rows, generator=painter)  # type: ignore[arg-type]


def _frequencies(request: Request, first: Round) -> int:
    """How many frequencies the noise leaves, by public facts; a middling number where the images' number is not stated."""
    if request.schema.rows is None:
        return 12
    label = label_of_images(request.schema)
    classes = 1 if label is None else label.regular
    visible = request.assumed_rows / classes * Plan.make("spectral", {}, request, (first,), ()).guarantee.mu
    return 14 if visible >= _CLEAR else 12 if visible >= _DIM else 8


def _read(release: Release, counts: Floats, basis: Basis) -> tuple[Floats, Floats, Floats]:
    """Means of coefficients by class, the deviation of their noise, and covariances."""
    first, second = release.measurements
    moments, weight, sums = _block(second, ImageMoments)
    length = math.hypot(moments.lift, moments.radius)
    counts = np.maximum(counts, 1.0)
    # u u^T back as a matrix: products of two entries come once, times sqrt 2.
    matrices = np.zeros((len(counts), moments.size, moments.size))
    rows, columns = moments.pairs
    matrices[:, rows, columns] = sums / moments.weights / counts[:, None]
    matrices[:, columns, rows] = matrices[:, rows, columns]
    matrices *= length**2
    noise = second.sigma / (second.grid.scale * weight) * length**2 / counts
    means = matrices[:, 0, 1:] / moments.lift
    mean_noise = noise / (math.sqrt(2) * moments.lift)
    centres = moments.centres / (255 * SCALE)
    found, covariances = estimate(Moments(counts, means, mean_noise, matrices[:, 1:, 1:], noise), basis.bands)
    # The first pass measured the means, too: what it and the second say is averaged by their noise.
    pixels, pixel_weight, _ = _block(first, Pixels)
    earlier = first.sigma / (first.grid.scale * pixel_weight) * pixels.radius / counts
    kept = earlier**2 / (earlier**2 + mean_noise**2)
    means = centres + kept[:, None] * found
    total = np.sqrt(1 / (1 / earlier**2 + 1 / mean_noise**2))
    return shrunken_means(means, total, counts, basis.bands), total, covariances


def _block(measurement: Measurement, kind: type[Map]) -> tuple[Map, float, Floats]:
    """The one map of a kind, its weight, and its noisy sums by class."""
    start = 0
    for block, weight in blocks(measurement.feature_map):
        leaf = block.leaves[-1]
        if isinstance(leaf, kind):
            values = measurement.values[start : start + block.dimension] / (measurement.grid.scale * weight)
            return leaf, weight, values.reshape(-1, leaf.dimension)
        start += block.dimension
    raise UsageError(f"the release does not hold the {kind.__name__} that spectral needs.")


def _sums(measurement: Measurement, kind: type[Pixels]) -> Floats:
    """Noisy sums of images by class, in pixels of [0, 1]."""
    pixels, _, sums = _block(measurement, kind)
    return sums * pixels.radius


def _counts(measurement: Measurement, classes: int) -> Floats:
    """Noisy numbers of images by class: the last block."""
    _, weight = blocks(measurement.feature_map)[-1]
    return np.asarray(measurement.values[-classes:] / measurement.grid.weight(weight))


def _few(measurement: Measurement) -> float:
    """Fewer images than this are hidden by the noise."""
    _, weight = blocks(measurement.feature_map)[-1]
    return max(1.0, 4 * measurement.sigma / measurement.grid.weight(weight))
