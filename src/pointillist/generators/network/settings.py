"""Network settings: how a network of rows is fitted to any release of a table but landmarks."""

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
    from pointillist.generators.network.row_network import Network

LossName = Literal["likelihood", "distance"]


@dataclass(frozen=True, kw_only=True)
class NetworkSettings:
    """A network from noise and label to a row, as in DP-MERF and DP-HP, fitted batch by batch."""

    hidden: tuple[int, ...] = (200, 200)
    """Units of each hidden layer."""
    noise: int = 10
    """How many random numbers go in."""
    steps: int = 2000
    """Of the descent, at most."""
    batch: int = 1000
    """Rows in a step."""
    rate: float = 1e-2
    """The learning rate of a step."""
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
    device: DeviceName = CPU
    """What the fit runs on: cpu, cuda, mps, or auto for a graphics card if there is one. Files do not say it."""

    def __post_init__(self) -> None:
        require_positive(self, "noise", "steps", "batch", "rate", "check", "gamma")
        if self.batch < 2:
            raise UsageError(f"batch must be at least 2, not {self.batch}: rows are held against each other.")
        if self.loss not in get_args(LossName):
            raise UsageError(f"loss {self.loss!r} is not known. Losses: {', '.join(get_args(LossName))}.")
        require_device_name(self.device)
        # As it comes back from a file.
        object.__setattr__(self, "hidden", tuple(self.hidden))
        if any(size < 1 for size in self.hidden):
            raise UsageError("every hidden layer needs at least one unit.")

    @classmethod
    def suits(cls, schema: Schema) -> bool:
        """Tables."""
        return schema.image is None

    def fit(self, release: Release, *, seed: int, progress: Progress, checkpoint: Path | None = None) -> "Network":
        """A network for the release."""
        require_torch()
        from pointillist.generators.network.fit import fit_network

        return fit_network(release, self, seed=seed, progress=progress, checkpoint=checkpoint)
