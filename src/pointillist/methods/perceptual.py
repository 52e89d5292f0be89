"""Perceptual: mean activations of a public network, by class, in one release; for images.

After DP-MEPF (Harder, Jalali Asadabadi, Sutherland and Park, 2022). First and second moments leave together, with noise for
the length that they have together; class counts come out of the same budget; so does the proxy for early stopping, where it
is asked for, and it has the noise that it is charged with. The published code lacks each of these.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from pointillist.device import CPU, DeviceName, lasting, require_device_name
from pointillist.errors import UsageError
from pointillist.features import Concat, Extractor, FeatureMap, Labelled, Weighted
from pointillist.features.images.perceptual import Perceptual as PerceptualMap
from pointillist.generators.image_network.settings import ImageNetworkSettings
from pointillist.methods.base import METHODS, ImageMethod
from pointillist.methods.image_parts import (
    image_of,
    label_of_images,
    require_images,
    spent_on_counts,
    with_counts,
)
from pointillist.methods.parts import Part, joined, require_share, round_of
from pointillist.methods.perceptual_bounds import FAILURE, Noise, expected_error, farther, uniform_error
from pointillist.methods.perceptual_proxy import PROXY_NOISE, fit_by_proxy
from pointillist.model import Model
from pointillist.plan import Plan, Request
from pointillist.progress import Progress
from pointillist.release import Measurement, Release
from pointillist.settings import of_fit

StoppingName = Literal["chi2", "proxy"]

MOST_COORDINATES = 2_000_000
"""Unless the user wants more: of a release, over all classes. Averages over more places keep below it."""
_TYPICAL = 0.75
"""The length of the mean features of one class of images, roughly, where every image has length 1."""

_NETWORK = ImageNetworkSettings(architecture="residual", breadth=32, noise=100, steps=2000, rate=5e-3, momentum=0.5)
"""Narrower and shorter than the paper's: at 64 channels a step took a second of one core."""


@METHODS.register("perceptual", place=90)
@dataclass(frozen=True, kw_only=True, eq=False)
class Perceptual(ImageMethod):
    """Activations of a public network, by class (DP-MEPF): it needs public images, or a network that has seen some."""

    extractor: str | Path | Extractor | Mapping[str, Any] = "efficientnet-lite0"
    """The public network: a name ("efficientnet-lite0", "torchvision:vgg19", "timm:NAME", each with @SIZE), the file of
    `pointillist extractor train`, or an Extractor. In a release's plan: its name and hash."""
    layers: tuple[str, ...] | None = None
    """Names of the layers that are read. None: every convolution wider than one pixel, after its normalisation."""
    pool: int | None = None
    """A layer's values are averaged down to so many places each way, if it has more. None: half of what the largest layer
    has, or fewer where the release would have over two million coordinates. A large number: no averages."""
    moments: int = 2
    """1: activations; 2: their squares, too."""
    second_share: float = 0.5
    """The squares' part of the features' budget."""
    rectified: bool = True
    """Whether values below 0 count as 0, as for the network's next layer. With replace-one it saves sqrt 2 of the noise."""
    equal_layers: bool = False
    """Whether every layer has the same part of an image's length."""
    count_share: float = 0.01
    """Part of the budget (of mu^2) for the class counts. 0: classes are taken to be equally frequent."""
    stopping: StoppingName = "chi2"
    """When a fit ends. "chi2": as soon as the noise explains what is left, which costs nothing. "proxy": all steps are done,
    and of the states on the way the one is kept that is nearest to a few features with ten times the noise, paid for."""
    network: ImageNetworkSettings | Mapping[str, Any] | None = of_fit(None)
    """How the generator is fitted. None: a residual network, much as in the paper; names and values change some of it."""
    device: DeviceName = CPU
    """What the public network runs on, one image at a time: cpu, cuda, mps, or auto for a graphics card if there is one.
    A fit runs where `network` says. Files do not say it."""

    def __post_init__(self) -> None:
        require_share("count_share", self.count_share, zero=True)
        require_share("second_share", self.second_share)
        if self.moments not in (1, 2):
            raise UsageError(f"moments must be 1 or 2, not {self.moments}.")
        if self.pool is not None and self.pool < 1:
            raise UsageError(f"pool must be at least 1, not {self.pool}.")
        if self.stopping not in get_args(StoppingName):
            raise UsageError(
                f"stopping {self.stopping!r} is not known. Choose one of {', '.join(get_args(StoppingName))}."
            )
        require_device_name(self.device)
        if isinstance(self.layers, str):
            raise UsageError("layers must be a list of names, not one name.")
        if self.layers is not None:
            object.__setattr__(self, "layers", tuple(self.layers))  # as they come back from a file
        if isinstance(self.network, Mapping):
            unknown = set(self.network) - {each.name for each in fields(_NETWORK)}
            if unknown:
                raise UsageError(f"network: image networks have no setting {', '.join(map(repr, sorted(unknown)))}.")
            object.__setattr__(self, "network", replace(_NETWORK, **self.network))

    def plan(self, request: Request) -> Plan:
        require_images(request, self.name, self.count_share)
        feature_map = self._map(request)
        parts = self._parts(request, feature_map)
        rounds = (round_of(parts, 1.0),)
        settled = Plan.make(self.name, self._options(feature_map), request, rounds, ())
        return Plan.make(self.name, settled.options, request, rounds, self._notes(settled, feature_map))

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        return joined(self._parts(plan.request, self._map(plan.request)))

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        given = release
        if isinstance(self.extractor, Extractor):
            given = _with_extractor(release, self.extractor)
        settings = self._settings()
        if release.plan.options.get("stopping") == "proxy" and release.method == self.name:
            return fit_by_proxy(given, settings, seed=seed, progress=progress)
        return Model.fitted(given, settings, seed=seed, progress=progress)

    def _settings(self) -> ImageNetworkSettings:
        return self.network if isinstance(self.network, ImageNetworkSettings) else _NETWORK

    def _extractor(self) -> Extractor:
        if isinstance(self.extractor, Mapping):
            raise UsageError(
                "these are the settings of a release, which name its extractor. Pass the extractor itself: its file, its "
                "name or an Extractor."
            )
        found = Extractor.open(self.extractor).on(self.device)
        return found if self.layers is None else found.reading(self.layers)

    def _map(self, request: Request) -> PerceptualMap:
        extractor = self._extractor()
        name, _ = image_of(request.schema, self.name)
        label = label_of_images(request.schema)
        classes = 1 if label is None else label.size

        def made(pool: int) -> PerceptualMap:
            return PerceptualMap.of(
                name,
                extractor,
                pool=pool,
                moments=self.moments,
                second_share=self.second_share,
                rectified=self.rectified,
                equal_layers=self.equal_layers,
            )

        pool = self.pool
        if pool is None:
            pool = -(-max(max(shape[1:]) for shape in extractor.shapes) // 2)
            while pool > 1 and made(pool).dimension * classes > MOST_COORDINATES:
                pool -= 1
        return made(pool)

    def _parts(self, request: Request, feature_map: PerceptualMap) -> list[Part]:
        counted = spent_on_counts(request, self.count_share)
        rest, proxies = 1 - counted, []
        if self.stopping == "proxy":
            # Of one length, weights 10 : 1 give noise 1 : 10; shares are their squares.
            share = rest / (1 + PROXY_NOISE**2)
            rest -= share
            proxies = [Part("stopping proxy", _proxy(feature_map), share)]
        return [*with_counts([Part("activations", feature_map, rest)], request.schema, counted), *proxies]

    def _options(self, feature_map: PerceptualMap) -> dict[str, Any]:
        """The settings as JSON: the extractor is named, not held."""
        options = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "device"}
        extractor = feature_map.extractor
        return {
            **options,
            "extractor": {"name": extractor.name, "sha256": extractor.sha256},
            "layers": list(extractor.layers),
            "pool": max(max(shape[1:]) for shape in feature_map.shapes),
            "network": lasting(self._settings()),
        }

    def _notes(self, plan: Plan, feature_map: PerceptualMap) -> tuple[str, ...]:
        """What to expect at this budget: the noise, and what the bounds say about a fit to it."""
        request, block = plan.request, plan.rounds[0].blocks[0]
        rows = request.assumed_rows
        noise = Noise.of([(plan.noise_rows(0, block) / rows, block.cells)])
        farthest = math.sqrt(2) if feature_map.nonnegative else 2.0
        assumed = "" if request.schema.rows else f" for {rows:,} images, as the schema does not state them"
        label = label_of_images(request.schema)
        classes = 1 if label is None else label.size
        typical = _TYPICAL / math.sqrt(classes)
        extractor = feature_map.extractor
        notes = [
            f"{feature_map.dimension:,} features of {extractor.name} ({len(extractor.layers)} layers, sha256 "
            f"{extractor.sha256[:12]}), for each of {classes} classes. An image has length 1, and mean features of images "
            f"usually about {typical:.2g}; the noise has length {math.sqrt(noise.trace):.2g}{assumed}.",
            f"Expected error of a squared distance (MMD) between like images: {expected_error(noise, 0):.2g} (DP-MEPF Prop. "
            f"A.1). With probability {1 - FAILURE:.0%}, no squared distance is off by more than "
            f"{uniform_error(noise, farthest):.2g} (A.3), and the generator that fits best is no more than "
            f"{farther(noise):.2g} farther from the data than the best without noise (A.5).",
        ]
        if math.sqrt(noise.trace) > typical:
            notes.append(
                "The noise is longer than mean features usually are: expect coarse shapes. Lower pool, read fewer layers, "
                "choose moments = 1, or a larger ε."
            )
        return tuple(notes)


def _proxy(feature_map: PerceptualMap) -> PerceptualMap:
    """What a fit is watched by: the last layer, averaged over all places, both moments; for all classes together."""
    extractor = feature_map.extractor.reading(feature_map.extractor.layers[-1:])
    return PerceptualMap.of(feature_map.image, extractor, pool=1, moments=2, rectified=feature_map.rectified)


def _with_extractor(release: Release, extractor: Extractor) -> Release:
    """The same release, with its activations computed by a network that the caller has."""

    def rebuilt(feature_map: FeatureMap) -> FeatureMap:
        match feature_map:
            case PerceptualMap():
                return feature_map.with_extractor(extractor)
            case Concat():
                return Concat(tuple(map(rebuilt, feature_map.maps)))
            case Weighted():
                return Weighted(rebuilt(feature_map.map), feature_map.weight)
            case Labelled():
                return Labelled.of(rebuilt(feature_map.features), feature_map.label)
        return feature_map

    measurements = tuple(replace(each, feature_map=rebuilt(each.feature_map)) for each in release.measurements)
    return replace(release, measurements=measurements)
