"""Outside: values that a schema has no place for. Numbers beyond the bounds, and categories that are not listed.

The schema reads them as the nearest bound, as "other" or as missing. Whoever judges a synthetic table must know what they
were: else real rows are cut to the schema's measure before they are compared, and every schema looks right.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.evaluate.arrays import Floats
from pointillist.reading.arrow_types import without_runs
from pointillist.records import Records
from pointillist.schema.levels import Levels
from pointillist.schema.texts import as_texts, without_missing_texts

Outside = Mapping[str, NDArray[Any]]
"""By column, of those that have any: the values outside, row by row. Rows inside have NaN (numbers) or None (texts)."""
_FARTHEST = {"a date": (-6.2e10, 2.53e11), "a length of time": (-1e13, 1e13)}
"""In seconds: no calendar and no clock shows more."""
_LARGEST = 1e100
"""Squares of larger numbers are no numbers."""


def outside(batch: pa.RecordBatch, records: Records, levels: Iterable[Levels]) -> dict[str, NDArray[Any]]:
    """Of a batch, as it came and as it was read. Only rows whose level says that they may be outside are looked at."""
    found = {}
    for each in levels:
        codes = records.codes[each.name]
        if each.numeric:
            some = (codes == 0) | (codes == each.regular - 1)
        elif each.has_other:
            some = codes == each.other
        else:
            continue
        if some.any():
            array = without_runs(batch.column(each.name)).filter(pa.array(some))
            values = _numbers(each, array) if each.numeric else _texts(each, array)
            if values is not None:
                found[each.name] = _nothing(len(codes), values.dtype)
                found[each.name][some] = values
    return found


def one_after_the_other(parts: Iterable[tuple[int, Outside]]) -> dict[str, NDArray[Any]]:
    """What is outside in tables that become one; each comes with its rows."""
    parts = list(parts)
    kinds = {name: values.dtype for _, found in parts for name, values in found.items()}
    return {
        name: np.concatenate([found.get(name, _nothing(rows, kind)) for rows, found in parts])
        for name, kind in kinds.items()
    }


def _nothing(rows: int, kind: Any) -> NDArray[Any]:
    return np.full(rows, None if kind == np.dtype(object) else np.nan, dtype=kind)


def _numbers(level: Levels, array: pa.Array) -> Floats | None:
    """Numbers beyond the bounds, NaN for others; none if no row has one."""
    values = level.column.from_arrow(array).astype(np.float64)
    low, high = level.edges[0], level.edges[-1]
    beyond = (values < low) | ((values >= high) if level.whole else (values > high))
    if not beyond.any():
        return None
    least, most = (end / level.column.tick for end in _FARTHEST.get(level.column.compared_as, (-_LARGEST, _LARGEST)))
    kept = np.where(np.isinf(values), values, np.clip(values, least, most))
    return np.where(beyond, np.floor(kept) if level.whole else kept, np.nan)


def _texts(level: Levels, array: pa.Array) -> NDArray[Any] | None:
    """Unlisted values as texts, None for others. What is called like all unlisted ones together loses nothing."""
    if isinstance(array, pa.DictionaryArray):
        array = array.dictionary_decode()
    texts = without_missing_texts(array) if level.column.whole else as_texts(array)
    coded = texts.dictionary_encode()
    names = [None if name == level.column.other_label else name for name in coded.dictionary.to_pylist()]
    found = np.array([*names, None], dtype=object)[coded.indices.fill_null(len(names)).to_numpy(zero_copy_only=False)]
    return found if any(name is not None for name in names) else None
