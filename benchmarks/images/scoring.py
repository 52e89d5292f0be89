"""Scoring: what classifiers learn from synthetic images, how varied these are, and how far from real ones.

As a script it is called with a folder that holds `scoring.json`, `synthetic.npz` and `real.npz`, and writes `scores.json`.
"""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pointillist.evaluate.images.metrics.classifiers import CLASSIFIERS, MOST_IMAGES, classify
from pointillist.evaluate.images.metrics.copies import copies
from pointillist.evaluate.images.metrics.distances import distances
from pointillist.evaluate.images.metrics.diversity import coverage, curve, variance_ratios
from pointillist.files.images import Images


@dataclass(frozen=True)
class Protocol:
    """How synthetic images are scored."""

    most_images: int = MOST_IMAGES
    """The most images that a classifier is trained on; the papers take 60,000."""
    models: tuple[str, ...] = CLASSIFIERS
    sizes: tuple[int, ...] = field(default=(100, 1_000))
    """Numbers of images at which accuracy is looked at, too, to see whether it still grows."""

    def to_json(self) -> dict[str, Any]:
        return {"most_images": self.most_images, "models": list(self.models), "sizes": list(self.sizes)}


def score(train: Images, test: Images, synthetic: Images, protocol: Protocol) -> dict[str, Any]:
    """All figures, as plain values."""
    results = classify(synthetic, test, models=protocol.models, most_images=protocol.most_images)
    near = coverage(train, synthetic, test)
    ratios = variance_ratios(train, synthetic)
    grown = curve(synthetic, test, sizes=protocol.sizes) if protocol.sizes else None
    return {
        "protocol": protocol.to_json(),
        "classifiers": {each.model: dict(vars(each)) for each in results.results},
        "mean": results.mean,
        "coverage": dict(vars(near)),
        "variance_ratio": float(np.mean(list(ratios.values()))),
        "variance_ratios": ratios,
        "curve": [] if grown is None else [dict(vars(each)) for each in grown.points],
        "distances": [each.to_json() for each in distances(train, synthetic, test)],
        "copies": copies(train, synthetic, test).to_json(),
    }


def main(folder: Path) -> None:
    facts = json.loads((folder / "scoring.json").read_text(encoding="utf-8"))
    with np.load(folder / "real.npz", allow_pickle=False) as real, np.load(folder / "synthetic.npz") as made:
        train, test, synthetic = (
            Images(source[pixels], source[labels].astype(np.uint16), tuple(facts["classes"]))
            for source, pixels, labels in (
                (real, "x_train", "y_train"), (real, "x_test", "y_test"), (made, "images", "labels")
            )
        )  # fmt: skip
    asked = facts["protocol"]
    protocol = Protocol(asked["most_images"], tuple(asked["models"]), tuple(asked["sizes"]))
    (folder / "scores.json").write_text(json.dumps(score(train, test, synthetic, protocol)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
