"""Job: one run, and the folder that its processes read and write.

Written: `job.json` and `train.npz` (`x_train`, `y_train`). Read back: `synthetic.npz` (`images`, `labels`) and
`made.json` with processor seconds by stage and versions.
"""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pointillist.errors import DataError
from pointillist.files.images import Images

from .datasets import Dataset

REAL = "real"
"""The training images themselves, in the place of a method."""


@dataclass(frozen=True)
class Run:
    """One cell of the bench."""

    dataset: str
    method: str
    epsilon: float | None = None
    """None, like delta, for real images."""
    delta: float | None = None
    seed: int = 0
    images: int = 60_000
    """How many synthetic images are sampled."""
    settings: tuple[tuple[str, Any], ...] = field(default=())
    """The method's options, where they are not its defaults."""

    @property
    def key(self) -> str:
        """A name for files that a person can read."""
        if self.method == REAL:
            return f"{self.dataset}-{self.method}"
        known = json.dumps(self.settings, default=str)
        other = f"-{hashlib.sha256(known.encode()).hexdigest()[:6]}" if self.settings else ""
        budget = f"epsilon{self.epsilon:g}-delta{self.delta:g}-images{self.images}"
        return f"{self.dataset}-{self.method}{other}-{budget}-seed{self.seed}"

    @property
    def label(self) -> str:
        """How tables call the method."""
        options = ", ".join(f"{name} = {Path(str(value)).name}" for name, value in self.settings)
        return f"{self.method} ({options})" if options else self.method


def write(folder: Path, run: Run, dataset: Dataset, train: Images) -> None:
    """Lay out what the method may see."""
    facts = {**vars(run), "settings": dict(run.settings), "schema": dataset.schema.to_json()}
    (folder / "job.json").write_text(json.dumps(facts, default=str), encoding="utf-8")
    assert train.codes is not None
    labels = np.array(train.classes)[train.codes]
    np.savez(folder / "train.npz", x_train=train.pixels, y_train=labels)


def read(folder: Path, dataset: Dataset) -> tuple[Images, dict[str, Any]]:
    """The synthetic images, and what is known of their making."""
    made = json.loads((folder / "made.json").read_text(encoding="utf-8"))
    return load(folder / "synthetic.npz", dataset), made


def load(path: Path, dataset: Dataset) -> Images:
    """Synthetic images; refused if they are not images of the schema."""
    with np.load(path, allow_pickle=False) as arrays:
        pixels, codes = arrays["images"], arrays["labels"]
    try:
        found = Images(pixels, codes.astype(np.uint16), dataset.classes)
    except ValueError as error:
        raise DataError(f"{path.name}: {error}") from None
    if found.pixels.shape[1:] != dataset.image.shape:
        raise DataError(f"{path.name}: the images have another size than the schema says.")
    return found


def store(path: Path, pictures: Images) -> None:
    """Write images whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part.npz")
    assert pictures.codes is not None
    np.savez_compressed(part, images=pictures.pixels, labels=pictures.codes)
    part.replace(path)
