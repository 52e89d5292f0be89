"""CNN: a small convolutional network that learns to tell classes of images apart. Needs torch.

Two convolutions with pooling and two dense layers, a fixed number of epochs, and the weights of the last one: nothing is
chosen on the test images. (Taking the best epoch on the test set, as is often done, spends the test set.)
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from pointillist.evaluate.arrays import Codes
from pointillist.evaluate.images.reading import labels_of
from pointillist.files.images import Images
from pointillist.progress import Progress, silent

NAME = "CNN"
"""How tables call it."""
EPOCHS, BATCH, RATE = 8, 128, 2e-3
_CHANNELS, _DENSE, _DROPPED = (16, 32), 128, 0.25


@dataclass(frozen=True, eq=False)
class Network:
    """A trained network."""

    module: nn.Module
    classes: int

    def predict(self, pixels: NDArray[np.uint8]) -> Codes:
        """One class for each image."""
        self.module.eval()
        with torch.no_grad():
            parts = [
                self.module(_inputs(pixels[start : start + 1024])).argmax(dim=1).numpy()
                for start in range(0, len(pixels), 1024)
            ]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def train_network(training: Images, *, epochs: int = EPOCHS, seed: int = 0, progress: Progress = silent) -> Network:
    """Train on all the images, on one thread; the same seed gives the same network."""
    labels, classes = torch.as_tensor(labels_of(training)), len(training.classes)
    generator = np.random.default_rng(seed)
    with torch.random.fork_rng(), _one_thread():
        torch.manual_seed(seed)
        module = _module(training.pixels.shape[1:], classes)
        steps = max(1, epochs * -(-len(training) // BATCH))
        optimiser = torch.optim.Adam(module.parameters(), lr=RATE)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps + 1, pct_start=0.2)
        module.train()
        for epoch in range(epochs):
            order = generator.permutation(len(training))
            for start in range(0, len(order), BATCH):
                chosen = order[start : start + BATCH]
                loss = nn.functional.cross_entropy(module(_inputs(training.pixels[chosen])), labels[chosen])
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
                schedule.step()
            progress("CNN", (epoch + 1) / epochs)
    return Network(module, classes)


def _module(shape: tuple[int, ...], classes: int) -> nn.Module:
    """Any size: pooling rounds up, so that not even one pixel is pooled away."""
    height, width, channels = shape
    first, second = _CHANNELS
    for _ in _CHANNELS:
        height, width = -(-height // 2), -(-width // 2)
    return nn.Sequential(
        nn.Conv2d(channels, first, 3, padding=1),
        nn.MaxPool2d(2, ceil_mode=True),
        nn.ReLU(),
        nn.Conv2d(first, second, 3, padding=1),
        nn.MaxPool2d(2, ceil_mode=True),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dropout(_DROPPED),
        nn.Linear(second * height * width, _DENSE),
        nn.ReLU(),
        nn.Linear(_DENSE, classes),
    )


def _inputs(pixels: NDArray[np.uint8]) -> torch.Tensor:
    """From -1 to 1, channels first."""
    return torch.as_tensor(np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))).float().div_(127.5).sub_(1.0)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Threads that wait for each other cost more than they save on images this small."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
