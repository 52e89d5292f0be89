"""Trends: how the ordered columns of a sample rise and fall together, beyond what tiles and components say of it.

A table of two columns has hundreds of cells, and the noise in each hides most of what it shows. One number of it stands out
even so: the correlation of the two columns' normal scores. Trends bring it into a sample in two steps. Rows of the same
component exchange tiles by Metropolis' rule, so that scores agree as much as they should; within a component no column
changes. And inside their tiles values are placed as normal variables with these correlations would be, given the tiles:
who is far out in one tail is rather far out in the other, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from pointillist.generators import stored
from pointillist.generators.held_tables import Places

Floats = NDArray[np.float64]
Arrays = Mapping[str, NDArray[Any]]

_SWEEPS = 20
"""How often every row meets another of its component."""
_WORK = 4e9
"""The most multiplications of exchanges; where rows and columns are many, there are fewer sweeps."""
_ROUNDS, _PLACES = 4, 1.5e7
"""How often the places inside tiles are drawn in turn, each by all others; fewer where more than so many are drawn."""
_WEAK = 0.1
"""A column with no correlation as strong as this has its places drawn by chance."""
FAR = 40.0
"""Where a normal variable ends: nothing is beyond, and files take numbers only, not infinity."""
_NOTHING, _FARTHEST = 1e-12, 9.0
"""Below this share a tile is empty; no normal variable is farther out than this."""


@dataclass(frozen=True, eq=False)
class Trends:
    """What ties ordered columns, two by two."""

    columns: NDArray[np.int64]
    """Their numbers among all columns."""
    low: tuple[Floats, ...]
    high: tuple[Floats, ...]
    """Where each tile of such a column begins and ends as a part of a standard normal variable; tiles without an order
    reach from one end to the other."""
    pull: Floats
    """How strongly the scores of two columns attract each other within a component; below 0, they repel."""
    correlations: Floats
    """Of the normal variables behind any two columns."""

    @cached_property
    def scores(self) -> tuple[Floats, ...]:
        """For each tile of each column the mean of the normal variable in it; 0 where there is no order."""
        return tuple(normal_means(low, high) for low, high in zip(self.low, self.high, strict=True))

    def exchange(
        self,
        tiles: Places,
        component: NDArray[np.integer[Any]],
        rng: np.random.Generator,
        free: NDArray[np.integer[Any]] | None = None,
    ) -> None:
        """Exchange tiles between rows of the same component, in place; `tiles` are rows x all columns.

        `free` names columns by number, where the others stay as they are.
        """
        if not self.pull.any():
            return
        work = max(1.0, len(tiles) * len(self.columns) ** 2 / 2)
        for _ in range(int(np.clip(_WORK / work, 4, _SWEEPS))):
            self.sweep(tiles, component, rng, free)

    def sweep(
        self,
        tiles: Places,
        component: NDArray[np.integer[Any]],
        rng: np.random.Generator,
        free: NDArray[np.integer[Any]] | None = None,
    ) -> Floats:
        """Let every row meet another of its component once; the scores that rows then have, rows x ordered columns."""
        own = np.ascontiguousarray(tiles[:, self.columns])
        scores = np.stack([each[own[:, number]] for number, each in enumerate(self.scores)], axis=1)
        order = np.lexsort((rng.random(len(tiles)), component))
        moves = np.ones(len(self.columns), dtype=np.bool_) if free is None else np.isin(self.columns, free)
        _meet(scores, own, self.pull, order, component, int(rng.integers(2**31)), moves)
        tiles[:, self.columns] = own
        return scores

    def places(self, tiles: Places, rng: np.random.Generator) -> dict[int, Floats]:
        """For the rows of some columns, by number, a normal variable within their tile: the higher, the farther up."""
        strength = np.abs(self.correlations - np.eye(len(self.columns))).max(axis=1, initial=0.0)
        kept = np.flatnonzero(strength >= _WEAK)
        own = tiles[:, self.columns[kept]]
        low, high, found = (
            np.stack([side[column][own[:, place]] for place, column in enumerate(kept)], axis=1)
            if len(kept)
            else np.empty((len(tiles), 0))
            for side in (self.low, self.high, self.scores)
        )
        precision = np.linalg.inv(self.correlations[np.ix_(kept, kept)])
        for _ in range(int(np.clip(_PLACES / max(1, found.size), 1, _ROUNDS))):
            for place in range(len(kept)):
                weight = precision[place, place]
                mean = found[:, place] - found @ precision[:, place] / weight
                found[:, place] = _truncated(mean, 1 / np.sqrt(weight), low[:, place], high[:, place], rng)
        return {int(self.columns[column]): found[:, place] for place, column in enumerate(kept)}

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Themselves in a model file."""
        ends = {f"trend.{n}.{side}": each for side in ("low", "high") for n, each in enumerate(getattr(self, side))}
        return {"trends.columns": self.columns, "trends.pull": self.pull, "trends.of": self.correlations, **ends}

    @classmethod
    def from_arrays(cls, arrays: Arrays, sizes: list[int]) -> Self:
        """The inverse of `to_arrays`; `sizes` says how many tiles each column has."""
        columns = arrays["trends.columns"]
        pull, correlations = (stored.floats(arrays, name, 2) for name in ("trends.pull", "trends.of"))
        known = columns.dtype == np.int64 and columns.ndim == 1 and len(set(columns.tolist())) == len(columns)
        if not known or not ((columns >= 0) & (columns < len(sizes))).all():
            raise ValueError("the columns of trends must be columns")
        for matrix in (pull, correlations):
            if matrix.shape != (len(columns),) * 2 or not np.isfinite(matrix).all() or (matrix != matrix.T).any():
                raise ValueError("trends must be of any two columns")
        if pull.diagonal().any():
            raise ValueError("trends must not be of a column with itself")
        if not (np.allclose(correlations.diagonal(), 1) and np.linalg.eigvalsh(correlations).min(initial=1) > 0):
            raise ValueError("trends must be correlations")
        low, high = (
            tuple(stored.floats(arrays, f"trend.{number}.{side}", 1) for number in range(len(columns)))
            for side in ("low", "high")
        )
        for column, first, last in zip(columns, low, high, strict=True):
            whole = len(first) == len(last) == sizes[column] and first.min() == -FAR and last.max() == FAR
            if not whole or not ((first >= -FAR) & (first <= last) & (last <= FAR)).all():
                raise ValueError("trends need both ends of each tile")
        return cls(columns, low, high, pull, correlations)


def normal_ends(shares: Floats, order: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Where each tile of a column begins and ends as a part of a standard normal variable.

    Arguments:
        order: the numbers of the tiles that have an order, from low to high.
    """
    ends = np.cumsum(np.maximum(shares[order], 0.0))
    whole = np.concatenate([[0.0], ends[:-1] / ends[-1], [1.0]]) if ends[-1] > 0 else np.linspace(0, 1, len(order) + 1)
    low, high = np.full(len(shares), -FAR), np.full(len(shares), FAR)
    low[order], high[order] = (np.clip(ndtri(each), -FAR, FAR) for each in (whole[:-1], whole[1:]))
    return low, high


def normal_means(low: Floats, high: Floats) -> Floats:
    """The mean of a standard normal variable between two ends; 0 where there is nothing between them."""
    mass = ndtr(high) - ndtr(low)
    return np.where(mass > _NOTHING, (_density(low) - _density(high)) / np.maximum(mass, _NOTHING), 0.0)


def _density(values: Floats) -> Floats:
    return np.exp(-np.square(values) / 2) / np.sqrt(2 * np.pi)


def _truncated(mean: Floats, spread: float, low: Floats, high: Floats, rng: np.random.Generator) -> Floats:
    """Normal variables between two ends each."""
    start, end = (low - mean) / spread, (high - mean) / spread
    mirrored = start > 0  # in the lower tail, probabilities have more digits
    start, end = np.where(mirrored, -end, start), np.where(mirrored, -start, end)
    first, last = ndtr(start), ndtr(end)
    drawn = ndtri(np.clip(first + rng.random(len(mean)) * (last - first), 1e-300, 1 - 1e-16))
    drawn = np.clip(drawn, start, end)
    return np.clip(mean + spread * np.where(mirrored, -drawn, drawn), -_FARTHEST, _FARTHEST)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _meet(
    scores: Floats,
    tiles: Places,
    pull: Floats,
    order: NDArray[np.int64],
    component: NDArray[np.int64],
    seed: int,
    moves: NDArray[np.bool_],
) -> None:
    """Rows that stand beside each other meet if they are of one component, and may exchange each value that moves."""
    np.random.seed(seed)  # of compiled code alone
    columns = scores.shape[1]
    at = 0
    while at + 1 < len(order):
        i, j = order[at], order[at + 1]
        if component[i] != component[j]:
            at += 1
            continue
        at += 2
        for a in range(columns):
            apart = scores[i, a] - scores[j, a]
            if apart == 0.0 or not moves[a]:
                continue
            torn = 0.0
            for b in range(columns):
                if b != a:
                    torn += pull[a, b] * (scores[i, b] - scores[j, b])
            # The exchange changes the sum of pull x score x score over both rows by -apart x torn.
            if np.log(np.random.random()) < -apart * torn:
                scores[i, a], scores[j, a] = scores[j, a], scores[i, a]
                tiles[i, a], tiles[j, a] = tiles[j, a], tiles[i, a]
