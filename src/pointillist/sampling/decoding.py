"""Decoding: from level numbers back to values of the schema's types."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]


def decode(levels: Levels, codes: NDArray[np.uint16], generator: np.random.Generator) -> pa.Array:
    """Values for level numbers; inside a bin they are spread evenly on the column's scale."""
    values = numbers(levels, codes, generator.random(len(codes))) if levels.numeric else codes
    return levels.column.to_arrow(values, _missing(levels, codes))


def _missing(levels: Levels, codes: NDArray[np.uint16]) -> NDArray[np.bool_]:
    return codes == levels.missing if levels.has_missing else np.zeros(len(codes), dtype=bool)


def numbers(levels: Levels, codes: NDArray[np.uint16], spread: Floats) -> Floats:
    """Numbers for the levels of a numeric column; `spread` says where in its bin each lies, from 0 to 1.

    What stands for a missing value means nothing.
    """
    place = np.minimum(codes, levels.regular - 1)
    low, high = levels.edges[place], levels.edges[place + 1]
    if levels.column.scale == "log":
        values = np.exp(np.log(low) + spread * (np.log(high) - np.log(low)))
    else:
        values = low + spread * (high - low)
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
    if levels.column.scale == "log":
        low, high, values = np.log(low), np.log(high), np.log(values)
    return numbers(levels, codes, np.clip((values - low) / (high - low), 0.0, 1.0))


def beside_specials(values: Floats, low: Floats, high: Floats, specials: tuple[float, ...]) -> Floats:
    """Whole numbers of a bin that are not special values: those have a level of their own."""
    for _ in specials:
        values = np.where(np.isin(values, specials), low + (values + 1 - low) % (high - low), values)
    return values


def decode_table(
    levels: tuple[Levels, ...],
    codes: dict[str, NDArray[np.uint16]],
    generator: np.random.Generator,
    drawn: Mapping[str, Floats] | None = None,
) -> pa.Table:
    """A table for the level numbers of all columns; `drawn` holds columns whose numbers are settled already."""
    drawn = drawn or {}
    return pa.table(
        {
            each.name: each.column.to_arrow(drawn[each.name], _missing(each, codes[each.name]))
            if each.name in drawn
            else decode(each, codes[each.name], generator)
            for each in levels
        }
    )


def settled_table(
    levels: tuple[Levels, ...], codes: Mapping[str, NDArray[np.uint16]], settled: Mapping[str, Floats]
) -> pa.Table:
    """A table in which nothing is left to chance: `settled` holds the numbers of every numeric column."""
    return decode_table(levels, dict(codes), np.random.default_rng(0), settled)
