"""Held tables: what stays as it is while the rows of a sample exchange values.

Pairs of columns, for all and by class; and cliques, tables of three columns and more.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.generators.product_tables import joint_table

Floats = NDArray[np.float64]
Single = NDArray[np.float32]
Places = NDArray[np.int32]
Arrays = Mapping[str, NDArray[Any]]

_LEAST_CLIQUE, _MOST_CELLS = 3, 2**24
"""The fewest columns and the most cells of a clique."""


@dataclass(frozen=True, eq=False)
class PairsByClass:
    """Pair tables within each class of one column, the label, over tiles that may be coarser than those of the rows."""

    label: int
    """The label's number among the columns."""
    class_of: Places
    """For each of the label's tiles its class."""
    place_of: Places
    """For each tile, of all columns side by side, its place in the tables; -1 where the column is not in them."""
    wanted: Single
    """The share of rows in every class and pair of places."""
    held: NDArray[np.bool_]
    """Which pairs of columns are held within the classes."""

    def made_by(self, weights: Single, table: Single, start: int) -> Self:
        """The same pairs as components make them: their weights, and their probabilities of all tiles side by side."""
        joined = np.zeros((len(table), self.wanted.shape[1]), dtype=np.float32)
        there = self.place_of >= 0
        np.add.at(joined.T, self.place_of[there], table.T[there])
        of_label = table[:, start : start + len(self.class_of)]
        shares = [weights * of_label[:, self.class_of == each].sum(axis=1) for each in range(len(self.wanted))]
        return replace(self, wanted=np.stack([joined.T @ (each[:, None] * joined) for each in shares]))

    def to_arrays(self, number: int) -> dict[str, NDArray[Any]]:
        """Itself in a model file."""
        return {
            f"split.{number}.class_of": self.class_of,
            f"split.{number}.place_of": self.place_of,
            f"split.{number}.wanted": self.wanted,
            f"split.{number}.held": self.held.astype(np.uint8),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays, number: int, label: int, sizes: Sequence[int]) -> Self:
        """The inverse of `to_arrays`. Compiled code looks places up in the tables, so every one must be there."""
        class_of, place_of, wanted, held = (
            arrays[f"split.{number}.{part}"] for part in ("class_of", "place_of", "wanted", "held")
        )
        if wanted.dtype != np.float32 or wanted.ndim != 3 or wanted.shape[1] != wanted.shape[2]:
            raise ValueError("the pair tables by class do not fit")
        for places, size, least, most in (
            (class_of, sizes[label], 0, wanted.shape[0]),
            (place_of, sum(sizes), -1, wanted.shape[1]),
        ):
            if places.dtype != np.int32 or places.shape != (size,) or places.min() < least or places.max() >= most:
                raise ValueError("the pair tables by class do not fit")
        starts = np.cumsum([0, *sizes])[:-1]
        absent = np.minimum.reduceat(place_of, starts) < 0
        if held.dtype != np.uint8 or held.shape != (len(sizes),) * 2 or held[absent].any() or held[:, absent].any():
            raise ValueError("columns that are held must be in the tables")
        if held.diagonal().any() or (place_of[starts[label] : starts[label] + sizes[label]] >= 0).any():
            raise ValueError("a column is held with itself")
        return cls(label, class_of, place_of, wanted, held.astype(np.bool_))


@dataclass(frozen=True, eq=False)
class HeldClique:
    """A table of three columns or more, over tiles that may be coarser than those of the rows."""

    columns: tuple[int, ...]
    """The numbers of its columns."""
    place_of: tuple[Places, ...]
    """For each of its columns, and each of the column's tiles, its place along the table."""
    wanted: Single
    """The share of rows in every cell."""

    def made_by(self, weights: Single, tables: Sequence[Single]) -> Self:
        """The same table as components make it: their weights, and their probabilities of each column's tiles."""
        made = [np.zeros((len(weights), size), dtype=np.float32) for size in self.wanted.shape]
        for joined, column, place_of in zip(made, self.columns, self.place_of, strict=True):
            np.add.at(joined.T, place_of, tables[column].T)
        return replace(self, wanted=joint_table(weights, made))

    def steps(self, starts: NDArray[np.int64], size: int) -> Places:
        """For each tile, of all columns side by side, what it adds to the number of a row's cell."""
        found = np.zeros(size, dtype=np.int32)
        ahead = self.wanted.size
        for column, place_of, places in zip(self.columns, self.place_of, self.wanted.shape, strict=True):
            ahead //= places
            found[starts[column] : starts[column] + len(place_of)] = ahead * place_of
        return found

    def to_arrays(self, number: int) -> dict[str, NDArray[Any]]:
        """Itself in a model file."""
        return {
            f"clique.{number}.columns": np.array(self.columns, dtype=np.int32),
            f"clique.{number}.place_of": np.concatenate(self.place_of),
            f"clique.{number}.wanted": self.wanted,
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays, number: int, sizes: Sequence[int]) -> Self:
        """The inverse of `to_arrays`. Compiled code looks cells up in the table, so every one must be there."""
        columns, places, wanted = (arrays[f"clique.{number}.{part}"] for part in ("columns", "place_of", "wanted"))
        if wanted.dtype != np.float32 or wanted.ndim < _LEAST_CLIQUE or math.prod(wanted.shape) > _MOST_CELLS:
            raise ValueError("the tables of cliques do not fit")
        if columns.dtype != np.int32 or columns.shape != (wanted.ndim,) or len(set(columns.tolist())) < wanted.ndim:
            raise ValueError("the columns of cliques do not fit")
        if columns.min() < 0 or columns.max() >= len(sizes):
            raise ValueError("the columns of cliques do not fit")
        ends = np.cumsum([sizes[column] for column in columns])
        if places.dtype != np.int32 or places.shape != (ends[-1],):
            raise ValueError("the places of cliques do not fit")
        place_of = tuple(np.split(places, ends[:-1]))
        if any(each.min() < 0 or each.max() >= size for each, size in zip(place_of, wanted.shape, strict=True)):
            raise ValueError("the places of cliques do not fit")
        return cls(tuple(columns.tolist()), place_of, wanted)


@dataclass(frozen=True, eq=False)
class HeldTables:
    """The tables that a sample should have, where tables are all that was measured."""

    sizes: tuple[int, ...]
    """How many tiles each column has."""
    pairs: Single | None
    """The share of rows in every pair of tiles, of all columns side by side. None where not all pairs were measured over
    these tiles: then rows stay as they are drawn."""
    by_class: tuple[PairsByClass, ...] = ()
    """The same within each class of a target."""
    cliques: tuple[HeldClique, ...] = ()
    """Tables of three columns and more."""
    linked: NDArray[np.bool_] | None = None
    """Which pairs of columns a release speaks about: others need not be as the mixture makes them. None: all."""

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each column's tiles begin, of all side by side."""
        return np.cumsum([0, *self.sizes])[:-1]

    def made_by(self, weights: Floats, tables: Sequence[Floats]) -> Self:
        """The same tables as components make them, by their weights and their probabilities of each column's tiles."""
        if self.pairs is None:
            return self
        single = [table.astype(np.float32) for table in tables]
        table = np.concatenate(single, axis=1)
        share = (weights / weights.sum()).astype(np.float32)
        by_class = tuple(each.made_by(share, table, int(self.starts[each.label])) for each in self.by_class)
        cliques = tuple(each.made_by(share, single) for each in self.cliques)
        return replace(self, pairs=table.T @ (share[:, None] * table), by_class=by_class, cliques=cliques)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Themselves in a model file."""
        arrays: dict[str, NDArray[Any]] = {} if self.pairs is None else {"pairs": self.pairs}
        if self.linked is not None:
            arrays["linked"] = self.linked.astype(np.uint8)
        for number, by_class in enumerate(self.by_class):
            arrays |= by_class.to_arrays(number)
        for number, clique in enumerate(self.cliques):
            arrays |= clique.to_arrays(number)
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays, labels: Sequence[int], sizes: Sequence[int], cliques: int = 0) -> Self:
        """The inverse of `to_arrays`; `labels` are those of the tables by class, and there are so many cliques."""
        pairs, linked, total = arrays.get("pairs"), arrays.get("linked"), sum(sizes)
        if pairs is not None and (pairs.shape != (total, total) or pairs.dtype != np.float32):
            raise ValueError("the pair tables do not fit")
        if linked is not None and (linked.shape != (len(sizes),) * 2 or linked.dtype != np.uint8):
            raise ValueError("the links of columns do not fit")
        return cls(
            tuple(sizes),
            pairs,
            tuple(PairsByClass.from_arrays(arrays, number, label, sizes) for number, label in enumerate(labels)),
            tuple(HeldClique.from_arrays(arrays, number, sizes) for number in range(cliques)),
            None if linked is None else linked.astype(np.bool_),
        )
