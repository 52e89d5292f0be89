"""Merf: random Fourier features of the numbers, one-hot categories, all by class, and a network fitted to them.

After DP-MERF (Harder, Adamczewski and Park, 2021), with one Gaussian release for embedding and class counts, one-hot
vectors for every category, and length scales that no row is looked at for.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.features import Concat, FeatureMap, Labelled, OneHot, RandomFourier, Tiles, Weighted, blocks
from pointillist.generators.model import Model
from pointillist.levels import Levels, levels_of
from pointillist.methods.tiling import project_to_simplex
from pointillist.plan import Block, Plan, Request, Round
from pointillist.privacy.grid import Grid
from pointillist.progress import Progress
from pointillist.release import Measurement, Release

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Merf:
    """The papers' first method for tables."""

    features: int = 1000
    """Random Fourier features of the numbers, an even number; times the classes of the target."""
    length_scales: tuple[float, ...] = (0.05, 0.15, 0.5)
    """Of the Gaussian kernel, in parts of a column's range and for one column: a mixture, so that none has to be right."""
    count_share: float = 0.05
    """Part of the budget (of mu^2) for the class counts."""
    category_share: float = 0.5
    """Part of the rest for categories, where there are numbers too."""
    frequency_seed: int = 0
    """The seed of the frequencies, which are public."""
    hidden: tuple[int, ...] = (200, 200)
    noise: int = 10
    steps: int = 2000
    batch: int = 1000
    rate: float = 1e-2

    def __post_init__(self) -> None:
        if self.features < 2 or self.features % 2:
            raise UsageError(f"features must be even and at least 2, not {self.features}: they come as cos/sin pairs.")
        for name in ("count_share", "category_share"):
            if not 0 < getattr(self, name) < 1:
                raise UsageError(f"{name} must lie between 0 and 1, not {getattr(self, name)}.")
        if not self.length_scales or min(self.length_scales) <= 0:
            raise UsageError("length_scales must be numbers above 0, at least one.")
        # As they come back from a file.
        object.__setattr__(self, "length_scales", tuple(self.length_scales))
        object.__setattr__(self, "hidden", tuple(self.hidden))

    @property
    def name(self) -> str:
        return "merf"

    def plan(self, request: Request) -> Plan:
        whole = self._map(levels_of(request.schema), request.target)
        embedding, counts = whole.parts
        made = (
            Block("random features by class" if _label(request) else "random features", len(blocks(embedding)),
                  embedding.dimension, math.sqrt((1 - self.count_share) / len(blocks(embedding))), counts=False),
            Block("class counts" if _label(request) else "row count", 1, counts.dimension, math.sqrt(self.count_share)),
        )  # fmt: skip
        rounds = (Round(1.0, made, Grid.dense(whole.dimension)),)
        return Plan.make(self.name, asdict(self), request, rounds, ())

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        return self._map(levels_of(plan.request.schema), plan.request.target)

    def _map(self, levels: tuple[Levels, ...], target: str | None) -> Concat:
        label = next((each for each in levels if each.name == target and not each.numeric), None)
        others = [each for each in levels if each is not label]
        numbers = tuple(each.name for each in others if each.numeric)
        names = [leaf for each in others if (leaf := _categories(each)) is not None]
        parts: list[FeatureMap] = []
        split = bool(numbers) and bool(names)
        if numbers:
            weight = math.sqrt(1 - self.category_share) if split else 1.0
            parts.append(Weighted(self._fourier(numbers), weight))
        for leaf in names:
            weight = math.sqrt((self.category_share if split else 1.0) / len(names))
            parts.append(Weighted(leaf, weight))
        if not parts:
            raise UsageError("merf needs a column beside the target.")
        x: FeatureMap = Concat(tuple(parts))
        count: FeatureMap = Tiles(levels[0].name, (0,) * levels[0].size)  # one tile: every row counts 1
        if label is not None:
            count = OneHot(label.name, label.size)
            x = Labelled.of(x, OneHot(label.name, label.size))
        embedding = Weighted(x, math.sqrt(1 - self.count_share))
        return Concat((embedding, Weighted(count, math.sqrt(self.count_share))))

    def _fourier(self, numbers: tuple[str, ...]) -> RandomFourier:
        generator = np.random.default_rng(self.frequency_seed)
        normal = generator.standard_normal((self.features // 2, len(numbers)))
        # Distances grow with the square root of the number of columns; so do length scales.
        scales = np.resize(np.array(self.length_scales) * math.sqrt(len(numbers)), self.features // 2)
        return RandomFourier(numbers, normal / scales[:, None])

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        try:
            from pointillist.generators.network import Shape, Training, fit_network, heads_of
        except ImportError:
            raise UsageError(
                "the network generator needs torch. Install it with: pip install 'pointillist[network]'"
            ) from None
        (measurement,) = release.measurements
        rows, shares = _counts(measurement, release.rows)
        levels = levels_of(release.schema)
        label = next((each.name for each in levels if each.name == release.target and not each.numeric), None)
        heads = heads_of([measurement.feature_map], levels)
        shape = Shape(heads, label, tuple(shares.tolist()) if label else (1.0,), self.noise, self.hidden)
        training = Training(steps=self.steps, batch=self.batch, rate=self.rate)
        network = fit_network(release, shape, rows=rows, training=training, seed=seed, progress=progress)
        return Model.of(release, rows=rows, generator=network)


def _label(request: Request) -> bool:
    return any(each.name == request.target and not each.numeric for each in levels_of(request.schema))


def _categories(each: Levels) -> Tiles | None:
    """What of a column is a category: all of it, or a number's special values and gaps."""
    if not each.numeric:
        return OneHot(each.name, each.size)
    atoms = each.size - each.regular
    return Tiles(each.name, (0,) * each.regular + tuple(range(1, atoms + 1))) if atoms else None


def _counts(measurement: Measurement, rows: int | None) -> tuple[float, Floats]:
    """The number of rows, and the shares of the classes, made possible."""
    counted, weight = blocks(measurement.feature_map)[-1]
    values = measurement.values[-counted.dimension :] / (weight * measurement.grid.scale)
    total = max(1.0, float(rows if rows is not None else values.sum()))
    return total, np.asarray(project_to_simplex(values, total) / total)
