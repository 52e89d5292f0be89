"""Spectral: first and second moments of an image's low frequencies, and Gaussians that have them.

No public data and no training: a few passes over the images, and a generator in closed form. A small part of the budget
finds the mean image of each class, another how images of a class differ most, which cuts a class into kinds. The rest
measures where these kinds lie and how images vary around them: there they are short, and so is the noise.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.features import (
    FeatureMap,
    FirstMoments,
    ImageDistance,
    ImageMoments,
    KindMoments,
    OneHot,
    Pixels,
    SecondMoments,
)
from pointillist.features.images.cosines import SCALE, Basis, cosine_basis
from pointillist.fitting.class_shares import class_shares
from pointillist.generators.gaussians.gaussians import Gaussians, square_root
from pointillist.generators.gaussians.moments import (
    KindSums,
    averaged,
    covariances,
    needed_frequencies,
    scales,
    shrunken_means,
)
from pointillist.generators.image_generator import ImageColumns
from pointillist.methods.base import METHODS, ImageMethod
from pointillist.methods.image_parts import image_of, label_of_images, require_images, with_counts
from pointillist.methods.parts import Part, by_class, joined, require_share, round_of
from pointillist.model import Model
from pointillist.plan import Plan, Request, Round
from pointillist.progress import Progress
from pointillist.release import Measurement, Release
from pointillist.schema import Schema
from pointillist.schema.levels import Levels
from pointillist.settings import of_fit

Floats = NDArray[np.float64]
Map = TypeVar("Map", bound=FeatureMap)

_MOST_FREQUENCIES, _MOST_KINDS = 64, 64


@dataclass(frozen=True)
class _Supported:
    """What suits the noise: the fewest and the most frequencies, kinds, and the first pass's share."""

    fewest: int
    most: int
    kinds: int
    mean_share: float


_BY_VISIBLE = (
    (1000, _Supported(14, 22, 8, 0.06)),
    (250, _Supported(15, 15, 4, 0.12)),
    (100, _Supported(12, 12, 2, 0.12)),
    (0, _Supported(8, 8, 1, 0.12)),
)
"""From so many images of a class times mu on."""
_UNSTATED = _Supported(12, 12, 2, 0.12)
"""Where the number of images is not stated."""
_COARSE = 7
"""Frequencies of each direction that tell kinds apart."""
_DRAWN = 4000
"""Points that stand for a class when it is cut into kinds."""


@METHODS.register("spectral", place=60)
@dataclass(frozen=True, kw_only=True)
class Spectral(ImageMethod):
    """Moments of the low frequencies of images, by class and kind; Gaussians are fitted to them."""

    frequencies: int | None = None
    """How many low frequencies of each direction are measured, at most. None: as the noise leaves them, 8, 12, 15 or 22."""
    fewest_frequencies: int | None = None
    """How many are measured, at least: so many, or more if classes differ in finer ones, as the first pass tells. None: 14
    where the noise leaves 22; otherwise, and where `frequencies` are given, exactly those are measured."""
    kinds: int | None = None
    """How many kinds of images a class is cut into. None: as many as the noise leaves, 1, 2, 4 or 8."""
    mean_share: float | None = None
    """Part of the budget (of mu^2) for the first pass: the mean image and the number of images of each class. None: 0.06
    where classes are large for the noise, otherwise 0.12."""
    kind_share: float = 0.1
    """Part of the budget for the pass that tells kinds apart; there is none where a class has one kind."""
    count_share: float = 0.1
    """Part of the first pass for the numbers."""
    spread_share: float = 0.02
    """Part of the last pass for how far images are from their class's mean, all frequencies together."""
    brightness: float = 0.35
    """Images are shortened to this length for their mean, in parts of an all-white image's. Public, never looked up."""
    radius: float = 0.17
    """Deviations from the centre are shortened to this length, in the same parts."""
    reach: float = 0.4
    """Distances from a class's mean image count up to this length, in the same parts."""
    lift: float = 0.1
    """How long the constant beside a deviation is: the larger, the less noise on means, and the more on covariances."""

    variety: float = of_fit(1.0)
    """How much images of a kind vary, as a part of what was measured. Less makes tidier images that are more alike, from
    which classifiers learn less. A choice of the fit: it costs nothing to try another."""

    def __post_init__(self) -> None:
        for name in ("mean_share", "kind_share", "count_share", "spread_share"):
            if getattr(self, name) is not None:
                require_share(name, getattr(self, name))
        if (self.mean_share or max(each.mean_share for _, each in _BY_VISIBLE)) + self.kind_share >= 1:
            raise UsageError(
                "mean_share and kind_share leave nothing for the last pass: together they must be below 1."
            )
        for name in ("brightness", "radius", "reach", "lift", "variety"):
            if not 0 < getattr(self, name) <= 1:
                raise UsageError(f"{name} must lie between 0 and 1, not {getattr(self, name)}.")
        limits = {
            "frequencies": _MOST_FREQUENCIES,
            "fewest_frequencies": self.frequencies or _MOST_FREQUENCIES,
            "kinds": _MOST_KINDS,
        }
        for name, most in limits.items():
            if getattr(self, name) is not None and not 1 <= getattr(self, name) <= most:
                raise UsageError(f"{name} must lie between 1 and {most}, not {getattr(self, name)}.")

    def plan(self, request: Request) -> Plan:
        require_images(request, self.name, self.count_share)
        supported = _supported(request, round_of(self._first(request.schema), 1.0))
        fewest = self.fewest_frequencies or self.frequencies or supported.fewest
        frequencies, kinds = self.frequencies or max(fewest, supported.most), self.kinds or supported.kinds
        first = round_of(self._first(request.schema), self.mean_share or supported.mean_share)
        place = _Place(request.schema, self, frequencies, kinds)
        if place.classes == 1:  # there is nothing to differ from
            fewest = frequencies
        rounds = [first]
        if kinds > 1:
            rounds.append(round_of(place.coarse(None), self.kind_share))
        rounds.append(round_of(place.fine([]), 1 - sum(each.share for each in rounds)))
        settled = {"frequencies": frequencies, "fewest_frequencies": fewest, "kinds": kinds, "mean_share": first.share}
        notes: tuple[str, ...] = ()
        if fewest < frequencies:
            notes = (
                f"{fewest} to {frequencies} frequencies of each direction are measured, as many as the classes' mean images "
                f"differ in; features and noise are those of {frequencies}.",
            )
        return Plan.make(self.name, {**asdict(self), **settled}, request, tuple(rounds), notes)

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        if not measured:
            return joined(self._first(plan.request.schema))
        fewest, frequencies, kinds = (
            int(plan.options[name]) for name in ("fewest_frequencies", "frequencies", "kinds")
        )
        place = _Place(plan.request.schema, self, frequencies, kinds).settled(fewest, measured[0])
        if len(measured) == 1 and place.kinds > 1:
            return joined(place.coarse(measured[0]))
        return joined(place.fine(measured))

    def _first(self, schema: Schema) -> list[Part]:
        """Sums of images, and counts, by class. Nothing is negative."""
        share = self.count_share
        name, image = image_of(schema, self.name)
        radius = self.brightness * math.sqrt(math.prod(image.shape))
        return with_counts([Part("mean images", Pixels(name, *image.shape, radius), 1 - share)], schema, share)

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        """Nothing is drawn and nothing is trained, so the seed changes nothing."""
        rows, label, shares = class_shares(release)
        progress("fit", 0.0)
        assert release.schema.image is not None
        size = release.schema.image[1].shape
        basis = _basis(release.measurements[-1], size)
        levels = () if label is None else tuple(float(share) for share in shares)
        moments = _moments(release, rows * shares, basis, self.variety)
        gaussians = Gaussians.matching(size, levels, basis.unit, *moments, columns=ImageColumns.of(release.schema))
        progress("fit", 1.0)
        return Model.of(release, rows=rows, generator=gaussians)


@dataclass(frozen=True)
class _Place:
    """What is measured around what, after the passes that there have been."""

    schema: Schema
    method: Spectral
    frequencies: int
    kinds: int

    @property
    def _label(self) -> Levels | None:
        return label_of_images(self.schema)

    @property
    def classes(self) -> int:
        return 1 if self._label is None else self._label.size

    @property
    def _shape(self) -> tuple[int, int, int]:
        return image_of(self.schema, "spectral")[1].shape

    @property
    def _whole(self) -> float:
        """The length of an all-white image."""
        return math.sqrt(math.prod(self._shape))

    @cached_property
    def _coarse_basis(self) -> Basis:
        return cosine_basis(*self._shape, min(_COARSE, self.frequencies))

    @cached_property
    def _fine_basis(self) -> Basis:
        return cosine_basis(*self._shape, self.frequencies)

    def settled(self, fewest: int, first: Measurement) -> "_Place":
        """With as many frequencies as the classes' mean images differ in."""
        if fewest >= self.frequencies:
            return self
        images = self._mean_images(first).reshape(-1, *self._shape)
        pixels, weight, _ = _block(first, Pixels)
        noise = first.sigma / (first.grid.scale * weight) * pixels.radius
        counts = np.maximum(_counts(first, self.classes), _few(first))
        return replace(self, frequencies=needed_frequencies(images, noise, counts, fewest, self.frequencies))

    def coarse(self, first: Measurement | None) -> list[Part]:
        """Moments of the lowest frequencies around the classes' means, by class."""
        centres = self._mean_images(first) @ self._coarse_basis.unit.T
        return by_class([Part("coarse moments", self._around(self._coarse_basis, centres, 1), 1.0)], self._label)

    def fine(self, measured: Sequence[Measurement]) -> list[Part]:
        """Moments around kinds, and distances from the classes' means. Before anything is measured, around zero."""
        images = self._mean_images(measured[0] if measured else None)
        centres = np.repeat((images @ self._fine_basis.unit.T)[:, None, :], self.kinds, axis=1)
        if len(measured) > 1:  # where kinds lie, from coarse waves to fine ones: these hold those
            centres += self._cut(measured[1]) @ (self._coarse_basis.unit @ self._fine_basis.unit.T)
        around = self._around(self._fine_basis, centres.reshape(-1, self._fine_basis.size), self.kinds)
        label = None if self._label is None else OneHot(self._label.name, self._label.size)
        name = "moments" if label is None else "moments by class and kind" if self.kinds > 1 else "moments by class"
        column, _ = image_of(self.schema, "spectral")
        grey = np.rint(255 * np.clip(images, 0, 1)).astype(np.uint8)
        distance = ImageDistance(column, around.label, grey, self.method.reach * self._whole)
        share = self.method.spread_share
        spread = by_class([Part("distances from the mean", distance, share)], self._label)
        return [Part(name, KindMoments.of(around, label), 1 - share), *spread]

    def _around(self, basis: Basis, centres: Floats, kinds: int) -> ImageMoments:
        column, _ = image_of(self.schema, "spectral")
        return ImageMoments(
            column,
            None if self._label is None else self._label.name,
            basis.vectors,
            np.rint(np.clip(centres, -self._whole, self._whole) * 255 * SCALE).astype(np.int64),
            self.method.radius * self._whole,
            self.method.lift * self._whole,
            kinds,
        )

    def _mean_images(self, first: Measurement | None) -> Floats:
        """Of each class, in pixels of [0, 1], up to noise; black ones before they are measured."""
        if first is None:
            return np.zeros((self.classes, math.prod(self._shape)))
        pixels, _, sums = _block(first, Pixels)
        return np.asarray(sums * pixels.radius / np.maximum(_counts(first, self.classes), _few(first))[:, None])

    def _cut(self, coarse: Measurement) -> Floats:
        """For each class the centres of its kinds less its mean: those that best stand for a Gaussian with its moments."""
        from sklearn.cluster import KMeans
        from threadpoolctl import threadpool_limits

        moments, weight, sums = _block(coarse, ImageMoments)
        length = math.hypot(moments.lift, moments.radius)
        matrices = _matrices(moments, sums) * length**2
        noise = coarse.sigma / (coarse.grid.scale * weight) * length**2
        hidden = 4 * noise / moments.lift**2
        counts = np.maximum(matrices[:, 0, 0] / moments.lift**2, max(1.0, hidden))
        matrices /= counts[:, None, None]
        means = matrices[:, 0, 1:] / moments.lift
        mean_noise = noise / (math.sqrt(2) * moments.lift * counts)
        kinds = KindSums(np.zeros_like(means)[:, None], counts[:, None], means[:, None], mean_noise[:, None])
        found = covariances(kinds.covariances(matrices[:, 1:, 1:]), noise / counts, counts, self._coarse_basis.bands)
        drawn = np.random.default_rng(0).standard_normal((_DRAWN, self._coarse_basis.size))
        cut = []
        for mean, covariance in zip(means, found, strict=True):
            points = mean + drawn @ square_root(covariance)
            with threadpool_limits(limits=1):  # threads would add up in an order of their own
                cut.append(KMeans(self.kinds, n_init=1, random_state=0).fit(points).cluster_centers_)
        return np.stack(cut)


def _basis(last: Measurement, size: tuple[int, int, int]) -> Basis:
    """The one that was measured: the more frequencies, the larger a basis is."""
    wanted = _block(last, FirstMoments)[0].moments.size - 1  # less the constant beside coefficients
    for number in itertools.count(1):
        basis = cosine_basis(*size, number)
        if basis.size >= min(wanted, math.prod(size)):
            break
    if basis.size != wanted:
        raise UsageError("the release does not hold the low frequencies that spectral needs.")
    return basis


def _supported(request: Request, first: Round) -> _Supported:
    """What the noise leaves, by public facts."""
    if request.schema.rows is None:
        return _UNSTATED
    label = label_of_images(request.schema)
    classes = 1 if label is None else label.regular
    mu = Plan.make("spectral", {}, request, (first,), ()).guarantee.mu / request.spread
    visible = request.assumed_rows / classes * mu
    return next(found for least, found in _BY_VISIBLE if visible >= least)


def _moments(release: Release, counts: Floats, basis: Basis, variety: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Shares of kinds, means, the deviation of their noise, all by class and kind; and covariances by class."""
    first, last = release.measurements[0], release.measurements[-1]
    counts = np.maximum(counts, 1.0)
    sums, noisy, noise = _last(last, len(counts))
    # The first pass measured the means, too.
    pixels, weight, images = _block(first, Pixels)
    images = images * pixels.radius / counts[:, None]
    earlier = first.sigma / (first.grid.scale * weight) * pixels.radius / counts
    means, mean_noise = averaged(images @ basis.unit.T, earlier, sums.class_means, sums.class_noise)
    means = shrunken_means(means, mean_noise, counts, basis.bands)
    by_kind, left = sums.denoised(means, mean_noise, basis.bands)
    found = covariances(sums.covariances(noisy), noise, sums.counts.sum(axis=1), basis.bands)
    # How far images are from the mean, less how far kinds are, is what is left to vary.
    distance, weight, squares = _block(last, ImageDistance)
    squares = squares[:, 0] * distance.radius**2 / counts
    wide = last.sigma / (last.grid.scale * weight) * distance.radius**2 / counts
    painted = np.clip(by_kind @ basis.unit, 0.0, 1.0)
    apart = np.sum((painted - distance.centres[:, None, :] / 255) ** 2, axis=2)
    wanted = np.maximum(squares - np.sum(sums.shares * apart, axis=1), 0.0)
    found *= variety * scales(wanted, wide, np.einsum("cii->c", found), counts)[:, None, None]
    return sums.shares, by_kind, left, found


def _last(last: Measurement, classes: int) -> tuple[KindSums, Floats, Floats]:
    """Sums by kind; mean products of two coefficients by class, around the centres, and the deviation of their noise."""
    kinds, weight, firsts = _block(last, FirstMoments)
    moments = kinds.moments
    noise = last.sigma / (last.grid.scale * weight) * (moments.lift**2 + moments.radius**2)
    firsts = firsts.reshape(classes, moments.kinds, moments.size) * (moments.lift**2 + moments.radius**2)
    counts = np.maximum(firsts[:, :, 0] / moments.lift**2, max(1.0, 4 * noise / moments.lift**2))
    per_mean = math.sqrt(2) * moments.lift * counts
    centres = moments.centres.reshape(classes, moments.kinds, -1) / (255 * SCALE)
    sums = KindSums(centres, counts, firsts[:, :, 1:] / per_mean[:, :, None], noise / per_mean)
    whole = np.zeros((classes, moments.dimension))
    whole[:, moments.size :] = _block(last, SecondMoments)[2]
    products = _matrices(moments, whole)[:, 1:, 1:] * (moments.lift**2 + moments.radius**2)
    counted = counts.sum(axis=1)
    return sums, products / counted[:, None, None], noise / counted


def _matrices(moments: ImageMoments, sums: Floats) -> Floats:
    """Sums of u u^T as matrices: products of two entries come once, times sqrt 2."""
    matrices = np.zeros((len(sums), moments.size, moments.size))
    rows, columns = moments.pairs
    matrices[:, rows, columns] = sums / moments.weights
    matrices[:, columns, rows] = matrices[:, rows, columns]
    return matrices


def _block(measurement: Measurement, kind: type[Map]) -> tuple[Map, float, Floats]:
    """The one map of a kind, its weight, and its noisy sums by class, or by class and kind."""
    for block in measurement.blocks():
        leaf = block.map.parts[-1] if block.map.parts and not isinstance(block.map, kind) else block.map
        if isinstance(leaf, kind):
            return leaf, block.weight, (block.values / block.scale).reshape(-1, leaf.dimension)
    raise UsageError(f"the release does not hold the {kind.__name__} that spectral needs.")


def _counts(measurement: Measurement, classes: int) -> Floats:
    """Noisy numbers of images by class: the last block."""
    *_, last = measurement.blocks()
    return np.asarray(measurement.values[-classes:] / last.added)


def _few(measurement: Measurement) -> float:
    """Fewer images than this are hidden by the noise."""
    *_, last = measurement.blocks()
    return max(1.0, 4 * last.sigma / last.added)
