"""Pictures: the same images in every kind of source, and every method that takes them."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from numpy.typing import NDArray
from PIL import Image

import pointillist as pt
from pointillist.features import Extractor
from pointillist.features.images.extractor import Input
from pointillist.features.images.extractor_training import PublicImages
from pointillist.features.images.public_network import small_network
from pointillist.methods.base import Method
from pointillist.progress import Progress
from recording.outcome import Room, Work
from recording.verdict import Works

SIDE = 6
CLASSES = ("bright", "dark")
Picture = tuple[NDArray[np.uint8], str]
"""Pixels, and the class."""


@cache
def _extractor() -> Extractor:
    """A small public network."""
    torch.manual_seed(0)
    widths = ((3,), (4,))
    return Extractor.small("tiny", Input(SIDE, SIDE, 1, (0.5,), (0.25,)), widths, small_network(1, widths))


@cache
def _gallery() -> PublicImages:
    """Public images, none of which is private."""
    pixels = np.random.default_rng(77).integers(0, 256, (24, SIDE, SIDE), dtype=np.uint8)
    return PublicImages.of("public", pixels)


METHODS: dict[str, Callable[[], Method]] = {
    "spectral": pt.Spectral,
    "merf": lambda: pt.ImageMerf(features=20),
    "hermite": lambda: pt.ImageHermite(order=3, products=2, product_order=3),
    "perceptual": lambda: pt.Perceptual(extractor=_extractor()),
    # Overlap: or else rows would be compared with the public ones first, outside the pass that calls are watched around.
    "gallery": lambda: pt.Gallery(extractor=_extractor(), public=_gallery(), directions=3, overlap=True),
}


def schema(*, labelled: bool) -> pt.Schema:
    label = {"label": pt.Categorical(categories=CLASSES, missing=False)} if labelled else {}
    return pt.Schema(name="lamps", rows=20, columns={"image": pt.Image(height=SIDE, width=SIDE), **label})


def _stacked(pictures: tuple[Picture, ...]) -> NDArray[np.uint8]:
    return np.array([pixels for pixels, _ in pictures], dtype=np.uint8).reshape(-1, SIDE, SIDE)


def _labels(pictures: tuple[Picture, ...]) -> NDArray[np.str_]:
    return np.array([label for _, label in pictures], dtype="U12")


def _png(pixels: NDArray[np.uint8]) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def _folder(pictures: tuple[Picture, ...], folder: Path) -> Path:
    """Classes are public, so their folders are there, with or without images."""
    path = folder / "images"
    for name in CLASSES:
        (path / name).mkdir(parents=True)
    for number, (pixels, label) in enumerate(pictures):
        (path / label).mkdir(exist_ok=True)
        (path / label / f"{number}.png").write_bytes(_png(pixels))
    return path


def _npz(pictures: tuple[Picture, ...], folder: Path) -> Path:
    np.savez(folder / "images.npz", x=_stacked(pictures), y=_labels(pictures))
    return folder / "images.npz"


def _npy(pictures: tuple[Picture, ...], folder: Path) -> Path:
    np.save(folder / "images.npy", _stacked(pictures))
    return folder / "images.npy"


def _encoded(pictures: tuple[Picture, ...]) -> pa.Table:
    contents = [{"bytes": _png(pixels), "path": None} for pixels, _ in pictures]
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    return pa.table(
        {"image": pa.array(contents, kind), "label": pa.array([label for _, label in pictures], pa.string())}
    )


def _parquet(pictures: tuple[Picture, ...], folder: Path) -> Path:
    pq.write_table(_encoded(pictures), folder / "images.parquet")
    return folder / "images.parquet"


SOURCES: dict[str, Callable[[tuple[Picture, ...], Path], Any]] = {
    "folder": _folder,
    "npz": _npz,
    "npy": _npy,
    "encoded column": lambda pictures, folder: _encoded(pictures),
    "encoded column in parquet": _parquet,
    "images in memory": lambda pictures, folder: pt.images(_stacked(pictures), _labels(pictures)),
}


@dataclass(frozen=True)
class PictureCase:
    """A whole release of images."""

    source: str
    method: str
    neighbours: str
    epsilon: float = 1.0

    def works(self, rest: tuple[Picture, ...], first: tuple[Picture, ...], second: tuple[Picture, ...]) -> Works:
        def work(pictures: tuple[Picture, ...]) -> Work:
            return lambda place: self._release(pictures, place)

        half = len(rest) // 2
        return Works(
            work((*rest[:half], *first, *rest[half:])),
            work((*rest[:half], *second, *rest[half:])),
            work(first) if first else None,
            work(second) if second else None,
        )

    def _release(self, pictures: tuple[Picture, ...], place: Room) -> Callable[[Progress], pt.Release]:
        source = SOURCES[self.source](pictures, place.data)
        return lambda progress: pt.release(
            source,
            schema(labelled=self.source != "npy"),
            epsilon=self.epsilon,
            neighbours=self.neighbours,
            method=METHODS[self.method](),
            ledger=place.ledger,
            output=place.output,
            progress=progress,
            threads=1 + len(pictures) % 2,
        )
