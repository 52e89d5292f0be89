"""Recoding: from values of the schema's types back to level numbers. The inverse of decoding, for synthetic rows alone."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]


def numbers_of(levels: Levels, array: pa.ChunkedArray) -> Floats:
    """A numeric column as floats, NaN where it is missing."""
    return np.asarray(levels.column.from_arrow(array.combine_chunks()), dtype=np.float64)


def recode(levels: Levels, array: pa.ChunkedArray) -> NDArray[np.uint16]:
    """The level number of every value of a synthetic column."""
    missing = levels.missing if levels.has_missing else levels.size - 1  # what is unlisted may be written as a gap
    if levels.numeric:
        values = numbers_of(levels, array)
        gaps = np.isnan(values)
        codes = np.searchsorted(levels.edges, np.where(gaps, levels.edges[0], values), side="right") - 1
        codes = np.clip(codes, 0, levels.regular - 1)
        for number, special in enumerate(levels.specials):
            codes[values == special] = levels.regular + number
    else:
        found = pc.index_in(array, value_set=pa.array(list(levels.categories), type=array.type))
        codes = np.asarray(found.fill_null(levels.other), dtype=np.int64)
        gaps = np.asarray(array.is_null())
    return np.where(gaps, missing, codes).astype(np.uint16)
