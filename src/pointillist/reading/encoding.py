"""Encoding: from record batches, as they come from a file or frame, to level numbers and positions in [0, 1].

Every rule that decides about a row looks at that row alone, so one person's rows never change how another's are read.
Whatever the rows hold, level numbers stay within the column's levels: the bound on the features does not depend on
well-behaved input. Messages name the column and the rule, never a value and never how many.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.errors import DataError
from pointillist.features import FeatureMap, Records
from pointillist.reading.arrow_types import odd_family, without_runs
from pointillist.reading.binning import MISSING, OUT_OF_RANGE, bin_numbers
from pointillist.reading.image_decoding import decode
from pointillist.schema import Image, Schema
from pointillist.schema.kinds import choice
from pointillist.schema.levels import Levels, levels_of
from pointillist.schema.scale import CODES


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
                values = self._guarded(each, each.column.from_arrow, array)
                levels = self._bins(each, values)  # checks the column's rules, also where only positions are asked for
                if each.name in self._code_columns:
                    codes[each.name] = levels
                if each.name in self._unit_columns:
                    units[each.name] = each.to_unit(values.astype(np.float64))
            else:
                codes[each.name] = self._guarded(each, partial(self._choices, each), array)
        images = {
            name: decode(batch.column(name), column, f"{self._origin}: column {name!r}")
            for name, column in self._images.items()
        }
        return Records(batch.num_rows, codes, units, images)

    def _plain(self, each: Levels, array: pa.Array) -> pa.Array:
        """Refuse what is not one value a row: no rule of the schema could say what it stands for."""
        found = odd_family(array.type)
        if found is not None and found not in each.column.also_reads:
            raise self._fail(
                each,
                f"is stored as {found}, and {each.column.kind} columns need {each.column.needs}",
                'Store it so, or set its kind to "ignore".',
            )
        return without_runs(array)

    def _guarded(self, each: Levels, read: Callable[[pa.Array], Any], array: pa.Array) -> Any:
        """Arrow's own messages quote the value that they stumble over: replace them."""
        try:
            return read(array)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            raise DataError(
                f"{self._origin}: column {each.name!r} holds a value that cannot be read as {each.column.kind}. "
                f"Correct the data, or change the column's {each.column.mend} in the schema."
            ) from None

    def _fail(self, each: Levels, found: str, remedy: str) -> DataError:
        return DataError(f"{self._origin}: column {each.name!r} {found}. {remedy}")

    def _bins(self, each: Levels, values: NDArray[Any]) -> NDArray[np.uint16]:
        codes = np.empty(len(values), dtype=np.uint16)
        missing = each.missing if each.has_missing else 0
        curve = each.column.curve
        flags = bin_numbers(
            values, each.edges, not each.whole, CODES[curve.name], curve.width, np.array(each.specials), missing, codes
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

    def _choices(self, each: Levels, array: pa.Array) -> NDArray[np.uint16]:
        if not isinstance(array, pa.DictionaryArray):
            return self._checked(each, self._levels_of(each, array))
        # Look each distinct value up once. A null index is missing; so is an index that points at a null.
        table = self._levels_of(each, array.dictionary)
        if array.indices.null_count == 0 and (table >= 0).all():
            return table.astype(np.uint16)[array.indices.to_numpy()]
        found = np.full(len(array), choice.MISSING if each.gap is None else each.gap, dtype=np.int64)
        valid = array.indices.is_valid().to_numpy(zero_copy_only=False)
        found[valid] = table[array.indices.drop_null().to_numpy(zero_copy_only=False)]
        return self._checked(each, found)

    def _levels_of(self, each: Levels, array: pa.Array) -> NDArray[np.int64]:
        """The level of every value; below 0 where the schema has none for it."""
        found = each.column.from_arrow(array)
        if each.has_other:
            found = np.where(found == choice.UNLISTED, each.other, found)
        return found if each.gap is None else np.where(found == choice.MISSING, each.gap, found)

    def _checked(self, each: Levels, found: NDArray[np.int64]) -> NDArray[np.uint16]:
        if (found == choice.MISSING).any():
            raise self._no_missing(each)
        if (found == choice.UNLISTED).any():
            raise self._fail(
                each,
                f"holds a value that is not one of its categories, and the schema {each.column.unlisted_rule}",
                each.column.unlisted_remedy,
            )
        return found.astype(np.uint16)
