"""Closeness: how near synthetic rows come to the real ones, in total variation over one and two columns.

Computed from private rows, so for the owner's eyes only: these figures are exact and not differentially private.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.curator.encoding import Encoder
from pointillist.curator.reading import open_source
from pointillist.errors import without_context
from pointillist.levels import Levels, levels_of
from pointillist.schema import Schema

Codes = dict[str, NDArray[np.int64]]

_BINS = 16


@dataclass(frozen=True)
class Closeness:
    """Total variation distances, from 0 (the same) to 1 (nothing in common)."""

    columns: dict[str, float]
    """By column."""
    pairs: float
    """Mean over all pairs of columns."""
    pairs_independent: float
    """The same for real columns shuffled independently: what a method that ignores dependence can reach at best."""
    pairs_sampling: float
    """The same for two random halves of the real rows: what chance alone makes of two samples of half the size."""

    def to_json(self) -> dict[str, Any]:
        return {
            "columns": self.columns,
            "pairs": self.pairs,
            "pairs_independent": self.pairs_independent,
            "pairs_sampling": self.pairs_sampling,
        }


@without_context
def closeness(real: Any, synthetic: Any, schema: Schema, *, seed: int = 0) -> Closeness:
    """Compare two tables over the schema's levels, numbers in 16 bins and every atom by itself."""
    levels = levels_of(schema)
    truth, made = _codes(real, schema, levels), _codes(synthetic, schema, levels)
    generator = np.random.default_rng(seed)
    shuffled = {name: generator.permutation(codes) for name, codes in truth.items()}
    order = generator.permutation(len(next(iter(truth.values()))))
    half = len(order) // 2
    first = {name: codes[order[:half]] for name, codes in truth.items()}
    second = {name: codes[order[half:]] for name, codes in truth.items()}
    return Closeness(
        columns={each.name: distance(truth[each.name], made[each.name]) for each in levels},
        pairs=_pairs(truth, made),
        pairs_independent=_pairs(truth, shuffled),
        pairs_sampling=_pairs(first, second),
    )


def distance(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Total variation distance between two samples of cell numbers."""
    size = int(max(first.max(initial=0), second.max(initial=0))) + 1
    gap = np.bincount(first, minlength=size) / max(1, len(first))
    gap = gap - np.bincount(second, minlength=size) / max(1, len(second))
    return float(0.5 * np.abs(gap).sum())


def _pairs(first: Codes, second: Codes) -> float:
    distances = []
    for a, b in combinations(first, 2):
        size = int(max(first[b].max(initial=0), second[b].max(initial=0))) + 1
        distances.append(distance(first[a] * size + first[b], second[a] * size + second[b]))
    return float(np.mean(distances)) if distances else 0.0


def _codes(table: Any, schema: Schema, levels: tuple[Levels, ...]) -> Codes:
    source = open_source(table)
    encoder = Encoder(levels, frozenset(schema.measured), frozenset(), source.name)
    batches = [encoder(batch).codes for batch in source.batches(encoder.columns, schema, _silent)]
    coarse = {each.name: _coarse(each) for each in levels}
    return {
        name: np.concatenate([coarse[name][batch[name]] for batch in batches] or [np.zeros(0, dtype=np.int64)])
        for name in encoder.columns
    }


def _coarse(levels: Levels) -> NDArray[np.int64]:
    """A coarser number for each level: bins are joined to 16, all else stays."""
    if not levels.numeric or levels.regular <= _BINS:
        return np.arange(levels.size)
    regular = np.arange(levels.regular) * _BINS // levels.regular
    return np.concatenate([regular, _BINS + np.arange(levels.size - levels.regular)])


_silent: Callable[[float], None] = lambda fraction: None  # noqa: E731
