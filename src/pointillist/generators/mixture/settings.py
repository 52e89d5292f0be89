"""Mixture settings: how a mixture is fitted to any release of a table but landmarks."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pointillist.errors import UsageError
from pointillist.fitting.class_shares import class_shares
from pointillist.generators.requirements import require_positive, require_torch
from pointillist.progress import Progress
from pointillist.release import Release
from pointillist.schema import Schema
from pointillist.schema.levels import levels_of

if TYPE_CHECKING:
    from pointillist.generators.mixture.mixture import Mixture


@dataclass(frozen=True, kw_only=True)
class MixtureSettings:
    """A mixture of products, fitted in closed form: no rows are drawn. Quick, and right about spread."""

    components: int = 200
    """At least one for each class of the target."""
    steps: int = 1000
    """Of the descent, at most."""
    rate: float = 0.1
    """The learning rate of a step."""
    grain: int = 64
    """The most runs of bins into which a number is cut."""
    stop: bool = True
    """Whether to end soon after the noise alone explains what is left. Where all of the data are a few smooth clusters,
    it is better to go on to the last step."""

    def __post_init__(self) -> None:
        require_positive(self, "components", "steps", "rate", "grain")

    @classmethod
    def suits(cls, schema: Schema) -> bool:
        """Tables."""
        return schema.image is None

    def fit(self, release: Release, *, seed: int, progress: Progress, checkpoint: Path | None = None) -> "Mixture":
        """A mixture for the release."""
        require_torch()
        from pointillist.fitting.likelihood import Likelihood
        from pointillist.generators.mixture.fit_to_features import fit_by_descent

        if checkpoint is not None:
            raise UsageError("a mixture is fitted in one go and takes no checkpoint. Only networks do.")
        rows, label, shares = class_shares(release)
        return fit_by_descent(
            Likelihood.of(release, rows),
            levels_of(release.schema),
            self,
            label=None if label is None else label.name,
            shares=shares,
            seed=seed,
            progress=progress,
        )
