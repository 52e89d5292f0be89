"""Landmarks: public points, weighted so that they stand in for the private rows.

After Balog et al. (2018), Algorithm 1. Points are chosen without a look at the rows: rows that were public before, or rows
spread over all that the schema allows. Each private record is written in coordinates of the space that the points span, the
coordinates are added up with noise, and weights of the points are fitted to the noisy sum. The points with their weights are
the synthetic data.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.features import FeatureMap, Records
from pointillist.features.cholesky import PivotedCholesky, pivoted_cholesky
from pointillist.features.kernel import Delta, Gaussian, Kernel, Times, kernel_from_json
from pointillist.features.landmark import Landmarks as LandmarkMap
from pointillist.fitting.class_shares import record_count
from pointillist.generators.points.points import Points
from pointillist.generators.points.weighting import Kind, informed, require_kind, weigh
from pointillist.methods.base import METHODS, TableMethod
from pointillist.methods.domain_points import domain_points, fingerprint
from pointillist.methods.parts import (
    Part,
    categories_of,
    counts,
    joined,
    label_of,
    require_one_target,
    require_rows,
    require_share,
    round_of,
)
from pointillist.model import Model
from pointillist.plan import Plan, Request, Round
from pointillist.progress import Progress
from pointillist.release import Measurement, Release
from pointillist.schema.levels import Levels, levels_of
from pointillist.settings import of_fit

Floats = NDArray[np.float64]

MOST_LANDMARKS = 1000
"""Unless the user asks for more: every row is multiplied by a square of so many numbers."""
MOST_POINTS = 50_000
_SHOWN = (10, 30, 100, 300, 1000)
_LEFT = 0.3
"""Once the points have had their say there is little noise left to follow: the weights may come this near to it."""


@METHODS.register("landmarks", place=40)
@dataclass(frozen=True, kw_only=True, eq=False)
class Landmarks(TableMethod):
    """Coordinates in the span of public points, which are weighted to fit them (Balog et al., Algorithm 1)."""

    points: Records | Mapping[str, Any] | None = None
    """Public rows, as `pointillist.public_points` reads them. None: rows spread over all that the schema allows.

    In a release's plan: how many there were, and their hash; the points themselves are in the release's feature map.
    """
    number: int | None = None
    """How many of the points span the space (the landmarks): all points get weights. None: by the expected error."""
    length_scale: float = 0.2
    """Of the Gaussian kernel, in parts of a column's range; times the square root of the number of numeric columns."""
    floor: float = 0.1
    """How alike records are, from 0 to below 1, that differ in every category and in nothing else."""
    kernel: Kernel | Mapping[str, Any] | None = None
    """Another kernel, in place of the one that `length_scale` and `floor` describe."""
    tolerance: float = 1e-6
    """Points whose squared distance from the space spanned so far is below this add nothing to it."""
    count_share: float = 0.05
    """Part of the budget (of mu^2) for the class counts, or the number of rows where there is no label."""
    weights: Kind = of_fit("probabilities")
    """What weights may be: "probabilities"; "bounded", with absolute values that add up to 1 at most; or "signed"."""
    candidates: int = 4096
    """How many points are spread over the schema's domain where none are given."""
    points_seed: int = 0
    """The seed of these points, which are public."""
    overlap: bool = False
    """Whether rows of the private table may be among the public ones: they are public all the same, and you say so."""
    _spans: dict[Any, tuple[Records, PivotedCholesky]] = field(default_factory=dict, init=False, repr=False)
    """What was worked out last: a plan and its feature map ask for the same."""

    def __post_init__(self) -> None:
        require_share("count_share", self.count_share, zero=True)
        require_kind(self.weights)
        _require("number", self.number is None or self.number >= 1, "at least 1", self.number)
        _require("length_scale", 0 < self.length_scale < math.inf, "above 0", self.length_scale)
        _require("floor", 0 <= self.floor < 1, "from 0 to below 1", self.floor)
        _require("tolerance", 1e-12 <= self.tolerance < 1, "from 1e-12 to below 1", self.tolerance)
        _require("candidates", 1 <= self.candidates <= MOST_POINTS, f"from 1 to {MOST_POINTS:,}", self.candidates)
        if isinstance(self.kernel, Mapping):
            object.__setattr__(self, "kernel", kernel_from_json(self.kernel))  # as it comes back from a file
        if isinstance(self.points, Records):
            rows = self.points.rows
            if not 1 <= rows <= MOST_POINTS:
                raise UsageError(
                    f"landmarks take from 1 to {MOST_POINTS:,} public rows, not {rows:,}. Pass a random part of them."
                )
        elif self.points is not None and not isinstance(self.points, Mapping):
            raise UsageError("points must be public rows, as pointillist.public_points(table, schema) reads them.")

    @property
    def copied_rows(self) -> Records | None:
        return self.points if isinstance(self.points, Records) and not self.overlap else None

    def plan(self, request: Request) -> Plan:
        require_one_target(request, self.name)
        require_rows(request, self.count_share)
        levels = levels_of(request.schema)
        points, found = self._span(levels, request.target)
        number, notes = self._number(request, points, found)
        rounds = self._rounds(levels, request.target, self._map(levels, request.target, number))
        return Plan.make(self.name, self._options(points, number), request, rounds, notes)

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        levels, target = levels_of(plan.request.schema), plan.request.target
        spanned = self._map(levels, target, int(plan.options["number"]))
        return joined(self._parts(levels, target, spanned))

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        measurement = release.measurements[-1]
        maps = [leaf for leaf in measurement.feature_map.leaves if isinstance(leaf, LandmarkMap)]
        if not maps:
            raise UsageError(
                f"a release by {release.method} has no landmarks to be weighted. Fit it by its own method."
            )
        rows = record_count(release)
        total = measurement.grid.scale * rows
        progress("fit", 0.0)
        points = maps[0].points
        features, target, noise = measurement.feature_map(points), measurement.values / total, measurement.sigma / total
        if self.weights != "signed":  # those are the paper's own
            target, noise = informed(features, target, noise)
            noise *= _LEFT
        weights = weigh(features, target, noise, self.weights)
        progress("fit", 1.0)
        return Model.of(release, rows=rows, generator=Points(points, weights))

    def _options(self, points: Records, number: int) -> dict[str, Any]:
        """The settings as JSON: the points are named, not held."""
        options = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        kernel = None if self.kernel is None else self._own_kernel().to_json()
        named = {"rows": points.rows, "sha256": fingerprint(points)}
        return {**options, "points": named, "number": number, "kernel": kernel}

    def _own_kernel(self) -> Kernel:
        assert isinstance(self.kernel, Kernel)
        return self.kernel

    def _points(self, levels: tuple[Levels, ...]) -> Records:
        if self.points is None:
            return domain_points(levels, self.candidates, seed=self.points_seed)
        if not isinstance(self.points, Records):
            raise UsageError("these are the settings of a release, which name its points. Pass the points themselves.")
        for each in levels:
            codes = self.points.codes.get(each.name)
            known = codes is not None and int(codes.max()) < each.size
            if not known or (each.numeric and each.name not in self.points.units):
                raise UsageError(
                    f"the public points do not fit column {each.name!r} of the schema. Read them with "
                    "pointillist.public_points(table, schema), and the same schema."
                )
        return self.points

    def _span(self, levels: tuple[Levels, ...], target: str | None) -> tuple[Records, PivotedCholesky]:
        """The points, and as many landmarks among them as may be of use; worked out once for each request."""
        key = (levels, target)
        if key not in self._spans:
            points = self._points(levels)
            most = MOST_LANDMARKS if self.number is None else self.number
            kernel = self._kernel(levels, target)
            self._spans.clear()
            self._spans[key] = points, pivoted_cholesky(kernel, points, tolerance=self.tolerance, most=most)
        return self._spans[key]

    def _map(self, levels: tuple[Levels, ...], target: str | None, number: int) -> LandmarkMap:
        points, found = self._span(levels, target)
        return LandmarkMap.of(self._kernel(levels, target), points, found, number)

    def _kernel(self, levels: tuple[Levels, ...], target: str | None) -> Kernel:
        if self.kernel is not None:
            return self._own_kernel()
        return mixed_kernel(levels, label_of(levels, target), self.length_scale, self.floor)

    def _number(self, request: Request, points: Records, found: PivotedCholesky) -> tuple[int, tuple[str, ...]]:
        """How many landmarks: as asked for, or where the error from all that is public is least."""
        assumed = (
            "" if request.schema.rows else f" for {request.assumed_rows:,} rows, as the schema does not state them"
        )
        if self.number is not None:
            fewer = f": the other points add less than the tolerance of {self.tolerance:g}"
            note = (f"{found.rank:,} of {self.number:,} landmarks{fewer}.",) if found.rank < self.number else ()
            return found.rank, note
        levels = levels_of(request.schema)
        one = LandmarkMap.of(self._kernel(levels, request.target), points, found, 1)
        trial = Plan.make(self.name, {}, request, self._rounds(levels, request.target, one), ())
        noise = (trial.noise_rows(0, trial.rounds[0].blocks[0]) / request.assumed_rows) ** 2
        best = best_number(found.missed, noise)
        shown = sorted({best, *(size for size in _SHOWN if size <= found.rank)})
        table = "; ".join(f"{size:,}: {found.missed[size]:.2g} + {size * noise:.2g}" for size in shown)
        return best, (
            f"{best:,} landmarks among {points.rows:,} public points, where what they miss of a point and the noise "
            f"are least together{assumed} (landmarks: missed + noise, squared; {table}).",
        )

    def _rounds(self, levels: tuple[Levels, ...], target: str | None, spanned: LandmarkMap) -> tuple[Round, ...]:
        return (round_of(self._parts(levels, target, spanned), 1.0),)

    def _parts(self, levels: tuple[Levels, ...], target: str | None, spanned: LandmarkMap) -> list[Part]:
        label = label_of(levels, target)
        return [Part("landmarks", spanned, 1 - self.count_share), *counts(levels, label, self.count_share)]


def mixed_kernel(levels: tuple[Levels, ...], label: Levels | None, length_scale: float, floor: float) -> Kernel:
    """A Gaussian of all numbers times a comparison of every category; classes of the label have nothing in common.

    The more columns there are, the less each of them counts: differences of numbers are averaged, and `floor` is reached
    only where all categories differ. A number's special values and gaps are categories, too.
    """
    numbers = tuple(each.name for each in levels if each.numeric)
    tiles = [found for each in levels if each is not label and (found := categories_of(each)) is not None]
    kernels: list[Kernel] = []
    if numbers:
        kernels.append(Gaussian(numbers, (length_scale * math.sqrt(len(numbers)),) * len(numbers)))
    # Just below 1 where there are so many categories that each hardly counts: a floor of 1 would compare nothing.
    each_floor = min(floor ** (1 / len(tiles)), 1 - 1e-6) if tiles else 0.0
    kernels += [Delta(found, each_floor) for found in tiles]
    if label is not None:
        found = categories_of(label)
        assert found is not None
        kernels.append(Delta(found))
    return kernels[0] if len(kernels) == 1 else Times(tuple(kernels))


def best_number(missed: Floats, noise: float) -> int:
    """Where the squared error is least: what the first landmarks miss of a point on average, and noise for each."""
    return max(1, int(np.argmin(missed + noise * np.arange(len(missed)))))


def _require(name: str, right: bool, rule: str, value: Any) -> None:
    if not right:
        raise UsageError(f"{name} must be {rule}, not {value}.")
