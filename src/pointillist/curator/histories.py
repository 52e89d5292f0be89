"""Histories: the rows of each person, brought together and in order, as records that share one weight.

A person has one record for each of her rows (see `schema/history`), `max_rows` at most. Everything in her records follows
from her own rows alone, in integers; and each of her m records counts floor(2^shared / m) parts of one weight. So the whole
of what she adds to the sum is never longer than what one record would be, however many rows she has.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.curator.capping import OWNER, columns_of, kept_rows
from pointillist.errors import DataError
from pointillist.reading import batches as reading
from pointillist.reading.connection import connect, noted
from pointillist.reading.encoding import Encoder
from pointillist.records import Records
from pointillist.schema import Schema
from pointillist.schema.history import COUNT, PLACE, History, Usual, level_of
from pointillist.schema.levels import levels_of

Codes = Mapping[str, NDArray[np.uint16]]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Persons:
    """All rows of some persons, hers one after the other, in their order."""

    starts: Integers
    """Where each person's rows begin."""
    rows: Records

    @property
    def counts(self) -> Integers:
        """How many rows each person has."""
        return np.diff(self.starts, append=self.rows.rows)


def history_encoder(schema: Schema, origin: str) -> Encoder:
    """Reads all measured columns as level numbers, and what orders rows as a position, too."""
    levels, order = levels_of(schema), History.of(schema).order
    units = frozenset([order.name]) if order is not None and order.numeric else frozenset[str]()
    return Encoder(levels, frozenset(each.name for each in levels), units, origin)


def gathered(
    batches: Iterable[pa.RecordBatch], history: History, encoder: Encoder, most: int, origin: str
) -> Iterator[Persons]:
    """Whole persons with at most `most` rows each, of what `owned` gave; all rows of a person must be among them."""
    failures: list[BaseException] = []
    try:
        with connect() as db:
            kinds = columns_of(encoder)
            rows = db.from_arrow(pa.RecordBatchReader.from_batches(kinds, noted(batches, failures)))
            sorted_rows = rows.query("rows", _sorted(history, encoder, most))
            yield from _whole(sorted_rows.to_arrow_reader(reading.BATCH_ROWS), encoder)
    except (duckdb.Error, pa.ArrowException, ValueError):
        if failures:
            raise failures[0] from None
        raise DataError(
            f"{origin}: its rows could not be sorted by person. Is there space for temporary files?"
        ) from None


def _sorted(history: History, encoder: Encoder, most: int) -> str:
    """The query for the rows that are kept, person by person and in order.

    Rows without an order, or that it does not tell apart, come in an order that their own content settles; equal rows count
    up, so that they are not always neighbours.
    """
    values = columns_of(encoder).names[len(OWNER) :]
    listed, owner = ", ".join(values), ", ".join(OWNER)
    keys = ""
    if history.order is not None:
        code = f"c{encoder.code_names.index(history.order.name)}"
        key = "u0" if history.order.numeric else code
        keys = (
            f"CASE WHEN {code} = {history.order.missing} THEN -1 ELSE {key} END, "
            if history.order.has_missing
            else f"{key}, "
        )
    return (
        f"SELECT *, row_number() OVER (PARTITION BY {owner}, {listed}) AS again FROM ({kept_rows(values, most)}) "
        f"ORDER BY {owner}, {keys}hash({listed}, again), {listed}, again"
    )


def _whole(batches: Iterable[pa.RecordBatch], encoder: Encoder) -> Iterator[Persons]:
    """Batches of sorted rows, cut where a person ends."""
    left: pa.Table | None = None
    for batch in batches:
        rows = pa.Table.from_batches([batch])
        rows = rows if left is None else pa.concat_tables([left, rows])
        starts = _starts(rows)
        left = rows.slice(starts[-1])
        if len(starts) > 1:
            yield _persons(rows.slice(0, starts[-1]), starts[:-1], encoder)
    if left is not None and left.num_rows:
        yield _persons(left, _starts(left), encoder)


def _starts(rows: pa.Table) -> Integers:
    """Where each person's rows begin."""
    one, other = (rows[name].to_numpy() for name in OWNER)
    changes = (one[1:] != one[:-1]) | (other[1:] != other[:-1])
    return np.concatenate([[0], np.flatnonzero(changes) + 1]) if rows.num_rows else np.zeros(1, dtype=np.int64)


def _persons(rows: pa.Table, starts: Integers, encoder: Encoder) -> Persons:
    codes = {name: rows[f"c{number}"].to_numpy() for number, name in enumerate(encoder.code_names)}
    units = {name: rows[f"u{number}"].to_numpy() for number, name in enumerate(encoder.unit_names)}
    return Persons(starts, Records(rows.num_rows, codes, units))


def records_of(persons: Persons, history: History) -> Records:
    """One record for each row. Depends on each person's own rows alone."""
    codes, starts, counts = persons.rows.codes, persons.starts, persons.counts
    owner = np.repeat(np.arange(len(starts)), counts)
    place = np.arange(persons.rows.rows) - starts[owner]
    found: dict[str, NDArray[np.uint16]] = {each.name: codes[each.name][starts[owner]] for each in history.facts}
    found[COUNT] = level_of(history.counts[0], counts)[owner]
    for usual in history.usual:
        found[usual.levels.name] = _usual(usual, codes[usual.source.name], owner, len(starts))[owner]
    earlier = np.maximum(np.arange(persons.rows.rows) - 1, 0)
    for row, copy in zip(history.rows, history.before, strict=True):
        found[row.name] = codes[row.name]
        found[copy.levels.name] = np.where(place == 0, copy.none, copy.table[codes[row.name][earlier]]).astype(
            np.uint16
        )
    if history.order is not None and history.first is not None and history.gap is not None:
        own = codes[history.order.name]
        found[history.order.name], found[history.first.name] = own, own[starts[owner]]
        found[PLACE] = level_of(history.counts[1], place + 1)
        steps, known = _ticks(persons, history)
        gaps = level_of(history.gap, steps - steps[earlier])
        linked = (place > 0) & known & known[earlier]
        found[history.gap.name] = np.where(linked, gaps, history.gap.missing).astype(np.uint16)
    return Records(persons.rows.rows, found, {})


def _ticks(persons: Persons, history: History) -> tuple[Integers, NDArray[np.bool_]]:
    """Where each row stands in what orders them, in whole ticks, and whether that is known."""
    order = history.order
    assert order is not None
    codes = persons.rows.codes[order.name]
    known = codes != order.missing if order.has_missing else np.ones(len(codes), dtype=bool)
    if not order.numeric:
        return codes.astype(np.int64), known
    numbers = order.from_unit(persons.rows.units[order.name])
    return np.rint((numbers - order.bounds[0]) / history.ticks[0]).astype(np.int64), known


def _usual(usual: Usual, codes: NDArray[np.uint16], owner: Integers, persons: int) -> NDArray[np.uint16]:
    """For each person the mean of her level numbers, or the one that she has most often; of two, the lower."""
    if usual.is_mean:
        regular = codes < usual.source.regular
        counts = np.bincount(owner[regular], minlength=persons)
        sums = np.zeros(persons, dtype=np.int64)
        np.add.at(sums, owner[regular], codes[regular].astype(np.int64))
        return usual.from_sums(sums, counts).astype(np.uint16)
    pairs, times = np.unique(owner * usual.source.size + codes, return_counts=True)
    own, levels = np.divmod(pairs, usual.source.size)
    ranked = np.lexsort((levels, -times, own))
    leading = ranked[np.concatenate([[True], np.diff(own[ranked]) > 0])] if len(ranked) else ranked
    return levels[leading].astype(np.uint16)
