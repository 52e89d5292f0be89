"""Cells: the groups in which a column's values are counted and compared, numbered from 0.

Categories, special values and gaps each count as they are. So does every value of a number that has few; the values of
other numbers stand in parts of equal mass. Which parts, the real rows say, and not the schema: bounds that are too wide
must not hide what is inside them. What lies between or beyond all real values has cells of its own.
"""

from dataclasses import dataclass

import numpy as np

from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.tables.sample import Sample

FEW = ((64, 10), (256, 100))
"""A number with no more values than this is compared value by value, if the real rows have each so often on average."""
PARTS = 32
"""Other numbers are compared in at most this many parts of equal mass."""
ROWS_A_PART = 60
"""A part should hold about so many rows of either table: with fewer, chance shows more than the data do."""
_MOST_CATEGORIES = 300
"""Of more categories than this, the rarest count as one where pairs are compared."""
Few = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """One column's cells, with the cell of every row of either table."""

    size: int
    real: Codes
    synthetic: Codes
    by_value: bool
    """Whether each real value has a cell of its own."""


def cells(
    real: Sample, synthetic: Sample, name: str, *, few: Few = FEW, parts: int = PARTS, rows: int = ROWS_A_PART
) -> Cells:
    """The cells of a column for comparing it alone; a part holds about `rows` rows or more."""
    level = real.level(name)
    if not level.numeric:
        return Cells(level.size, real.codes(name), synthetic.codes(name), True)
    return number_cells((real.as_is(name), synthetic.as_is(name)), few=few, parts=parts, rows=rows)


def number_cells(
    values: tuple[Floats, Floats], *, few: Few = FEW, parts: int = PARTS, rows: int = ROWS_A_PART
) -> Cells:
    """The cells of numbers, real and synthetic; NaN stands for a gap."""
    known = values[0][~np.isnan(values[0])]
    distinct = np.unique(known)
    by_value = any(len(distinct) <= most and len(distinct) * often <= max(len(known), 1) for most, often in few)
    if by_value or not len(known):
        edges = np.sort(np.concatenate([distinct, np.nextafter(distinct, np.inf)]))
    else:
        room = min(len(known), int(np.count_nonzero(~np.isnan(values[1])))) // rows
        edges = _edges(known, min(parts, max(4, room)))
    first, second = (_placed(each, edges) for each in values)
    return Cells(len(edges) + 2, first, second, by_value)


def tiles(real: Sample, synthetic: Sample, name: str, parts: int) -> Cells:
    """The cells of a column for comparing pairs: coarser, so that two of them together still hold enough rows."""
    level = real.level(name)
    if level.numeric:
        return cells(real, synthetic, name, few=((parts, FEW[0][1]),), parts=parts)
    if level.size <= _MOST_CATEGORIES:
        return cells(real, synthetic, name)
    found = np.bincount(real.codes(name), minlength=level.size)
    rank = np.minimum(np.argsort(np.argsort(-found, kind="stable"), kind="stable"), _MOST_CATEGORIES - 1)
    return Cells(_MOST_CATEGORIES, rank[real.codes(name)], rank[synthetic.codes(name)], False)


def _edges(known: Floats, parts: int) -> Floats:
    """Parts of equal mass; a value that fills a part stands alone. The ends are those of the values."""
    inner = np.quantile(known, np.arange(1, parts) / parts, method="inverted_cdf")
    edges, often = np.unique(inner, return_counts=True)
    alone = edges[often > 1]
    ends = known.min(), np.nextafter(known.max(), np.inf)
    return np.unique(np.concatenate([ends, edges, np.nextafter(alone, np.inf)]))


def _placed(values: Floats, edges: Floats) -> Codes:
    """Cell 0 lies below all edges, the last but one above; the last is for gaps."""
    return np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values, side="right")).astype(np.int64)
