"""Points: weighted rows. The lightest generator there is: what a receiver gets is the generator itself.

After Balog et al. (2018): rows that nobody's record went into, or that were public before, with weights under which they
stand in for the private table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.features import Records
from pointillist.files.facts import texts
from pointillist.generators import stored
from pointillist.generators.drawing import quota
from pointillist.schema import Schema
from pointillist.schema.level_values import placed, to_arrow
from pointillist.schema.levels import Levels, levels_of

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """Rows with a weight each."""

    kind: ClassVar[str] = "points"

    records: Records
    """Level numbers of every column, and positions in [0, 1] of every numeric one."""
    weights: Floats
    """They add up to about 1. Some may be below 0: then the points answer questions, but cannot be sampled from."""

    def __post_init__(self) -> None:
        if self.weights.shape != (self.records.rows,) or not np.isfinite(self.weights).all():
            raise ValueError("points need one finite weight each")

    @property
    def signed(self) -> bool:
        """Whether some weights are below 0."""
        return bool((self.weights < 0).any())

    def describe(self) -> str:
        return f"{self.records.rows} weighted points"

    def table(self, levels: tuple[Levels, ...]) -> pa.Table:
        """The rows themselves, in the order of their weights' array."""
        found = {}
        for each in levels:
            codes = self.records.codes[each.name]
            numbers = placed(each, codes, self.records.units[each.name]) if each.numeric else None
            found[each.name] = to_arrow(each, codes, numbers)
        return pa.table(found)

    def sample(self, count: int, rng: np.random.Generator) -> Records:
        """Levels of `count` rows: every point as often as its weight says, to within one."""
        if self.signed:
            raise UsageError(
                "some points have weights below 0, so rows cannot be drawn from them. Use the weighted points themselves, "
                'or fit again with weights = "probabilities".'
            )
        rows = rng.permutation(quota(self.weights, count, rng))
        return Records(count, {name: codes[rows] for name, codes in self.records.codes.items()}, {})

    def given(self, inside: Mapping[str, Floats]) -> tuple[float, Self]:
        """The weight of the points that meet a condition, and those points; `inside` as in `Conditional`."""
        weights = self.weights.copy()
        for name, shares in inside.items():
            weights *= shares[self.records.codes[name]]
        total = float(weights.sum())
        if not total > 0:
            return 0.0, self
        return total / float(self.weights.sum()), replace(self, weights=weights / total)

    def to_facts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The points as JSON values and arrays."""
        arrays: dict[str, NDArray[Any]] = {"weights": self.weights}
        arrays |= {f"{place}.codes": codes for place, codes in enumerate(self.records.codes.values())}
        arrays |= {f"{place}.units": units for place, units in enumerate(self.records.units.values())}
        return {"columns": list(self.records.codes), "numbers": list(self.records.units)}, arrays

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]], schema: Schema) -> Self:
        """The inverse of `to_facts`."""
        weights = stored.floats(arrays, "weights", 1)
        codes = {name: arrays[f"{place}.codes"] for place, name in enumerate(texts(facts, "columns"))}
        units = {name: stored.floats(arrays, f"{place}.units", 1) for place, name in enumerate(texts(facts, "numbers"))}
        columns: list[NDArray[Any]] = [*codes.values(), *units.values()]
        if any(values.shape != weights.shape for values in columns):
            raise ValueError("the points' columns do not fit together")
        if any(values.dtype != np.uint16 for values in codes.values()):
            raise ValueError("levels must be whole numbers of 16 bits")
        if not all(((values >= 0) & (values <= 1)).all() for values in units.values()):
            raise ValueError("positions must lie in [0, 1]")
        if not (weights.size and np.abs(weights).sum() < np.inf):
            raise ValueError("points need weights")
        if not (weights < 0).any():
            stored.weights(weights)
        return cls(Records(len(weights), codes, units), weights)

    def fits(self, schema: Schema) -> bool:
        if schema.image is not None:
            return False
        levels = levels_of(schema)
        codes, units = self.records.codes, self.records.units
        numbers = {each.name for each in levels if each.numeric}
        known = stored.same_columns(codes, levels) and units.keys() == numbers
        return known and all(int(codes[each.name].max()) < each.size for each in levels)
