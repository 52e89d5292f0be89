"""Images: images with their labels, as sampling gives them. Public."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SHOWN = 32
"""Images that a notebook shows."""


@dataclass(frozen=True, eq=False, repr=False)
class Images:
    """Images of one size, each with a label where there are labels."""

    pixels: NDArray[np.uint8]
    """As (number, height, width, channels); one channel is grey, three are red, green and blue."""
    codes: NDArray[np.uint16] | None = None
    """For each image the number of its class."""
    classes: tuple[str | int, ...] = ()
    """The names of the classes."""

    def __post_init__(self) -> None:
        if self.pixels.dtype != np.uint8 or self.pixels.ndim != 4 or self.pixels.shape[3] not in (1, 3):
            raise ValueError("pixels must be whole numbers from 0 to 255, as (number, height, width, 1 or 3 channels)")
        if self.codes is not None and (
            self.codes.shape != (len(self.pixels),) or (len(self.codes) and self.codes.max() >= len(self.classes))
        ):
            raise ValueError("codes must give each image one of the classes")

    def __len__(self) -> int:
        return len(self.pixels)

    def __repr__(self) -> str:
        _, height, width, channels = self.pixels.shape
        kind = "grey" if channels == 1 else "colour"
        named = f" in {len(self.classes)} classes" if self.codes is not None else ""
        return f"<{len(self):,} images, {height} x {width}, {kind}{named}>"

    def _repr_html_(self) -> str:
        from pointillist.pages.images import grid, image_tag
        from pointillist.pages.notebook import Box

        shown = self.at_most(_SHOWN, seed=0)
        drawn = [image_tag(grid(shown.pixels, 8), f"{len(shown)} of them", zoom=max(1.0, 40 / shown.pixels.shape[2]))]
        return Box(repr(self)[1:-1], lines=drawn if len(self) else []).to_html()

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the images, whole or not at all: to a folder (a path without ending), an .npz or a .parquet file.

        A folder that holds anything is replaced only with `overwrite`, and only if nothing but PNG images is in it.
        """
        from pointillist.files import image_files

        image_files.write(self, path, overwrite=overwrite)

    def part(self, index: NDArray[Any]) -> "Images":
        """Some of the images, by number or by mask."""
        return Images(self.pixels[index], None if self.codes is None else self.codes[index], self.classes)

    def at_most(self, count: int, *, seed: int) -> "Images":
        """A random part with no more than `count` images; of one seed, smaller parts lie within larger ones."""
        if len(self) <= count:
            return self
        return self.part(np.random.default_rng(seed).permutation(len(self))[:count])

    @property
    def labels(self) -> NDArray[np.object_] | None:
        """For each image the name of its class."""
        if self.codes is None:
            return None
        names = np.empty(len(self.classes), dtype=object)
        names[:] = self.classes
        return np.asarray(names[self.codes])


Pictures = Images
"""What they were called before; kept for those who call them so."""
