"""Design matrices: a sample as the numbers that scikit-learn's models take."""

import numpy as np

from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.tables.sample import Sample
from pointillist.schema.levels import Levels

_MOST_WIDE = 509
"""A column of more categories than this shares coordinates among them (feature hashing): 60,000 would fill the memory."""


def wide(sample: Sample, columns: tuple[str, ...]) -> Floats:
    """For linear and distance-based models: categories one-hot, numbers and ranks in [0, 1] with indicators for atoms."""
    return np.concatenate([_wide(sample, sample.level(name)) for name in columns], axis=1)


def narrow(sample: Sample, columns: tuple[str, ...]) -> Floats:
    """For trees: one number for each column, a value or a level number; missing numbers are NaN."""
    return np.stack([_narrow(sample, sample.level(name)) for name in columns], axis=1)


def gapless(sample: Sample, columns: tuple[str, ...]) -> Floats:
    """`narrow` for trees that take no gaps, or not in all rows: a missing number lies far below all others."""
    return np.nan_to_num(narrow(sample, columns), nan=-1e30)


def scales(sample: Sample, columns: tuple[str, ...]) -> Floats:
    """Factors for the columns of `wide` that give every column of the table the same total variance, 1.

    Without them a column of many categories, which has many coordinates, would weigh the most.
    """
    blocks = [wide(sample, (name,)) for name in columns]
    return np.concatenate([np.full(b.shape[1], max(1e-9, float(b.var(axis=0).sum())) ** -0.5) for b in blocks])


def _narrow(sample: Sample, each: Levels) -> Floats:
    if each.numeric:
        return sample.values(each.name)
    return sample.codes(each.name).astype(np.float64)


def _wide(sample: Sample, each: Levels) -> Floats:
    codes = sample.codes(each.name)
    if each.numeric:
        place = np.where(codes < each.regular, sample.records.units[each.name], 0.0)
    elif each.ordered:
        place = np.where(codes < each.regular, codes / max(1, each.regular - 1), 0.0)
    else:
        return np.eye(min(each.size, _MOST_WIDE))[codes % _MOST_WIDE]
    atoms = np.eye(each.size - each.regular + 1)[np.maximum(codes - each.regular + 1, 0)][:, 1:]
    return np.concatenate([place[:, None], atoms], axis=1)
