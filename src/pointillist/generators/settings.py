"""Settings: how a generator of some kind is fitted to a release, whatever method the release was made with."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.fitting.class_shares import shares_of
from pointillist.fitting.evidence import estimated_rows, readable_tables
from pointillist.generators.network.image_settings import ImageNetworkSettings
from pointillist.model import Model
from pointillist.progress import Progress
from pointillist.release import Release
from pointillist.schema import Schema
from pointillist.schema.levels import Levels, levels_of

Floats = NDArray[np.float64]
LossName = Literal["likelihood", "distance"]
PointWeights = Literal["probabilities", "bounded", "uniform"]
SearchName = Literal["joint", "greedy"]


@runtime_checkable
class GeneratorSettings(Protocol):
    """A kind of generator with everything about its fit. Public side: it sees a release and nothing else."""

    def fit(self, release: Release, *, seed: int, progress: Progress, checkpoint: Path | None = None) -> Model:
        """A generator for the release."""
        ...


@dataclass(frozen=True, kw_only=True)
class MixtureSettings:
    """A mixture of products, fitted in closed form: no rows are drawn. Quick, and right about spread."""

    components: int = 200
    """At least one for each class of the target."""
    steps: int = 1000
    rate: float = 0.1
    grain: int = 64
    """The most runs of bins into which a number is cut."""
    stop: bool = True
    """Whether to end soon after the noise alone explains what is left. Where all of the data are a few smooth clusters,
    it is better to go on to the last step."""

    def __post_init__(self) -> None:
        _require_positive(self, "components", "steps", "rate", "grain")

    def fit(self, release: Release, *, seed: int, progress: Progress, checkpoint: Path | None = None) -> Model:
        _require_torch()
        from pointillist.fitting.likelihood import Likelihood
        from pointillist.generators.mixture.descent import fit_by_descent

        if checkpoint is not None:
            raise UsageError("a mixture is fitted in one go and takes no checkpoint. Only networks do.")
        rows, label, shares = class_shares(release)
        mixture = fit_by_descent(
            Likelihood.of(release, rows),
            levels_of(release.schema),
            label=None if label is None else label.name,
            shares=shares,
            components=self.components,
            steps=self.steps,
            rate=self.rate,
            grain=self.grain,
            stop=self.stop,
            seed=seed,
            progress=progress,
        )
        return Model.of(release, rows=rows, generator=mixture)


@dataclass(frozen=True, kw_only=True)
class NetworkSettings:
    """A network from noise and label to a row, as in DP-MERF and DP-HP, fitted batch by batch."""

    hidden: tuple[int, ...] = (200, 200)
    noise: int = 10
    """How many random numbers go in."""
    steps: int = 2000
    batch: int = 1000
    rate: float = 1e-2
    check: int = 50
    """Steps between looks at chi^2, and between checkpoints."""
    reweighted: bool = False
    """Whether rare classes count as much as frequent ones (DP-MERF, eq. 17 and 18)."""
    loss: LossName = "likelihood"
    """Whether features count by their known noise, or all the same, as in the papers."""
    gamma: float = 1.0
    """How much products of columns count in the distance (DP-HP, eq. 16)."""
    products_in_turn: bool = False
    """Whether products are used one after the other, as DP-HP does; otherwise all of them in every step."""

    def __post_init__(self) -> None:
        _require_positive(self, "noise", "steps", "batch", "rate", "check", "gamma")
        if self.batch < 2:
            raise UsageError(f"batch must be at least 2, not {self.batch}: rows are held against each other.")
        if self.loss not in get_args(LossName):
            raise UsageError(f"loss {self.loss!r} is not known. Losses: {', '.join(get_args(LossName))}.")
        # As it comes back from a file.
        object.__setattr__(self, "hidden", tuple(self.hidden))
        if any(size < 1 for size in self.hidden):
            raise UsageError("every hidden layer needs at least one unit.")

    def fit(self, release: Release, *, seed: int, progress: Progress, checkpoint: Path | None = None) -> Model:
        _require_torch()
        from pointillist.generators.network.row_network import fit_network

        rows, label, shares = class_shares(release)
        network = fit_network(
            release, self, rows=rows, label=label, shares=shares, seed=seed, progress=progress, checkpoint=checkpoint
        )
        return Model.of(release, rows=rows, generator=network)


@dataclass(frozen=True, kw_only=True)
class PointsSettings:
    """Weighted rows, fitted by moving them: the reduced set of Balog et al."""

    points: int | None = None
    """How many, or how many at most if greedy. None: 1,000."""
    weights: PointWeights = "probabilities"
    """"probabilities": not negative, 1 in all. "bounded": some may be below 0, absolute values are at most 1 in all, as in
    the paper; no rows can be drawn then. "uniform": all the same, so that the points are an ordinary table."""
    search: SearchName = "joint"
    """"joint" moves all points at once; "greedy" finds one after another, as the paper does."""
    steps: int = 300
    rate: float = 0.02
    """The first step of a number, in parts of its range."""
    stop: bool = True
    """Whether to end where further steps would follow the noise. It takes two short rehearsals to know where."""

    def __post_init__(self) -> None:
        _require_positive(self, "steps", "rate")
        if self.points is not None:
            _require_positive(self, "points")
        if self.weights not in get_args(PointWeights):
            raise UsageError(f"weights {self.weights!r} are not known. Weights: {', '.join(get_args(PointWeights))}.")
        if self.search not in get_args(SearchName):
            raise UsageError(f"search {self.search!r} is not known. Searches: {', '.join(get_args(SearchName))}.")

    def fit(self, release: Release, *, seed: int, progress: Progress, checkpoint: Path | None = None) -> Model:
        _require_torch()
        from pointillist.generators.points.fit import fit_points

        if checkpoint is not None:
            raise UsageError("points are fitted in one go and take no checkpoint. Only networks do.")
        rows, label, shares = class_shares(release)
        points = fit_points(release, self, rows=rows, label=label, shares=shares, seed=seed, progress=progress)
        return Model.of(release, rows=rows, generator=points)


TABLE_GENERATORS: dict[str, type[MixtureSettings] | type[NetworkSettings] | type[PointsSettings]] = {
    "mixture": MixtureSettings,
    "network": NetworkSettings,
    "points": PointsSettings,
}
IMAGE_GENERATORS: dict[str, type[ImageNetworkSettings]] = {"image-network": ImageNetworkSettings}
GENERATORS: dict[str, Callable[[], GeneratorSettings]] = {**TABLE_GENERATORS, **IMAGE_GENERATORS}


def generator_named(generator: str | GeneratorSettings) -> GeneratorSettings:
    """Settings by the name of their kind, with their defaults; settings pass through."""
    if isinstance(generator, GeneratorSettings) and not isinstance(generator, type):
        return generator
    if not isinstance(generator, str) or generator not in GENERATORS:
        raise UsageError(f"generator {generator!r} is not known. Known generators: {', '.join(GENERATORS)}.")
    return GENERATORS[generator]()


def generator_for(schema: Schema, generator: str | GeneratorSettings) -> GeneratorSettings:
    """The same, if it suits the schema: tables and images have generators of their own."""
    settings = generator_named(generator)
    image = schema.image is not None
    known, others = (IMAGE_GENERATORS, TABLE_GENERATORS) if image else (TABLE_GENERATORS, IMAGE_GENERATORS)
    if type(settings) in others.values():
        name = next(name for name, kind in others.items() if kind is type(settings))
        raise UsageError(
            f"generator {name!r} is for {'tables' if image else 'images'}, and {schema.name!r} has "
            f"{'images' if image else 'none'}. Choose one of {', '.join(known)}, or none: then the release's method chooses."
        )
    return settings


def class_shares(release: Release) -> tuple[float, Levels | None, Floats]:
    """The number of rows; the label, if the target is one; and the shares of its classes."""
    tables = [table for each in release.measurements for table in readable_tables(each)]
    if release.rows is None and not tables:
        raise UsageError("the release does not tell how many rows there are. Make one that counts them (count_share).")
    rows = max(1.0, float(release.rows if release.rows is not None else estimated_rows(tables)))
    label = next((each for each in levels_of(release.schema) if each.name == release.target), None)
    if label is None or label.numeric:
        return rows, None, np.ones(1)
    return rows, label, shares_of(release, label, tables, rows)


def _require_positive(settings: Any, *names: str) -> None:
    for name in names:
        if not getattr(settings, name) > 0:
            raise UsageError(f"{name} must be above 0, not {getattr(settings, name)}.")


def _require_torch() -> None:
    try:
        import torch  # noqa: F401
    except ImportError:
        raise UsageError("this generator needs torch. Install it with: pip install 'pointillist[network]'") from None
