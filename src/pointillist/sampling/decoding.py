"""Decoding: from level numbers back to values of the schema's types."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.schema import Boolean, Datetime, Integer
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]


def decode(levels: Levels, codes: NDArray[np.uint16], generator: np.random.Generator) -> pa.Array:
    """Values for level numbers; inside a bin they are spread evenly on the column's scale."""
    if levels.numeric:
        return _number_array(levels, codes, numbers(levels, codes, generator.random(len(codes))))
    missing = _missing(levels, codes)
    if isinstance(levels.column, Boolean):
        return pa.array(codes == 1, mask=missing, type=pa.bool_())
    other = codes == levels.other if levels.has_other else np.zeros(len(codes), dtype=bool)
    if isinstance(levels.categories[0], int):
        # A column of whole numbers has no room for a label: what is unlisted is left missing.
        values = np.array([*levels.categories, 0, 0], dtype=np.int64)
        return pa.array(values[codes], mask=missing | other, type=pa.int64())
    names = np.array([*levels.categories, levels.column.other_label, ""], dtype=object)
    return pa.array(names[np.where(missing, len(names) - 1, codes)], mask=missing, type=pa.string())


def _missing(levels: Levels, codes: NDArray[np.uint16]) -> NDArray[np.bool_]:
    return codes == levels.missing if levels.has_missing else np.zeros(len(codes), dtype=bool)


def numbers(levels: Levels, codes: NDArray[np.uint16], spread: Floats) -> Floats:
    """Numbers for the levels of a numeric column; `spread` says where in its bin each lies, from 0 to 1.

    What stands for a missing value means nothing. Datetimes count in their resolution from 1970.
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
    decimals = getattr(levels.column, "decimals", None)
    if decimals is not None:
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


def _number_array(levels: Levels, codes: NDArray[np.uint16], values: Floats) -> pa.Array:
    missing = _missing(levels, codes)
    if isinstance(levels.column, Datetime):
        return _moments(levels.column, pa.array(values.astype(np.int64), mask=missing, type=pa.int64()))
    if isinstance(levels.column, Integer):
        return pa.array(values.astype(np.int64), mask=missing, type=pa.int64())
    return pa.array(values, mask=missing, type=pa.float64())


def _moments(column: Datetime, ticks: pa.Array) -> pa.Array:
    """Days or seconds since 1970 in the type that the column is stored in."""
    unit, zone = column.unit_and_zone
    if column.resolution == "day":
        days = ticks.cast(pa.int32()).cast(pa.date32())
        if unit.startswith("date"):
            return days.cast(pa.type_for_alias(unit))
        ticks = days.cast(pa.timestamp("s"))
    else:
        ticks = ticks.cast(pa.timestamp("s"))
    return ticks.cast(pa.timestamp(unit)).cast(pa.int64()).cast(pa.timestamp(unit, zone))  # counted in UTC


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
            each.name: _number_array(each, codes[each.name], drawn[each.name])
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
