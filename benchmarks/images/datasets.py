"""Datasets: public images in npz files, with the schema that a user would write for them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.files.images import Images
from pointillist.schema import Categorical, Image, Schema

_DIGITS = tuple(range(10))


@dataclass(frozen=True)
class Dataset:
    """One public set of labelled images."""

    name: str
    title: str
    file: str
    image: Image
    rows: int
    classes: tuple[int, ...] = _DIGITS

    @property
    def schema(self) -> Schema:
        """The number of images is public where neighbours replace one, and plans are better for knowing it."""
        label = Categorical(categories=self.classes, missing=False, out_of_domain="error")
        return Schema(name=self.name, reviewed=True, rows=self.rows, columns={"image": self.image, "label": label})

    def load(self, folder: Path | None) -> "Split":
        """Training and test images."""
        if folder is None:
            raise UsageError(
                f"{self.name}: where are its files? Give the folder that holds images/{self.file} with --data or in "
                "POINTILLIST_DATA."
            )
        path = folder / "images" / self.file
        if not path.exists():
            raise UsageError(f"{path}: no such file. The data set {self.name} is read from it.")
        with np.load(path, allow_pickle=False) as arrays:
            return Split(*(self._part(arrays[f"x_{part}"], arrays[f"y_{part}"]) for part in ("train", "test")))

    def _part(self, pixels: NDArray[np.uint8], labels: NDArray[np.uint8]) -> Images:
        return Images(pixels.reshape(-1, *self.image.shape), labels.ravel().astype(np.uint16), self.classes)


@dataclass(frozen=True, eq=False)
class Split:
    """Images to learn from and images to test on, as the data set's authors cut them."""

    train: Images
    test: Images


def datasets() -> dict[str, Dataset]:
    """All data sets by name."""
    grey, colour = Image(height=28, width=28), Image(height=32, width=32, colour=True)
    found = [
        Dataset("mnist", "MNIST", "mnist.npz", grey, 60_000),
        Dataset("fashion", "FashionMNIST", "fashion_mnist.npz", grey, 60_000),
        Dataset("cifar10-small", "CIFAR-10, the first 10,000 images", "cifar10_small.npz", colour, 10_000),
        Dataset("cifar10", "CIFAR-10", "cifar10.npz", colour, 50_000),
    ]
    return {each.name: each for each in found}
