"""Merf: random Fourier features of the numbers, one-hot categories, all by class, in one release.

After DP-MERF (Harder, Adamczewski and Park, 2021), with one Gaussian release for embedding and class counts, one-hot
vectors for every category, and length scales that no row is looked at for.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.features import FeatureMap, RandomFourier
from pointillist.fitting.denoising import denoise_ordered, project_to_simplex
from pointillist.fitting.evidence import Table, tables_of
from pointillist.generators.mixture.settings import MixtureSettings
from pointillist.methods.base import METHODS, TableMethod
from pointillist.methods.feature_count import LEAST, best_features, trade_off
from pointillist.methods.parts import (
    Part,
    by_class,
    categories_of,
    counts,
    histograms,
    joined,
    label_of,
    require_one_target,
    require_rows,
    require_share,
    round_of,
)
from pointillist.model import Model
from pointillist.plan import Block, Plan, Request, Round
from pointillist.progress import Progress
from pointillist.release import Measurement, Release
from pointillist.schema.levels import Levels, levels_of

Floats = NDArray[np.float64]

MOST_FEATURES = 2000
"""Unless the user wants more: by then the kernel is near enough, and more features only take more time."""
_SHOWN = (250, 500, 1000, 2000, 4000)


@METHODS.register("merf", place=20)
@dataclass(frozen=True, kw_only=True)
class Merf(TableMethod):
    """Random Fourier features of the numbers and one-hot categories, by class of the target (DP-MERF)."""

    features: int | None = None
    """Random Fourier features of the numbers, an even number; times the classes. None: by the bound on their error."""
    length_scales: tuple[float, ...] | dict[str, float] | Literal["marginals"] = (0.05, 0.15, 0.5)
    """Of the Gaussian kernel, in parts of a column's range.

    Some numbers: a mixture for all columns, so that none has to be right, times the square root of the number of columns.
    A number for each column by name: as it stands. "marginals": one for each column, from noisy histograms that are paid
    for out of the same budget.
    """
    count_share: float = 0.05
    """Part of the budget (of mu^2) for the class counts. 0: as frequent as other tables by class say, or equally
    frequent where there are none (eq. 13 to 16)."""
    category_share: float = 0.5
    """Part of the rest for categories, where there are numbers too."""
    marginal_share: float = 0.2
    """Part of the whole budget for the histograms, where length scales come from them."""
    frequency_seed: int = 0
    """The seed of the frequencies, which are public."""

    def __post_init__(self) -> None:
        if self.features is not None and (self.features < 2 or self.features % 2):
            raise UsageError(f"features must be even and at least 2, not {self.features}: they come as cos/sin pairs.")
        require_share("count_share", self.count_share, zero=True)
        require_share("category_share", self.category_share)
        require_share("marginal_share", self.marginal_share)
        scales = self.length_scales
        if isinstance(scales, str | float | int) and scales != "marginals":
            raise UsageError(f'length_scales must be numbers, a number by column, or "marginals", not {scales!r}.')
        if not isinstance(scales, str):
            numbers = list(scales.values()) if isinstance(scales, dict) else list(scales)
            if not numbers or not all(0 < number < math.inf for number in numbers):
                raise UsageError("length_scales must be numbers above 0, at least one.")
            if not isinstance(scales, dict):
                object.__setattr__(self, "length_scales", tuple(numbers))  # as they come back from a file

    def plan(self, request: Request) -> Plan:
        require_one_target(request, self.name)
        require_rows(request, self.count_share)
        levels = levels_of(request.schema)
        number, notes = self._features(request, levels)
        rounds = self._rounds(levels, request.target, number)
        options = {**asdict(self), "features": number}
        return Plan.make(self.name, options, request, rounds, notes)

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        levels = levels_of(plan.request.schema)
        if self._marginals and not measured:
            return histograms(levels)
        parts = self._parts(levels, plan.request.target, int(plan.options["features"]), measured)
        return joined(parts)

    @property
    def _marginals(self) -> bool:
        return self.length_scales == "marginals"

    def _features(self, request: Request, levels: tuple[Levels, ...]) -> tuple[int, tuple[str, ...]]:
        """How many random features: as asked for, or where the bound on their error is least."""
        drawn = self._random(levels, label_of(levels, request.target))
        if self.features is not None or not drawn:
            return self.features or 2, ()
        trial = Plan.make(self.name, {}, request, self._rounds(levels, request.target, LEAST), ())
        last = len(trial.rounds) - 1
        sigma = trial.noise_rows(last, trial.rounds[last].blocks[0])
        label = label_of(levels, request.target)
        classes = 1 if label is None else label.size
        rows = request.assumed_rows
        best = best_features(sigma, rows, classes=classes, most=MOST_FEATURES)
        shown = [size for size in _SHOWN if best / 8 <= size <= best * 8]
        errors = trade_off(sigma, rows, classes=classes, shown=shown, most=MOST_FEATURES)
        table = "; ".join(
            f"{each.features:,}: {each.noise:.2g} + {each.approximation:.2g} = {each.total:.2g}" for each in errors
        )
        assumed = "" if request.schema.rows else f" for {rows:,} rows, as the schema does not state them"
        return best, (
            f"{best:,} random features{' for each class' if label else ''}, where the bound on the error of the squared "
            f"MMD is least{assumed} (features: noise + approximation = bound; {table}).",
        )

    def _rounds(self, levels: tuple[Levels, ...], target: str | None, features: int) -> tuple[Round, ...]:
        parts = self._parts(levels, target, features, ())
        share = 1 - self.marginal_share if self._marginals else 1.0
        last = round_of(parts, share)
        if not self._marginals:
            return (last,)
        cells = sum(each.size for each in levels)
        first = Block("histograms", len(levels), cells, 1 / math.sqrt(len(levels)))
        return Round.of_counts(self.marginal_share, (first,)), last

    def _parts(
        self, levels: tuple[Levels, ...], target: str | None, features: int, measured: Sequence[Measurement]
    ) -> list[Part]:
        label = label_of(levels, target)
        drawn = self._random(levels, label)
        names = [leaf for each in levels if each is not label and (leaf := categories_of(each)) is not None]
        if not drawn and not names:
            raise UsageError(f"{self.name} needs a column beside the target.")
        share = (1 - self.count_share) * (self.category_share if drawn else 1.0)
        parts = [Part("categories", leaf, share / len(names)) for leaf in names]
        if drawn:
            rest = (1 - self.count_share) * (1 - self.category_share if names else 1.0)
            parts.insert(0, Part("random features", self._waves(drawn, features, measured), rest))
        return [*by_class(parts, label), *counts(levels, label, self.count_share)]

    def _random(self, levels: tuple[Levels, ...], label: Levels | None) -> tuple[Levels, ...]:
        """The columns that random features are of."""
        return tuple(each for each in levels if each.numeric and each is not label)

    def _waves(self, columns: tuple[Levels, ...], features: int, measured: Sequence[Measurement]) -> RandomFourier:
        """Random features of these columns."""
        normal = np.random.default_rng(self.frequency_seed).standard_normal((features // 2, len(columns)))
        scales = self._scales(columns, features, measured, len(columns))
        return RandomFourier(tuple(each.name for each in columns), normal / scales)

    def _scales(
        self, numbers: tuple[Levels, ...], features: int, measured: Sequence[Measurement], columns: int
    ) -> Floats:
        """Length scales by pair of features and column, or alike for some of these."""
        # Distances grow with the square root of the number of columns; so do length scales.
        wider = math.sqrt(columns)
        if isinstance(self.length_scales, dict):
            missing = [each.name for each in numbers if each.name not in self.length_scales]
            if missing:
                raise UsageError(f"length_scales: no number for column {missing[0]!r}.")
            return np.array([[self.length_scales[each.name] for each in numbers]])
        if isinstance(self.length_scales, str):
            if not measured:
                return np.ones((1, len(numbers)))  # planning: the size alone matters
            tables = {table.columns[0]: table for table in tables_of(measured[0])}
            return wider * np.array([[_typical_distance(each, tables[each.name]) for each in numbers]])
        return wider * np.resize(np.array(self.length_scales), features // 2)[:, None]

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        return Model.fitted(release, MixtureSettings(), seed=seed, progress=progress)


def _typical_distance(level: Levels, table: Table) -> float:
    """The median distance between two values drawn from a noisy histogram, in parts of the range: at least a bin's.

    What the papers take from the private rows themselves, here from a measurement that was paid for.
    """
    counts = denoise_ordered(table.values[: level.regular], table.sigma)
    shares = project_to_simplex(counts / max(1.0, counts.sum()))
    low, high = level.spans
    middles = ((low + high) / 2)[: level.regular]
    distances = np.abs(middles[:, None] - middles[None, :]).ravel()
    order = np.argsort(distances)
    passed = np.cumsum(np.outer(shares, shares).ravel()[order])
    median = distances[order][min(int(np.searchsorted(passed, 0.5)), len(order) - 1)]
    return max(float(median), 1 / level.regular)
