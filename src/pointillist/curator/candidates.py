"""Candidates: the public tables of which one will be chosen. Given one by one, or all tables of M rows there can be."""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.curator.clipping import Integers, quantise
from pointillist.curator.embedding import Embedding
from pointillist.errors import DataError, PointillistError, UsageError
from pointillist.features import FeatureMap, Records
from pointillist.privacy.grid import Grid
from pointillist.reading.base import Source
from pointillist.reading.encoding import Encoder
from pointillist.reading.frames import Frame
from pointillist.reading.opening import open_source
from pointillist.reading.rows import read_records
from pointillist.sampling.constraints import Rules
from pointillist.sampling.decoding import settled_table
from pointillist.schema import Schema
from pointillist.schema.level_values import placed
from pointillist.schema.levels import Levels, coarse, levels_of

MOST_CANDIDATES = 100_000
"""The most candidates that are scored."""
MOST_ROWS = 10_000_000
"""The most rows that all candidates may have together."""
_CELLS = 1 << 22
"""Integers held at a time while candidates are added up."""
_INSTEAD = (
    "Fit weighted points to a noisy embedding instead, which needs no list of all tables: method reduced-set, or "
    "landmarks if there are public rows."
)


class Candidates(ABC):
    """Public tables, numbered from 0."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many there are."""

    @abstractmethod
    def sums(self, feature_map: FeatureMap, grid: Grid) -> Iterator[tuple[Integers, int]]:
        """Their features, summed over their rows, in order: some candidates at a time, and how many rows each has."""

    @abstractmethod
    def records(self, number: int) -> Records:
        """The rows of one candidate: levels of every column, positions of every number."""

    @abstractmethod
    def table(self, number: int) -> pa.Table:
        """One candidate with the schema's columns and types."""

    def original(self, number: int) -> Any:
        """The very frame that the caller gave, or None."""
        return None


@dataclass(frozen=True, eq=False)
class Given(Candidates):
    """Tables that the caller has."""

    sources: tuple[Source, ...]
    frames: tuple[Any, ...]
    schema: Schema

    @classmethod
    def of(cls, tables: Sequence[Any], schema: Schema) -> "Given":
        if len(tables) > MOST_CANDIDATES:
            raise UsageError(
                f"candidates: {len(tables):,} tables are more than the {MOST_CANDIDATES:,} that one choice can weigh. "
                f"Choose among fewer. {_INSTEAD}"
            )
        sources, frames = [], []
        for number, table in enumerate(tables):
            with _named(number):
                source = open_source(table)
                source.require(list(schema.measured))
            sources.append(source)
            frames.append(table if isinstance(source, Frame) else None)
        return cls(tuple(sources), tuple(frames), schema)

    @property
    def count(self) -> int:
        return len(self.sources)

    def sums(self, feature_map: FeatureMap, grid: Grid) -> Iterator[tuple[Integers, int]]:
        total = 0
        for number in range(self.count):
            embedding = Embedding(feature_map, grid)
            for _, records in self._batches(number):
                embedding.add(records)
            total += embedding.rows
            if embedding.rows == 0:
                raise DataError(f"candidate {number} has no rows. Leave it out: nothing can be compared with it.")
            if total > MOST_ROWS:
                raise UsageError(
                    f"candidates: together they have over {MOST_ROWS:,} rows, which is the limit. Choose among fewer "
                    "tables, or smaller ones."
                )
            yield embedding.sums()[None, :], embedding.rows

    def records(self, number: int) -> Records:
        with _named(number):
            return read_records(self.sources[number], self.schema)

    def table(self, number: int) -> pa.Table:
        """The candidate's own numbers; its names as the schema writes them. What is out of domain follows its rules."""
        parts = []
        for batch, records in self._batches(number):
            own = {e.name: _within(e, e.column.from_arrow(batch.column(e.name))) for e in self._levels if e.numeric}
            parts.append(settled_table(self._levels, records.codes, own))
        return pa.concat_tables(parts).combine_chunks()

    def original(self, number: int) -> Any:
        return self.frames[number]

    @cached_property
    def _levels(self) -> tuple[Levels, ...]:
        return levels_of(self.schema)

    def _batches(self, number: int) -> Iterator[tuple[pa.RecordBatch, Records]]:
        source = self.sources[number]
        encoder = Encoder.of_schema(self.schema, source.name)
        with _named(number):
            for batch in source.batches(encoder.columns, self.schema, lambda fraction: None):
                yield batch, encoder(batch)


@dataclass(frozen=True, eq=False)
class Multisets(Candidates):
    """Every table of `rows` rows over a finite domain; the order of rows does not count."""

    domain: Records
    rows: int
    levels: tuple[Levels, ...]

    @classmethod
    def of(cls, rows: int, schema: Schema) -> "Multisets":
        if rows < 1:
            raise UsageError(f"candidates: a table has at least 1 row, not {rows}.")
        levels = levels_of(schema)
        size = math.prod(int(coarse(each)[-1]) + 1 for each in levels)
        _require_few(size, rows, schema)
        domain = _possible(_domain(levels), levels, schema)
        if domain.rows == 0:
            raise UsageError("candidates: the schema's constraints leave no possible row. Loosen them.")
        _require_few(domain.rows, rows, schema)
        return cls(domain, rows, levels)

    @property
    def count(self) -> int:
        return math.comb(self.domain.rows + self.rows - 1, self.rows)

    def sums(self, feature_map: FeatureMap, grid: Grid) -> Iterator[tuple[Integers, int]]:
        step = max(1, _CELLS // (self.rows * feature_map.dimension))
        multisets = self._multisets()
        while chunk := list(itertools.islice(multisets, step)):
            used, place = np.unique(np.array(chunk, dtype=np.int64), return_inverse=True)
            features = quantise(feature_map(self.domain.part(used)), grid)
            yield features[place.reshape(len(chunk), self.rows)].sum(axis=1), self.rows

    def records(self, number: int) -> Records:
        return self.domain.part(np.array(next(itertools.islice(self._multisets(), number, None)), dtype=np.int64))

    def table(self, number: int) -> pa.Table:
        records = self.records(number)
        return settled_table(self.levels, records.codes, _settled(records, self.levels))

    def _multisets(self) -> Iterator[tuple[int, ...]]:
        return itertools.combinations_with_replacement(range(self.domain.rows), self.rows)


@contextmanager
def _named(number: int) -> Iterator[None]:
    """Say in every message which candidate it is about. Candidates are public, and so is what is wrong with them."""
    try:
        yield
    except PointillistError as error:
        raise type(error)(f"candidate {number}: {error}") from None


def _within(levels: Levels, values: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers that are special or within bounds; those that are missing are masked later, and are any number here."""
    found = values.astype(np.float64)
    low, high = levels.bounds
    return np.where(np.isin(found, levels.specials), found, np.clip(np.nan_to_num(found, nan=low), low, high))


def _domain(levels: tuple[Levels, ...]) -> Records:
    """All rows of the schema, each number at the middle of one of at most 16 parts of its range."""
    middles = [_middles(each) for each in levels]
    rows = math.prod(len(each) for each in middles)
    grids = np.meshgrid(*middles, indexing="ij")
    codes = {each.name: grid.ravel().astype(np.uint16) for each, grid in zip(levels, grids, strict=True)}
    units = {each.name: _unit_middles(each)[codes[each.name]] for each in levels if each.numeric}
    return Records(rows, codes, units)


def _middles(levels: Levels) -> Integers:
    """For each part of a column's range the level in its middle; other levels stand for themselves."""
    part = coarse(levels)
    ends = np.flatnonzero(np.diff(part, append=part[-1] + 1))
    starts = np.concatenate([[0], ends[:-1] + 1])
    return np.asarray((starts + ends) // 2, dtype=np.int64)


def _unit_middles(levels: Levels) -> NDArray[np.float64]:
    low, high = levels.spans
    return np.asarray((low + high) / 2)


def _settled(records: Records, levels: tuple[Levels, ...]) -> dict[str, NDArray[np.float64]]:
    return {e.name: placed(e, records.codes[e.name], records.units[e.name]) for e in levels if e.numeric}


def _possible(domain: Records, levels: tuple[Levels, ...], schema: Schema) -> Records:
    """The rows that keep to the schema's constraints."""
    if not schema.constraints:
        return domain
    broken = Rules.of(schema.constraints, levels).broken(domain.codes, _settled(domain, levels))
    return domain.part(np.flatnonzero(~broken))


def _require_few(size: int, rows: int, schema: Schema) -> None:
    """Refuse more tables than can be scored. Everything here follows from the schema: no row has been read."""
    # C(size + rows - 1, rows), by the shorter side; of a very long one a part is enough to refuse it.
    terms = min(rows, size - 1)
    count = math.comb(size + rows - 1, min(terms, 1_000))
    if count > MOST_CANDIDATES:
        more = "more than " if terms > 1_000 else ""
        raise UsageError(
            f"candidates: there are {more}{_written(count)} tables of {rows:,} row{'s' * (rows != 1)} over the "
            f"{_written(size)} possible rows of {schema.name!r}, and one choice can weigh {MOST_CANDIDATES:,}. Ask for "
            f"fewer rows, or ignore some columns. {_INSTEAD}"
        )
    if count * rows > MOST_ROWS:
        raise UsageError(
            f"candidates: {count:,} tables of {rows:,} rows are over the limit of {MOST_ROWS:,} rows in all. "
            f"Ask for fewer rows. {_INSTEAD}"
        )


def _written(count: int) -> str:
    """A number, however large."""
    return f"{count:,}" if count < 10**12 else f"about 10^{int((count.bit_length() - 1) * math.log10(2))}"
