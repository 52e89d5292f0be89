"""Arrays: the two kinds of numpy arrays that everything here is computed with."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
"""Numbers of levels, of classes or of rows."""
