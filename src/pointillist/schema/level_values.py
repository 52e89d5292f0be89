"""Level values: from level numbers back to the values that they stand for. `Levels` says which levels there are."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]


def to_arrow(levels: Levels, codes: NDArray[np.uint16], numbers: Floats | None = None) -> pa.Array:
    """A column's values; of a numeric column, `numbers` are those that its levels became."""
    missing = codes == levels.missing if levels.has_missing else np.zeros(len(codes), dtype=bool)
    return levels.column.to_arrow(codes if numbers is None else numbers, missing)


def numbers(levels: Levels, codes: NDArray[np.uint16], spread: Floats) -> Floats:
    """Numbers for the levels of a numeric column; `spread` says where in its bin each lies, from 0 to 1.

    What stands for a missing value means nothing.
    """
    place = np.minimum(codes, levels.regular - 1)
    low, high = levels.edges[place], levels.edges[place + 1]
    curve = levels.column.curve
    first, last = curve.bend(low), curve.bend(high)
    values = levels.values[place] if len(levels.values) else curve.unbend(first + spread * (last - first))
    if levels.whole:
        values = beside_specials(np.clip(np.floor(values), low, high - 1), low, high, levels.specials)
    else:
        values = np.clip(values, low, np.nextafter(high, low))  # rounding must not carry a value into the next bin
    decimals = levels.column.digits
    if decimals is not None and not levels.whole:
        with np.errstate(over="ignore", invalid="ignore"):  # a number too large to round has no decimals to lose
            rounded = np.round(values, decimals)
            # What is near a special value must not become it: special values have a level of their own.
            beside = np.round(rounded + 10.0**-decimals, decimals)
            rounded = np.where(np.isin(rounded, levels.specials), beside, rounded)
        values = np.clip(np.where(np.isfinite(rounded), rounded, values), *levels.bounds)
    for number, special in enumerate(levels.specials):
        values = np.where(codes == levels.regular + number, special, values)
    return values


def placed(levels: Levels, codes: NDArray[np.uint16], units: Floats) -> Floats:
    """Numbers at given positions in [0, 1] of a column's whole range, as near as the rules of their level allow."""
    place = np.minimum(codes, levels.regular - 1)
    low, high = levels.edges[place], levels.edges[place + 1]
    values = levels.from_unit(units)
    if levels.whole:
        values = np.clip(np.round(values), low, high - 1) + 0.5  # in the middle: cut off below, it is this number
    low, high, values = (levels.column.curve.bend(each) for each in (low, high, values))
    return numbers(levels, codes, np.clip((values - low) / (high - low), 0.0, 1.0))


def beside_specials(values: Floats, low: Floats, high: Floats, specials: tuple[float, ...]) -> Floats:
    """Whole numbers of a bin that are not special values: those have a level of their own."""
    for _ in specials:
        values = np.where(np.isin(values, specials), low + (values + 1 - low) % (high - low), values)
    return values
