"""Records: a batch of encoded rows, the input of every feature map.

Private rows and synthetic rows have the same form here; which of the two a batch holds depends on who made it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, repr=False)
class Records:
    """Rows as level numbers by column and, where a feature map asks for them, as positions in [0, 1] or as pixels."""

    rows: int
    codes: Mapping[str, NDArray[np.uint16]]
    units: Mapping[str, NDArray[np.float64]]
    images: Mapping[str, NDArray[np.uint8]] = field(default_factory=dict)
    """Pixels by column, as (rows, height, width, channels)."""

    def part(self, rows: slice | NDArray[np.intp]) -> "Records":
        """Some of the records."""
        return Records(
            len(np.arange(self.rows)[rows]),
            {name: codes[rows] for name, codes in self.codes.items()},
            {name: units[rows] for name, units in self.units.items()},
            {name: pixels[rows] for name, pixels in self.images.items()},
        )


@dataclass(frozen=True)
class Products:
    """K product distributions over levels: for each column a (K, size) array of probabilities.

    Inside a bin, a numeric value is spread evenly over the bin's span in [0, 1].
    """

    probabilities: Mapping[str, NDArray[np.float64]]
    spans: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]]

    @property
    def count(self) -> int:
        return len(next(iter(self.probabilities.values())))
