"""Image network settings: how a network of images is fitted to any release of images."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from pointillist.device import CPU, DeviceName, require_device_name
from pointillist.errors import UsageError
from pointillist.generators.requirements import require_positive, require_torch
from pointillist.progress import Progress
from pointillist.release import Release
from pointillist.schema import Schema

if TYPE_CHECKING:
    from pointillist.generators.image_network.image_network import ImageNetwork

LossName = Literal["distance", "likelihood"]
ArchitectureName = Literal["conv", "dense", "residual"]

BREADTHS: dict[str, int] = {"conv": 200, "dense": 500, "residual": 64}
"""What the architectures are like unless the user wants them broader."""


@dataclass(frozen=True, kw_only=True)
class ImageNetworkSettings:
    """A network from noise and label to an image, as in DP-MERF, DP-HP and DP-MEPF, fitted batch by batch."""

    architecture: ArchitectureName = "conv"
    """What the network is built of: convolutions with upsampling, dense layers, or residual blocks."""
    breadth: int | None = None
    """Units of the dense layers (conv, dense) or channels of the residual blocks. None: 200, 500 or 64."""
    noise: int = 5
    """How many random numbers go in."""
    steps: int = 3000
    """Of the descent, at most."""
    batch: int = 100
    """Images in a step, at least two for each class."""
    rate: float = 1e-2
    """The learning rate of a step, at first."""
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
    device: DeviceName = CPU
    """What the fit runs on: cpu, cuda, mps, or auto for a graphics card if there is one. Files do not say it."""

    def __post_init__(self) -> None:
        require_positive(self, "noise", "steps", "batch", "rate", "decay", "epoch", "check", "breadth", "average_rate")
        require_device_name(self.device)
        if not 0 <= self.momentum < 1:
            raise UsageError(f"momentum must be at least 0 and below 1, not {self.momentum}.")
        for name, known in (("architecture", ArchitectureName), ("loss", LossName)):
            if getattr(self, name) not in get_args(known):
                raise UsageError(
                    f"{name} {getattr(self, name)!r} is not known. Choose one of {', '.join(get_args(known))}."
                )

    @classmethod
    def suits(cls, schema: Schema) -> bool:
        """Images."""
        return schema.image is not None

    def fit(self, release: Release, *, seed: int, progress: Progress, checkpoint: Path | None = None) -> "ImageNetwork":
        """A network for the release. With a checkpoint, the fit can be broken off and goes on from there."""
        require_torch("image networks need")
        from pointillist.generators.image_network.fit import fit_image_network

        if not self.suits(release.schema):
            raise UsageError("this release is of a table, not of images. Choose a generator for tables.")
        return fit_image_network(release, self, seed=seed, progress=progress, checkpoint=checkpoint)
