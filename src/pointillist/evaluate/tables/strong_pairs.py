"""Strong pairs: those columns that hang together most, in the real table or in the synthetic one, and what is kept of it.

Of a pair's dependence that part is kept by which the synthetic table of the two is nearer to the real one than
independent columns are, once both columns by themselves are right (else their errors would count twice).
"""

from dataclasses import dataclass

import numpy as np

from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.tables.metrics.marginals import by_chance

SHOWN = 10
"""The strongest pairs on the page, always."""
STRONG = 0.2
"""Pairs below this coefficient, in both tables, are no strong ones: they are shown, and not graded."""
_LEAST_ROOM = 0.05
"""Where independent columns come as near as this, there is nothing to keep."""
_RAKED = 30


@dataclass(frozen=True)
class StrongPair:
    """One pair: how strongly its columns hang together, and how much of that is kept."""

    columns: tuple[str, str]
    real: float
    """The information coefficient among the real rows."""
    synthetic: float
    kept: float | None
    """From 0 (as independent columns) to 1 (as a second real sample); None where there is too little to keep."""

    @property
    def strength(self) -> float:
        """In the table in which it is the stronger: dependence that is made up is as wrong as dependence that is lost."""
        return max(self.real, self.synthetic)

    @property
    def name(self) -> str:
        return " × ".join(self.columns)

    def to_json(self) -> dict[str, object]:
        return {**vars(self), "columns": list(self.columns)}


def kept(real: Floats, synthetic: Floats) -> float | None:
    """What two-way tables of counts have in common beyond their margins."""
    rows, others = float(real.sum()), float(synthetic.sum())
    if min(rows, others) <= 0:
        return None
    truth, made = real / rows, synthetic / others
    room = max(_gap(table, _product(table)) for table in (truth, made))
    chance = by_chance((real + synthetic).ravel(), int(rows), int(others))
    if room < max(_LEAST_ROOM, chance):
        return None
    gap = _gap(truth, _raked(made, truth))
    return float(min(1.0, max(0.0, 1 - (gap - chance) / room)))


def _product(table: Floats) -> Floats:
    return np.outer(table.sum(axis=1), table.sum(axis=0))


def _gap(first: Floats, second: Floats) -> float:
    return float(np.abs(first - second).sum()) / 2


def _raked(table: Floats, wanted: Floats) -> Floats:
    """A table with the margins of another, and its own dependence. What it has no rows of, it cannot have."""
    for _ in range(_RAKED):
        for axis in (1, 0):
            found, aim = table.sum(axis=axis, keepdims=True), wanted.sum(axis=axis, keepdims=True)
            table = table * np.divide(aim, found, out=np.zeros_like(aim), where=found > 0)
    return table
