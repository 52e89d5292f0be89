"""Records: a batch of encoded rows, the input of every feature map.

Private rows and synthetic rows have the same form here; which of the two a batch holds depends on who made it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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

    def part(self, rows: slice | NDArray[Any]) -> "Records":
        """Some of the records: a slice of them, or by number, perhaps several times, or by mask."""
        return Records(
            len(np.arange(self.rows)[rows]),
            {name: codes[rows] for name, codes in self.codes.items()},
            {name: units[rows] for name, units in self.units.items()},
            {name: pixels[rows] for name, pixels in self.images.items()},
        )

    @staticmethod
    def joined(parts: Sequence["Records"]) -> "Records":
        """Records one after the other; all parts have the columns of the first, and there is at least one."""
        return Records(
            sum(part.rows for part in parts),
            {name: np.concatenate([part.codes[name] for part in parts]) for name in parts[0].codes},
            {name: np.concatenate([part.units[name] for part in parts]) for name in parts[0].units},
            {name: np.concatenate([part.images[name] for part in parts]) for name in parts[0].images},
        )
