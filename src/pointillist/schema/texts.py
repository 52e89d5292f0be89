"""Texts: columns of an Arrow table as texts, and which texts stand for a missing value."""

import pyarrow as pa
import pyarrow.compute as pc

MISSING_TEXTS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")
"""Texts that stand for "no value", unless the column declares them as a category."""


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def as_texts(array: pa.Array) -> pa.Array:
    """Any column as texts; whole numbers are written alike, whether they come as integers, floats or decimals.

    A frame's column of whole numbers turns to floats when someone else's value is missing: that must not show.
    """
    if pa.types.is_decimal(array.type):
        array = array.cast(pa.float64())
    if not pa.types.is_floating(array.type):
        return array if array.type == pa.string() else pc.cast(array, pa.string())
    array = array.cast(pa.float64())
    whole = pc.and_(pc.equal(pc.floor(array), array), pc.less(pc.abs(array), 2.0**53))
    numbers = pc.if_else(whole, array, None).cast(pa.int64()).cast(pa.string())
    return pc.coalesce(numbers, pc.cast(array, pa.string()))


def without_missing_texts(array: pa.Array) -> pa.Array:
    """Texts, trimmed, with null for every text that stands for a missing value."""
    texts = pc.utf8_trim_whitespace(as_texts(array))
    return pc.if_else(pc.is_in(texts, value_set=pa.array(MISSING_TEXTS)), None, texts)
