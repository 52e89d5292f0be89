"""Image settings: how an image network is fitted to a release, whatever method the release was made with."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.features import Constant
from pointillist.fitting.class_shares import shares_of
from pointillist.fitting.evidence import estimated_rows, readable_tables
from pointillist.generators.image_model import ImageModel
from pointillist.progress import Progress
from pointillist.release import Release
from pointillist.schema.levels import Levels, levels_of

Floats = NDArray[np.float64]
LossName = Literal["distance", "likelihood"]
ArchitectureName = Literal["conv", "dense", "residual"]

BREADTHS: dict[str, int] = {"conv": 200, "dense": 500, "residual": 64}
"""What the architectures are like unless the user wants them broader."""


@dataclass(frozen=True, kw_only=True)
class ImageNetworkSettings:
    """A network from noise and label to an image, as in DP-MERF, DP-HP and DP-MEPF, fitted batch by batch."""

    architecture: ArchitectureName = "conv"
    breadth: int | None = None
    """Units of the dense layers (conv, dense) or channels of the residual blocks. None: 200, 500 or 64."""
    noise: int = 5
    """How many random numbers go in."""
    steps: int = 3000
    batch: int = 100
    """Images in a step, at least two for each class."""
    rate: float = 1e-2
    decay: float = 0.9
    """What the rate is multiplied by after every epoch."""
    epoch: int = 600
    """Steps of an epoch."""
    momentum: float = 0.9
    """Of Adam; DP-MEPF has 0.5."""
    loss: LossName = "distance"
    """Whether all features count the same, as in the papers, or by their known noise."""
    unbiased: bool = False
    """Whether the loss is that of the distribution rather than of a batch. A batch's mean is off by chance, so a squared
    distance from it is least for images that are rather alike; two halves of a batch, multiplied, have no such pull. Images
    are then as varied as the real ones, and less tidy."""
    reweighted: bool = False
    """Whether rare classes count as much as frequent ones (DP-MERF, eq. 17 and 18)."""
    average_rate: float | None = None
    """With a number, the loss sees a moving average of the features' mean, learned at this rate (DP-MEPF)."""
    stop: bool = True
    """Whether to end when the noise alone explains what is left of chi^2."""
    check: int = 100
    """Steps between looks at chi^2, and between checkpoints."""

    def __post_init__(self) -> None:
        for name in ("noise", "steps", "batch", "rate", "decay", "epoch", "check", "breadth", "average_rate"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UsageError(f"{name} must be above 0, not {value}.")
        if not 0 <= self.momentum < 1:
            raise UsageError(f"momentum must be at least 0 and below 1, not {self.momentum}.")
        for name, known in (("architecture", ArchitectureName), ("loss", LossName)):
            if getattr(self, name) not in get_args(known):
                raise UsageError(
                    f"{name} {getattr(self, name)!r} is not known. Choose one of {', '.join(get_args(known))}."
                )

    def fit(self, release: Release, *, seed: int, progress: Progress, checkpoint: Path | None = None) -> ImageModel:
        """A painter for the release. With a checkpoint, the fit can be broken off and goes on from there."""
        try:
            from pointillist.generators.network.image_fit import fit_image_network
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise UsageError("image networks need torch. Install it with: pip install 'pointillist[network]'") from None
        rows, label, shares = image_shares(release)
        network = fit_image_network(
            release, self, rows=rows, label=label, shares=shares, seed=seed, progress=progress, checkpoint=checkpoint
        )
        return ImageModel.of(release, rows=rows, generator=network)  # type: ignore[arg-type]


def image_shares(release: Release) -> tuple[float, Levels | None, Floats]:
    """The number of images; the label, if there is one; and the shares of its levels."""
    if release.schema.image is None:
        raise UsageError("this release is of a table, not of images. Choose a generator for tables.")
    tables = [table for each in release.measurements for table in readable_tables(each)]
    if release.rows is not None:
        rows = float(release.rows)
    elif tables:
        rows = estimated_rows(tables)
    else:
        rows = _counted(release)
    rows = max(1.0, rows)
    label = next((each for each in levels_of(release.schema) if each.name == release.schema.label), None)
    if label is None:
        return rows, None, np.ones(1)
    return rows, label, shares_of(release, label, tables, rows)


def _counted(release: Release) -> float:
    """The number of images as a feature that is 1 for each of them tells it."""
    for each in release.measurements:
        for block in each.blocks():
            if isinstance(block.map, Constant):
                return float(block.values[0] / block.added)
    raise UsageError("the release does not tell how many images there are. Make one that counts them (count_share).")
