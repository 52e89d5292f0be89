"""Points settings: how weighted rows are fitted to any release of a table but landmarks."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from pointillist.errors import UsageError
from pointillist.generators.requirements import require_positive, require_torch
from pointillist.progress import Progress
from pointillist.release import Release
from pointillist.schema import Schema

if TYPE_CHECKING:
    from pointillist.generators.points.points import Points

PointWeights = Literal["probabilities", "bounded", "uniform"]
SearchName = Literal["joint", "greedy"]


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
    """Of the descent, at most."""
    rate: float = 0.02
    """The first step of a number, in parts of its range."""
    stop: bool = True
    """Whether to end where further steps would follow the noise. It takes two short rehearsals to know where."""

    def __post_init__(self) -> None:
        require_positive(self, "steps", "rate", "points")
        if self.weights not in get_args(PointWeights):
            raise UsageError(f"weights {self.weights!r} are not known. Weights: {', '.join(get_args(PointWeights))}.")
        if self.search not in get_args(SearchName):
            raise UsageError(f"search {self.search!r} is not known. Searches: {', '.join(get_args(SearchName))}.")

    @classmethod
    def suits(cls, schema: Schema) -> bool:
        """Tables."""
        return schema.image is None

    def fit(self, release: Release, *, seed: int, progress: Progress, checkpoint: Path | None = None) -> "Points":
        """Weighted rows for the release."""
        require_torch()
        from pointillist.generators.points.fit import fit_points

        if checkpoint is not None:
            raise UsageError("points are fitted in one go and take no checkpoint. Only networks do.")
        return fit_points(release, self, seed=seed, progress=progress)
