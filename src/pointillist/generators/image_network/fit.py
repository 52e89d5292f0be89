"""Fitting an image network to a release: descent on how far its images' mean features are from the noisy ones.

Every class has the same number of images in a batch, side by side; a class's mean features are weighed by its share.
What was measured by class, by groups of classes or for all images together is then one small matrix of weights each.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pointillist.device import device_named, lasting, placing
from pointillist.errors import UsageError
from pointillist.features import FeatureMap, Product, Tiles
from pointillist.features.soft_records import SoftRecords
from pointillist.fitting.class_shares import class_shares
from pointillist.fitting.descent import Descent
from pointillist.generators.image_generator import ImageColumns
from pointillist.generators.image_network.image_network import ImageNetwork, ImageShape
from pointillist.generators.image_network.settings import BREADTHS, ImageNetworkSettings
from pointillist.progress import Progress
from pointillist.release import Release
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]

_LOOK = 8
"""A look at chi^2 takes so many batches."""
_RAREST = 0.1
"""A class with less than this part of an even share is not weighed up further: nearly all of it is noise."""


@dataclass(frozen=True, eq=False)
class Target:
    """One block of a release: noisy mean features of images, by cells of the label."""

    map: FeatureMap
    mixing: Tensor
    """(cells, classes): what mean features of the classes are multiplied by."""
    wanted: Tensor
    """(cells, features)."""
    deviation: float
    """Standard deviation of the noise on each of them."""


def targets_of(release: Release, rows: float, label: Levels | None, shares: Floats) -> tuple[Target, ...]:
    """What a release tells about the pixels. Counts of classes are left out: shares are settled already."""
    found = []
    for each in release.measurements:
        for block in each.blocks():
            if not block.map.image_columns:
                continue
            front, behind = _parted(block.map, label)
            total = block.scale * rows
            cells = np.zeros(len(shares), dtype=np.intp) if front is None else front.table
            mixing = np.zeros((1 if front is None else front.dimension, len(shares)))
            mixing[cells, np.arange(len(shares))] = shares
            wanted = torch.as_tensor(block.values / total, dtype=torch.float32).reshape(len(mixing), -1)
            met = np.flatnonzero(mixing.sum(axis=1) > 0)  # no image could be near a class that has none
            mixed = torch.as_tensor(mixing[met], dtype=torch.float32)
            found.append(Target(behind, mixed, wanted[met], block.sigma / total))
    if not found:
        raise UsageError("the release says nothing about pixels: an image network cannot be fitted to it.")
    return tuple(found)


def _parted(block: FeatureMap, label: Levels | None) -> tuple[Tiles | None, FeatureMap]:
    """A block as cells of the label, if it has any, times features of images."""
    parts = block.factors
    front = [part for part in parts if isinstance(part, Tiles)]
    behind = tuple(part for part in parts if not isinstance(part, Tiles))
    named = label is not None and all(part.column == label.name for part in front)
    if len(front) > 1 or (front and not (named and parts[0] is front[0])):
        raise UsageError("an image network can be fitted to features of images by label, not to other products.")
    return (front[0] if front else None), (behind[0] if len(behind) == 1 else Product(behind))


def features_of(feature_map: FeatureMap, images: Tensor, labels: Tensor | None) -> Tensor:
    """Of images in the making, (number, channels, height, width) in [0, 1], with the levels of their label."""
    known = {} if labels is None else dict.fromkeys(feature_map.code_columns, labels)
    return feature_map.soft(
        SoftRecords(len(images), images=dict.fromkeys(feature_map.image_columns, images), labels=known)
    )


def require_soft_images(feature_map: FeatureMap) -> None:
    """Refuse features that images in the making do not have."""
    unfit = [leaf for leaf in feature_map.leaves if not (leaf.image_columns and leaf.has_soft)]
    if unfit or not feature_map.has_soft:
        name = type(unfit[0] if unfit else feature_map).__name__
        raise UsageError(f"an image network cannot be fitted to {name} features. Fit the release by its own method.")


class Loss:
    """How far a network's images are from a release."""

    def __init__(self, targets: tuple[Target, ...], shape: ImageShape, settings: ImageNetworkSettings):
        self.targets, self.shape, self.unbiased = targets, shape, settings.unbiased
        self.maps = tuple(dict.fromkeys(each.map for each in targets))
        for feature_map in self.maps:
            require_soft_images(feature_map)
        shares = np.array(shape.shares or (1.0,))
        self.classes = np.flatnonzero(shares > 0)
        self.each = max(1, -(-settings.batch // (2 * len(self.classes))))
        """Images of each class in half a batch."""
        least = min(each.deviation for each in targets)
        self.scales = []
        for each in targets:
            scale = torch.ones(len(each.mixing), 1)
            if settings.loss == "likelihood":
                scale *= least / each.deviation  # the least noisy block counts as in the distance, the others less
            if settings.reweighted:
                share = each.mixing.sum(dim=1, keepdim=True)
                scale /= share.clamp_min(_RAREST / len(shares)) * len(shares)
            self.scales.append(scale)

    @property
    def dimension(self) -> int:
        """What chi^2 is on average for the images that the release was made from."""
        return sum(each.wanted.numel() for each in self.targets)

    def means(self, module: nn.Module, rng: np.random.Generator, each: int) -> list[Tensor]:
        """For each target the mean features of two halves of a batch: (2, cells, features)."""
        codes = np.tile(np.repeat(self.classes, each), 2)
        noise = torch.as_tensor(rng.standard_normal((len(codes), self.shape.noise)), dtype=torch.float32)
        given = torch.as_tensor(codes) if self.shape.shares else None
        images = module(self.shape.given(noise, given))
        by_class = {
            feature_map: features_of(feature_map, images, given).reshape(2, len(self.classes), each, -1).mean(dim=2)
            for feature_map in self.maps
        }
        return [target.mixing[:, self.classes] @ by_class[target.map] for target in self.targets]

    def __call__(self, module: nn.Module, rng: np.random.Generator, average: "Average | None") -> Tensor:
        """Of one batch."""
        means = self.means(module, rng, self.each)
        found = torch.zeros(())
        for number, (target, scale) in enumerate(zip(self.targets, self.scales, strict=True)):
            if average is not None:
                found = found + average.loss(number, means[number].mean(dim=0), target.wanted, scale)
                continue
            first, second = (means[number] - target.wanted) * scale
            squared = first * second if self.unbiased else ((first + second) / 2) ** 2
            found = found + torch.sum(squared)
        return found

    def chi_squared(self, module: nn.Module, rng: np.random.Generator) -> float:
        """By the known noise, without what the images of a batch add by chance: one half times the other has none."""
        module.eval()
        with torch.no_grad():
            looks = [self.means(module, rng, self.each) for _ in range(_LOOK)]
            found = 0.0
            for number, target in enumerate(self.targets):
                halves = torch.stack([look[number] for look in looks]).mean(dim=0)
                first, second = (halves - target.wanted) / target.deviation
                found += float(torch.sum(first * second))
        return found


class Average(nn.Module):
    """Moving averages of mean features, learned by an Adam of their own (DP-MEPF): steadier than any one batch."""

    def __init__(self, means: list[Tensor]):
        super().__init__()
        self.held = nn.ParameterList([nn.Parameter(each.mean(dim=0)) for each in means])

    def loss(self, number: int, mean: Tensor, wanted: Tensor, scale: Tensor) -> Tensor:
        """Its gradient for the images is that of the squared distance at the average; the average follows the batch."""
        held: Tensor = self.held[number]
        towards = 2 * (held.detach() - wanted) * scale**2
        return torch.sum(towards * mean) + torch.sum((held - mean.detach()) ** 2)


class State(nn.Module):
    """All that a fit moves: the network, and moving averages if there are any."""

    def __init__(self, module: nn.Module, loss: Loss, settings: ImageNetworkSettings, rng: np.random.Generator):
        super().__init__()
        self.network = module
        self.average: Average | None = None
        if settings.average_rate is not None:
            with torch.no_grad():
                self.average = Average(loss.means(self.network, rng, loss.each))

    def optimiser(self, settings: ImageNetworkSettings) -> torch.optim.Adam:
        groups: list[dict[str, Any]] = [
            {"params": list(self.network.parameters()), "lr": settings.rate, "betas": (settings.momentum, 0.999)}
        ]
        if self.average is not None:
            groups.append({"params": list(self.average.parameters()), "lr": settings.average_rate})
        return torch.optim.Adam(groups)


def fit_image_network(
    release: Release, settings: ImageNetworkSettings, *, seed: int, progress: Progress, checkpoint: Path | None = None
) -> ImageNetwork:
    """Descend until chi^2 is what the noise alone explains, or the steps are done.

    With a checkpoint the state is kept in that file every few steps; a fit that finds one goes on from there, and ends
    where it would have ended without a break.
    """
    assert release.schema.image is not None
    device, size = device_named(settings.device), release.schema.image[1].shape
    rows, label, shares = class_shares(release)
    breadth = BREADTHS[settings.architecture] if settings.breadth is None else settings.breadth
    held = tuple(shares.tolist()) if label is not None else ()
    shape = ImageShape(settings.architecture, *size, shares=held, noise=settings.noise, breadth=breadth)
    torch.manual_seed(seed)
    module = shape.module().to(device)  # made here: the same start on every device
    rng = np.random.default_rng(seed)
    purpose = {"release": release.id, "seed": seed, "settings": lasting(settings), "shape": shape.to_json()}

    def loss(step: int) -> Tensor:
        optimiser.param_groups[0]["lr"] = settings.rate * settings.decay ** (step // settings.epoch)
        module.train()
        return batches(module, rng, state.average)

    def chi_squared() -> float | None:
        return batches.chi_squared(module, rng) if settings.stop else None

    with placing(device):
        batches = Loss(targets_of(release, rows, label, shares), shape, settings)
        state = State(module, batches, settings, rng)
        optimiser = state.optimiser(settings)
        descent = Descent(state, optimiser, rng, settings.steps, settings.check, checkpoint, purpose)
        descent.run(loss, chi_squared, batches.dimension, progress)
    return ImageNetwork(shape, module.cpu().eval(), columns=ImageColumns.of(release.schema))
