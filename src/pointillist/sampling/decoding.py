"""Decoding: from level numbers back to a table of the schema's types. What a level leaves open is drawn."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.schema.level_values import numbers, to_arrow
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]


def decode(levels: Levels, codes: NDArray[np.uint16], rng: np.random.Generator) -> pa.Array:
    """Values for level numbers; inside a bin they are spread evenly on the column's scale."""
    return to_arrow(levels, codes, numbers(levels, codes, rng.random(len(codes))) if levels.numeric else None)


def decode_table(
    levels: tuple[Levels, ...],
    codes: Mapping[str, NDArray[np.uint16]],
    rng: np.random.Generator,
    drawn: Mapping[str, Floats] | None = None,
) -> pa.Table:
    """A table for the level numbers of all columns; `drawn` holds columns whose numbers are settled already."""
    drawn = drawn or {}
    return pa.table(
        {
            each.name: to_arrow(each, codes[each.name], drawn[each.name])
            if each.name in drawn
            else decode(each, codes[each.name], rng)
            for each in levels
        }
    )


def settled_table(
    levels: tuple[Levels, ...], codes: Mapping[str, NDArray[np.uint16]], settled: Mapping[str, Floats]
) -> pa.Table:
    """A table in which nothing is left to chance: `settled` holds the numbers of every numeric column."""
    return decode_table(levels, codes, np.random.default_rng(0), settled)
