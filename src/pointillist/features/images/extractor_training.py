"""Training a small extractor on public images: a few minutes on one core, for those who have no public network at hand.

After DP-MEPF, which trains a classifier on a public set and reads its layers (SVHN for MNIST, CIFAR-10 for FashionMNIST).
Several public sets are learned side by side: their classes stay apart. Images without labels are learned by telling by
which quarter turn they were rotated. Everything here is public; the seed makes it repeatable.
"""

import math
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pointillist.device import CPU, device_named
from pointillist.errors import UsageError
from pointillist.features.images.extractor import Extractor, Input
from pointillist.features.images.public_network import one_thread, require_torch, small_network
from pointillist.files.paths import checked
from pointillist.progress import Progress, silent
from pointillist.training_log import Look, tell
from pointillist.watching import watched

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

WIDTHS = ((16, 16), (32, 32), (64, 64))
"""Channels of the convolutions, in blocks; about 290 kB of weights."""
MOST_IMAGES = 1_000_000
_PAIRS = (("x_train", "y_train"), ("train_images", "train_labels"), ("x", "y"), ("images", "labels"))
"""Names of arrays, as for private images; the first pair whose images are there counts."""
_SHIFT = 2
"""Pixels by which training images are moved, either way: so few examples would be learned by heart otherwise."""


@dataclass(frozen=True, eq=False, repr=False)
class PublicImages:
    """Images that anybody may see, with labels where they have some."""

    name: str
    pixels: NDArray[np.uint8]
    """As (number, height, width, 1 or 3)."""
    labels: NDArray[np.int64] | None
    """From 0, without gaps."""

    @classmethod
    def of(cls, name: str, pixels: NDArray[Any], labels: NDArray[Any] | None = None) -> "PublicImages":
        """Checked arrays. Images are (number, height, width) or (number, height, width, 1 or 3), from 0 to 255."""
        pixels = pixels[..., None] if pixels.ndim == 3 else pixels
        if pixels.dtype != np.uint8 or pixels.ndim != 4 or pixels.shape[3] not in (1, 3) or not pixels.size:
            raise UsageError(
                f"{name}: its images must be bytes from 0 to 255, as (number, height, width) or (number, height, width, 3)."
            )
        if len(pixels) > MOST_IMAGES:
            raise UsageError(f"{name}: has over {MOST_IMAGES:,} images. Take a part of them.")
        if labels is None:
            return cls(name, pixels, None)
        if labels.ndim != 1 or len(labels) != len(pixels):
            raise UsageError(f"{name}: its labels must be one for each image.")
        known, codes = np.unique(labels, return_inverse=True)
        # One class teaches nothing: as if there were none.
        return cls(name, pixels, codes.astype(np.int64) if len(known) > 1 else None)

    @classmethod
    def load(cls, path: str | Path) -> "PublicImages":
        """From an npz file: images under x_train, train_images, x or images, and labels under y_train, and so on."""
        path = checked(path, UsageError)
        try:
            with np.load(path, allow_pickle=False) as arrays:
                for images, labels in _PAIRS:
                    if images in arrays:
                        return cls.of(str(path), arrays[images], arrays.get(labels))
        except FileNotFoundError:
            raise UsageError(f"{path}: no such file.") from None
        except (OSError, ValueError, AttributeError, zipfile.BadZipFile):
            raise UsageError(f"{path}: is no npz file of plain arrays.") from None
        raise UsageError(f"{path}: holds no images under {', '.join(images for images, _ in _PAIRS)}.")


@dataclass(frozen=True)
class Trained:
    """An extractor, and how well it learned its public sets."""

    extractor: Extractor
    accuracy: float
    """On public images that it was not trained with."""
    chance: float
    """What guessing would reach."""
    held_out: int


@watched
def train_extractor(
    sets: Sequence[PublicImages],
    *,
    height: int,
    width: int,
    channels: int,
    name: str = "small",
    widths: Sequence[Sequence[int]] = WIDTHS,
    steps: int = 1500,
    batch: int = 64,
    rate: float = 3e-3,
    seed: int = 0,
    device: str = CPU,
    progress: Progress = silent,
) -> Trained:
    """Train a small network to classify public images of the size and channels that the private ones have.

    One image in ten is held out. Adam with a rate that falls to nothing; images are moved by up to two pixels. On one
    thread, so that the same seed gives the same network; on another `device` than the processor, much the same.
    """
    _check(sets, height, width, channels, steps, batch)
    with one_thread():
        return _train(
            sets, (height, width, channels), name, widths, steps, batch, rate, seed, device_named(device), progress
        )


def _train(
    sets: Sequence[PublicImages],
    size: tuple[int, int, int],
    name: str,
    widths: Sequence[Sequence[int]],
    steps: int,
    batch: int,
    rate: float,
    seed: int,
    device: "torch.device",
    progress: Progress,
) -> Trained:
    torch = require_torch()
    height, width, channels = size
    torch.manual_seed(seed)
    generator = np.random.default_rng(seed)
    images, labels = _joined(sets, height, width, channels)
    mean, deviation = float(images.mean()), max(float(images.std()), 1e-3)
    taken = Input(height, width, channels, (mean,) * channels, (deviation,) * channels)
    order = generator.permutation(len(images))
    held_out, kept = np.split(order, [max(1, len(order) // 10)])
    classes = int(labels.max()) + 1
    body = small_network(channels, widths).to(device)
    head = torch.nn.Linear(widths[-1][-1], classes).to(device)
    optimiser = torch.optim.AdamW([*body.parameters(), *head.parameters()], lr=rate, weight_decay=1e-2)
    began = time.monotonic()
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / 50) * 0.5 * (1 + math.cos(math.pi * step / steps))
        body.train()
        chosen = torch.as_tensor(generator.choice(kept, min(batch, len(kept)), replace=False))
        found = _classify(body, head, taken(_moved(images[chosen].to(device), generator)))
        loss = torch.nn.functional.cross_entropy(found, labels[chosen].to(device), label_smoothing=0.1)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 20 == 0:
            progress("train", step / steps)
            tell(progress, Look("train", step + 1, steps, loss.item(), time.monotonic() - began, step + 1))
    body.eval()
    right = 0
    with torch.no_grad():
        for part in np.array_split(held_out, max(1, len(held_out) // 256)):
            chosen = torch.as_tensor(part)
            found = _classify(body, head, taken(images[chosen].to(device))).argmax(dim=1)
            right += int((found.cpu() == labels[chosen]).sum())
    progress("train", 1.0)
    chance = float(np.bincount(labels.numpy()).max() / len(labels))
    return Trained(Extractor.small(name, taken, widths, body.cpu()), right / len(held_out), chance, len(held_out))


def _check(sets: Sequence[PublicImages], height: int, width: int, channels: int, steps: int, batch: int) -> None:
    if not sets:
        raise UsageError("name at least one set of public images.")
    if not (8 <= height <= 128 and 8 <= width <= 128 and channels in (1, 3)):
        raise UsageError(
            f"height and width must lie between 8 and 128, and channels be 1 or 3, not {height}, {width}, {channels}."
        )
    if steps < 1 or batch < 2:
        raise UsageError(f"steps must be at least 1 and batch at least 2, not {steps} and {batch}.")
    if sum(len(each.pixels) for each in sets) < 100:
        raise UsageError("fewer than 100 public images teach a network nothing. Name a larger set.")


def _joined(sets: Sequence[PublicImages], height: int, width: int, channels: int) -> "tuple[Tensor, Tensor]":
    """All images as numbers from 0 to 1 at one size, and their classes; each set's classes stand behind the last set's."""
    torch = require_torch()
    plain = Input(height, width, channels, (0.0,) * channels, (1.0,) * channels)
    images, labels = [], []
    first = 0
    for each in sets:
        parts = [
            plain(torch.as_tensor(part.astype(np.float32) / 255).permute(0, 3, 1, 2))
            for part in np.array_split(each.pixels, max(1, len(each.pixels) // 4096))
        ]
        mine = torch.cat(parts)
        if each.labels is None:
            turned = torch.arange(len(mine)) % 4
            if height != width:
                turned = 2 * (turned % 2)  # a quarter turn would change the size
            mine = torch.stack([torch.rot90(x, int(turn), (1, 2)) for x, turn in zip(mine, turned, strict=True)])
            codes = turned if height == width else turned // 2
        else:
            codes = torch.as_tensor(each.labels)
        images.append(mine)
        labels.append(codes + first)
        first = int(labels[-1].max()) + 1
    return torch.cat(images), torch.cat(labels)


def _moved(images: "Tensor", generator: np.random.Generator) -> "Tensor":
    """All images of a batch moved alike by a few pixels, with the edge's own values coming in."""
    torch = require_torch()
    down, right = (int(each) for each in generator.integers(0, 2 * _SHIFT + 1, 2))
    height, width = images.shape[2:]
    padded = torch.nn.functional.pad(images, (_SHIFT,) * 4, mode="replicate")
    return padded[:, :, down : down + height, right : right + width]


def _classify(body: "nn.Module", head: "nn.Module", images: "Tensor") -> "Tensor":
    found: Tensor = head(body(images).mean(dim=(2, 3)))
    return found
