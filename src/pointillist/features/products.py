"""Products: product distributions over levels, under which feature maps have closed-form expectations."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
