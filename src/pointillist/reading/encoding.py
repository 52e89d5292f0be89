"""Encoding: from record batches, as they come from a file or frame, to level numbers and positions in [0, 1].

Every rule that decides about a row looks at that row alone, so one person's rows never change how another's are read.
Whatever the rows hold, level numbers stay within the column's levels: the bound on the features does not depend on
well-behaved input. Messages name the column and the rule, never a value and never how many.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pointillist.errors import DataError
from pointillist.features import FeatureMap, Records
from pointillist.reading.arrow_types import odd_family, without_runs
from pointillist.reading.kernels import MISSING, OUT_OF_RANGE, bin_numbers
from pointillist.reading.pixels import decode
from pointillist.schema import MISSING_TEXTS, Boolean, Datetime, Image, Schema, datetime_texts
from pointillist.schema.datetime_format import DatetimeFormat
from pointillist.schema.levels import Levels, levels_of

_BOOLEANS = {"true": 1, "t": 1, "yes": 1, "y": 1, "1": 1, "false": 0, "f": 0, "no": 0, "n": 0, "0": 0}
_SECONDS_PER_DAY = 86_400


class Encoder:
    """Encodes the columns that a feature map reads."""

    def __init__(
        self,
        levels: tuple[Levels, ...],
        code_columns: frozenset[str],
        unit_columns: frozenset[str],
        origin: str,
        images: Mapping[str, Image] | None = None,
    ):
        self._levels = [each for each in levels if each.name in code_columns | unit_columns]
        self._code_columns, self._unit_columns = code_columns, unit_columns
        names = [each.name for each in self._levels if each.name in unit_columns and not each.numeric]
        if names:
            raise ValueError(f"column {names[0]!r} has no positions: it is not a number")
        self._origin = origin
        self._images = dict(images or {})

    @classmethod
    def of_schema(cls, schema: Schema, origin: str) -> Self:
        """For everything that a schema measures."""
        levels = levels_of(schema)
        names, numeric = (frozenset(e.name for e in levels if e.numeric or not only) for only in (False, True))
        return cls(levels, names, numeric, origin, dict([schema.image]) if schema.image else {})

    @classmethod
    def of_map(cls, feature_map: FeatureMap, schema: Schema, origin: str) -> Self:
        """For what a feature map reads."""
        images = dict([schema.image]) if schema.image and feature_map.image_columns else {}
        return cls(levels_of(schema), feature_map.code_columns, feature_map.unit_columns, origin, images)

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        return [*self._images, *(each.name for each in self._levels)]

    @property
    def code_names(self) -> list[str]:
        """The columns that come out as level numbers."""
        return [each.name for each in self._levels if each.name in self._code_columns]

    @property
    def unit_names(self) -> list[str]:
        """The columns that come out as positions in [0, 1]."""
        return [each.name for each in self._levels if each.name in self._unit_columns]

    def nothing(self) -> Records:
        """No rows, in the form that rows would have."""
        codes = {name: np.empty(0, dtype=np.uint16) for name in self.code_names}
        units = {name: np.empty(0, dtype=np.float64) for name in self.unit_names}
        images = {name: np.empty((0, *column.shape), dtype=np.uint8) for name, column in self._images.items()}
        return Records(0, codes, units, images)

    def __call__(self, batch: pa.RecordBatch) -> Records:
        codes, units = {}, {}
        for each in self._levels:
            array = self._plain(each, batch.column(each.name))
            if each.numeric:
                values = self._guarded(each, numbers, array)
                levels = self._bins(each, values)  # checks the column's rules, also where only positions are asked for
                if each.name in self._code_columns:
                    codes[each.name] = levels
                if each.name in self._unit_columns:
                    units[each.name] = each.to_unit(values.astype(np.float64))
            else:
                codes[each.name] = self._guarded(each, self._names, array)
        images = {
            name: decode(batch.column(name), column, f"{self._origin}: column {name!r}")
            for name, column in self._images.items()
        }
        return Records(batch.num_rows, codes, units, images)

    def _plain(self, each: Levels, array: pa.Array) -> pa.Array:
        """Refuse what is not one value a row: no rule of the schema could say what it stands for."""
        found = odd_family(array.type)
        if found is not None:
            needed = "texts, whole numbers or booleans" if not each.numeric else "numbers or texts"
            needed = "dates, times or texts" if isinstance(each.column, Datetime) else needed
            raise self._fail(
                each,
                f"is stored as {found}, and {each.column.kind} columns need {needed}",
                'Store it so, or set its kind to "ignore".',
            )
        return without_runs(array)

    def _guarded(self, each: Levels, read: Callable[[pa.Array, Levels], Any], array: pa.Array) -> Any:
        """Arrow's own messages quote the value that they stumble over: replace them."""
        try:
            return read(array, each)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            form = isinstance(each.column, Datetime)
            raise DataError(
                f"{self._origin}: column {each.name!r} holds a value that cannot be read as {each.column.kind}. "
                f"Correct the data, or change the column's {'format or kind' if form else 'kind'} in the schema."
            ) from None

    def _fail(self, each: Levels, found: str, remedy: str) -> DataError:
        return DataError(f"{self._origin}: column {each.name!r} {found}. {remedy}")

    def _bins(self, each: Levels, values: NDArray[Any]) -> NDArray[np.uint16]:
        codes = np.empty(len(values), dtype=np.uint16)
        missing = each.missing if each.has_missing else 0
        flags = bin_numbers(
            values, each.edges, not each.whole, each.column.scale == "log", np.array(each.specials), missing, codes
        )
        if flags & MISSING and not each.has_missing:
            raise self._no_missing(each)
        if flags & OUT_OF_RANGE and each.column.out_of_domain == "error":
            raise self._fail(
                each,
                'holds a value outside min and max, and the schema says out_of_domain = "error"',
                'Widen the bounds, or set out_of_domain = "clip".',
            )
        return codes

    def _no_missing(self, each: Levels) -> DataError:
        return self._fail(
            each, "has missing values, and the schema says missing = false", "Set missing = true, or fill them."
        )

    def _names(self, array: pa.Array, each: Levels) -> NDArray[np.uint16]:
        if pa.types.is_boolean(array.type) and isinstance(each.column, Boolean):
            found = array.cast(pa.int8()).fill_null(self._missing_code(each)).to_numpy().astype(np.int64)
        elif isinstance(array, pa.DictionaryArray):
            # Look each distinct value up once. A null index is missing; so is an index that points at a null.
            table = self._lookup(array.dictionary, each)
            if array.indices.null_count == 0 and (table >= 0).all():
                return table.astype(np.uint16)[array.indices.to_numpy()]
            found = np.full(len(array), self._missing_code(each), dtype=np.int64)
            valid = array.indices.is_valid().to_numpy(zero_copy_only=False)
            found[valid] = table[array.indices.drop_null().to_numpy(zero_copy_only=False)]
        else:
            found = self._lookup(array, each)
        if (found == _NO_MISSING).any():
            raise self._no_missing(each)
        if (found == _NO_OTHER).any():
            rule = (
                "is boolean"
                if isinstance(each.column, Boolean)
                else 'lists its categories with out_of_domain = "error"'
            )
            remedy = (
                "Booleans are true/false, t/f, yes/no, y/n or 1/0."
                if isinstance(each.column, Boolean)
                else 'Add the category to the schema, or set out_of_domain = "other".'
            )
            raise self._fail(each, f"holds a value that is not one of its categories, and the schema {rule}", remedy)
        return found.astype(np.uint16)

    def _missing_code(self, each: Levels) -> int:
        if each.has_missing:
            return each.missing
        # Among whole numbers there is no room for a label: synthetic rows write an unlisted value as a gap.
        whole = not isinstance(each.column, Boolean) and isinstance(each.categories[0], int)
        return each.other if whole and each.has_other else _NO_MISSING

    def _lookup(self, array: pa.Array, each: Levels) -> NDArray[np.int64]:
        texts, known = _texts(array, each)
        values = pa.array(list(known), type=texts.type)
        index = pc.index_in(texts, value_set=values)
        found = np.array(list(known.values()), dtype=np.int64)[index.fill_null(0).to_numpy(zero_copy_only=False)]
        other = each.other if each.has_other else _NO_OTHER
        found = np.where(index.is_valid().to_numpy(zero_copy_only=False), found, other)
        found = np.where(found == _MISSING_TEXT, self._missing_code(each), found)
        return np.where(texts.is_valid().to_numpy(zero_copy_only=False), found, self._missing_code(each))


_NO_MISSING, _NO_OTHER, _MISSING_TEXT = -1, -2, -3


def _texts(array: pa.Array, each: Levels) -> tuple[pa.Array, dict[Any, int]]:
    """A column of names in a form that can be looked up, and the level of every value that is known."""
    whole = not isinstance(each.column, Boolean) and isinstance(each.categories[0], int)
    if whole:
        return _whole_numbers(array), {float(c): i for i, c in enumerate(each.categories)}
    texts = as_texts(array)
    if isinstance(each.column, Boolean):
        known: dict[Any, int] = dict(_BOOLEANS)
        texts = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
        missing_texts = {text.lower() for text in MISSING_TEXTS}
    else:
        known = {str(c): i for i, c in enumerate(each.categories)}
        missing_texts = set(MISSING_TEXTS)
    for text in missing_texts:
        known.setdefault(text, _MISSING_TEXT)
    return texts, known


def _whole_numbers(array: pa.Array) -> pa.Array:
    """Categories that are numbers, however they are written: frames and files turn 1 into 1.0 when there are gaps."""
    if is_text(array.type):
        coded = without_missing_texts(array).dictionary_encode()
        values = [
            float(text) if re.fullmatch(r"[+-]?\d+(\.0*)?", text) else math.inf for text in coded.dictionary.to_pylist()
        ]
        found = pc.take(pa.array(values, pa.float64()), coded.indices)
    else:
        found = pc.cast(array, pa.float64(), safe=False)
        found = pc.if_else(pc.is_nan(found), None, found)
    return pc.add(found, 0.0)  # minus zero becomes zero


def numbers(array: pa.Array, each: Levels) -> NDArray[Any]:
    """A numeric column as numbers, NaN where missing; datetimes as days or seconds since 1970."""
    if isinstance(array, pa.DictionaryArray):
        array = array.dictionary_decode()
    if pa.types.is_null(array.type):  # a column without values, in a frame that knows no better
        array = array.cast(pa.float64())
    elif isinstance(each.column, Datetime):
        array = _ticks(array, each.column)
    elif is_text(array.type):
        array = pc.cast(without_missing_texts(array), pa.float64())
    elif not pa.types.is_integer(array.type) and not pa.types.is_floating(array.type):
        array = pc.cast(array, pa.float64())
    if pa.types.is_float16(array.type):
        array = pc.cast(array, pa.float32())
    return array.to_numpy(zero_copy_only=False)


def _ticks(array: pa.Array, column: Datetime) -> pa.Array:
    """Whole days or seconds since 1970, rounded down, also before 1970."""
    if is_text(array.type):
        array = _moments(without_missing_texts(array), column.format)
    if pa.types.is_date32(array.type) and column.resolution == "day":
        return array.cast(pa.int32())
    if pa.types.is_date(array.type):
        array = array.cast(pa.timestamp("s"))
    if not pa.types.is_timestamp(array.type):
        raise TypeError("not a date")
    per_tick = _PER_SECOND[array.type.unit] * (_SECONDS_PER_DAY if column.resolution == "day" else 1)
    counted = array.cast(pa.int64())
    quotient = pc.divide(counted, per_tick)
    below = pc.less(counted, pc.multiply(quotient, per_tick))  # division rounds towards zero
    return pc.subtract(quotient, pc.cast(below, pa.int64()))


_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_ZONED = r":\d{2}(\.\d+)?(Z|[+-]\d{2}(:?\d{2})?)$"


def _moments(texts: pa.Array, form: str | None) -> pa.Array:
    """Texts as times in UTC: in the column's own format, in ISO 8601, or in ISO 8601 with a zone."""
    kind = pa.timestamp("us")
    found = pa.nulls(len(texts), kind)
    if form is not None:
        found = datetime_texts.read(DatetimeFormat(form), texts)
        texts = pc.if_else(pc.is_valid(found), None, texts)
    zoned = pc.fill_null(pc.match_substring_regex(texts, _ZONED), False)
    utc = pc.cast(pc.if_else(zoned, texts, None), pa.timestamp("us", "UTC")).cast(kind)
    plain = pc.cast(pc.if_else(zoned, None, texts), kind)
    return pc.coalesce(found, utc, plain)


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


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def without_missing_texts(array: pa.Array) -> pa.Array:
    """Texts, trimmed, with null for every text that stands for a missing value."""
    texts = pc.utf8_trim_whitespace(as_texts(array))
    return pc.if_else(pc.is_in(texts, value_set=pa.array(MISSING_TEXTS)), None, texts)
