"""Scores: a column seen as -1, 0 or 1, and products of such scores. One number tells how two columns go together.

A sum of products over all records is a whole number, known exactly. It costs as much as one cell of a table, and it holds
what a table spreads over all its cells: so products of scores show which columns depend on each other at little cost.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numba
import numpy as np
from numpy.typing import NDArray

from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.domain import Domain
from pointillist.features.indicator import MOST_LEVELS, Tiles
from pointillist.features.lookup import require_levels
from pointillist.features.products import Products
from pointillist.files.facts import text, wholes
from pointillist.records import Records

if TYPE_CHECKING:
    from torch import Tensor

    from pointillist.features.soft_records import SoftColumn, SoftRecords

MOST_FACTORS = 4
"""The most scores in one product."""


@MAPS.register("score")
@dataclass(frozen=True)
class Score(FeatureMap):
    """-1, 0 or 1 for each level of a column."""

    column: str
    signs: tuple[int, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.signs) <= MOST_LEVELS:
            raise ValueError(f"a column has from 1 to {MOST_LEVELS:,} levels")
        if not set(self.signs) <= {-1, 0, 1}:
            raise ValueError("a score is -1, 0 or 1")

    @cached_property
    def table(self) -> NDArray[np.int8]:
        """`signs` as an array to look levels up in."""
        return np.asarray(self.signs, dtype=np.int8)

    @property
    def dimension(self) -> int:
        return 1

    @property
    def bound(self) -> float:
        return 1.0

    @cached_property
    def nonnegative(self) -> bool:
        return min(self.signs) >= 0

    @property
    def parts(self) -> tuple[FeatureMap, ...]:
        return ()

    @property
    def code_columns(self) -> frozenset[str]:
        return frozenset([self.column])

    @property
    def most_ones(self) -> int | None:
        return 1

    def fits(self, domain: Domain) -> bool:
        return domain.sizes.get(self.column) == len(self.signs)

    def totals(self, records: Records) -> NDArray[np.int64]:
        return np.array([self.table[records.codes[self.column]].sum(dtype=np.int64)])

    def __call__(self, records: Records) -> Floats:
        return self.table[records.codes[self.column]].astype(np.float64)[:, None]

    def expectation(self, products: Products) -> Floats:
        return products.probabilities[self.column] @ self.table.astype(np.float64)[:, None]

    def soft(self, records: "SoftRecords") -> "Tensor":
        return records.probabilities[self.column] @ records.columns[self.column].matrix(self)

    @cached_property
    def tiling(self) -> Tiles:
        """The levels of one sign as a tile."""
        numbers: dict[int, int] = {}
        return Tiles(self.column, tuple(numbers.setdefault(sign, len(numbers)) for sign in self.signs))

    def soft_levels(self, column: "SoftColumn") -> Floats:
        assert column.tiles is not None
        tiles = column.tiles.table
        return (np.bincount(tiles, weights=self.table) / np.bincount(tiles))[:, None]

    @property
    def levels_held(self) -> int:
        return len(self.signs)

    def describe(self) -> dict[str, Any]:
        return {"column": self.column, "signs": list(self.signs)}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        return cls(text(facts, "column"), wholes(facts, "signs", -1, 1))


@MAPS.register("score-products")
@dataclass(frozen=True)
class ScoreProducts(FeatureMap):
    """Products of scores of different columns, one feature for each group of them."""

    scores: tuple[Score, ...]
    groups: tuple[tuple[int, ...], ...]
    """For every feature the numbers of the scores that it multiplies, as many in each group."""

    def __post_init__(self) -> None:
        if not self.groups or not 1 <= len(self.groups[0]) <= MOST_FACTORS:
            raise ValueError(f"a product has from 1 to {MOST_FACTORS} scores")
        numbers = {number for group in self.groups for number in group}
        if {len(group) for group in self.groups} != {len(self.groups[0])} or not numbers <= set(
            range(len(self.scores))
        ):
            raise ValueError("groups must be of one size, and of scores that there are")
        columns = [score.column for score in self.scores]
        if any(len({columns[number] for number in group}) < len(group) for group in self.groups):
            raise ValueError("the scores of a product must be of different columns")

    @cached_property
    def table(self) -> NDArray[np.int32]:
        """`groups` as an array, features x scores."""
        return np.asarray(self.groups, dtype=np.int32)

    @property
    def dimension(self) -> int:
        return len(self.groups)

    @property
    def bound(self) -> float:
        return math.sqrt(len(self.groups))

    @cached_property
    def nonnegative(self) -> bool:
        return all(score.nonnegative for score in self.scores)

    @property
    def parts(self) -> tuple[FeatureMap, ...]:
        return self.scores

    @property
    def most_ones(self) -> int | None:
        return len(self.groups)

    def totals(self, records: Records) -> NDArray[np.int64]:
        size = -(-records.rows // _WORD)
        present, negative = (np.zeros((len(self.scores), size), dtype=np.uint64) for _ in range(2))
        for number, score in enumerate(self.scores):
            require_levels(score.table, records.codes[score.column])
            _pack(score.table, records.codes[score.column], present[number], negative[number])
        found = np.zeros(len(self.groups), dtype=np.int64)
        _add_products(present, negative, self.table, found)
        return found

    def __call__(self, records: Records) -> Floats:
        return self._multiplied(np.concatenate([score(records) for score in self.scores], axis=1))

    def expectation(self, products: Products) -> Floats:
        return self._multiplied(np.concatenate([score.expectation(products) for score in self.scores], axis=1))

    def soft(self, records: "SoftRecords") -> "Tensor":
        import torch

        values = torch.cat([score.soft(records) for score in self.scores], dim=1)
        found = values[:, self.table[:, 0].astype(np.int64)]
        for place in range(1, self.table.shape[1]):
            found = found * values[:, self.table[:, place].astype(np.int64)]
        return found

    def _multiplied(self, values: Floats) -> Floats:
        found = values[:, self.table[:, 0]]
        for place in range(1, self.table.shape[1]):
            found = found * values[:, self.table[:, place]]
        return found

    def describe(self) -> dict[str, Any]:
        return {"groups": self.table}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        groups = facts["groups"]
        if not isinstance(groups, np.ndarray) or groups.dtype != np.int32 or groups.ndim != 2:
            raise ValueError("groups must be a table of whole numbers")
        scores = tuple(part for part in parts if isinstance(part, Score))
        if len(scores) != len(parts):
            raise ValueError("products of what are no scores")
        return cls(scores, tuple(tuple(row) for row in groups.tolist()))


_WORD = 64
"""Records whose scores stand in one word: a bit of each for whether it is not 0, and one for whether it is below."""
_CHUNK = 256
"""Words at a time: they stay in the nearest cache while all products are formed."""


@numba.extending.intrinsic  # type: ignore[untyped-decorator]
def _ones(typing: Any, word: Any) -> Any:
    """How many bits of a word are 1: one instruction of the processor, which numba has no name for."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return numba.types.uint64(numba.types.uint64), generate


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _pack(
    signs: NDArray[np.int8], codes: NDArray[np.uint16], present: NDArray[np.uint64], negative: NDArray[np.uint64]
) -> None:
    """A record's score, by the signs of its levels, as one bit of each."""
    rows = len(codes)
    for word in range(len(present)):
        some, below = np.uint64(0), np.uint64(0)
        for bit in range(min(_WORD, rows - word * _WORD)):
            sign = signs[codes[word * _WORD + bit]]
            some |= np.uint64(sign & 1) << np.uint64(bit)
            below |= np.uint64((sign >> 1) & 1) << np.uint64(bit)
        present[word], negative[word] = some, below


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _add_products(
    present: NDArray[np.uint64], negative: NDArray[np.uint64], groups: NDArray[np.int32], totals: NDArray[np.int64]
) -> None:
    """Add the products of each group over all records: 1 where all scores are there, -1 where an odd number is below 0."""
    words, order = present.shape[1], groups.shape[1]
    for start in range(0, words, _CHUNK):
        end = min(start + _CHUNK, words)
        for number in range(len(groups)):
            total = np.int64(0)
            for word in range(start, end):
                some, below = present[groups[number, 0], word], negative[groups[number, 0], word]
                for place in range(1, order):
                    some &= present[groups[number, place], word]
                    below ^= negative[groups[number, place], word]
                total += np.int64(_ones(some)) - 2 * np.int64(_ones(some & below))
            totals[number] += total
