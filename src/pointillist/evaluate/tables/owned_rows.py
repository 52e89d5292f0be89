"""Owned rows: tables that an audit makes up, or makes of private rows, and who owns each row."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.curator.persons import owners
from pointillist.errors import DataError
from pointillist.evaluate.arrays import Codes
from pointillist.evaluate.tables.sample import Sample, read
from pointillist.reading.opening import open_source
from pointillist.sampling.decoding import decode
from pointillist.schema import Person, Schema
from pointillist.schema.levels import Levels, levels_of


@dataclass(frozen=True, eq=False)
class OwnedRows:
    """Rows by level numbers. Without a person column every row is a person of its own."""

    levels: tuple[Levels, ...]
    person: Person | None
    codes: dict[str, Codes]
    owners: Codes
    """A number for the person that each row belongs to."""

    def __len__(self) -> int:
        return len(self.owners)

    def take(self, index: NDArray[Any]) -> Self:
        """Some of the rows, by number or by mask."""
        codes = {name: values[index] for name, values in self.codes.items()}
        return type(self)(self.levels, self.person, codes, self.owners[index])

    def table(self) -> pa.Table:
        """Values that the levels stand for, as a table that can be released."""
        generator = np.random.default_rng(0)
        columns = {each.name: _values(each, self.codes[each.name], generator) for each in self.levels}
        if self.person is not None:
            columns[self.person.column] = pa.array(self.owners)
        return pa.table(columns)

    def sample(self, schema: Schema) -> Sample:
        """The rows as the schema reads them back."""
        return read(self.table(), schema)


def _values(levels: Levels, codes: Codes, generator: np.random.Generator) -> pa.Array:
    if levels.column.unlisted_is_missing:
        # A generator leaves unlisted numbers missing; here they must come back as what they are.
        values = np.array([*levels.categories, levels.column.unlisted(), 0], dtype=np.int64)
        return pa.array(values[codes], mask=codes == levels.missing if levels.has_missing else None)
    return decode(levels, codes.astype(np.uint16), generator)


class Private(NamedTuple):
    """A private table, as it is and as the schema reads it, and whose row each is."""

    table: pa.Table
    sample: Sample
    owners: Codes

    def rows(self, schema: Schema) -> OwnedRows:
        """The rows by level numbers, so that made-up ones can stand among them."""
        codes = {name: self.sample.codes(name) for name in self.sample.columns}
        return OwnedRows(self.sample.levels, schema.person, codes, self.owners)


def read_rows(table: Any, schema: Schema) -> Private:
    """Read a private table. Rows that name nobody are left out, as in a release."""
    source = open_source(table)
    columns = list(schema.measured) + ([schema.person.column] if schema.person else [])
    batches = list(source.batches(columns, schema, lambda fraction: None))
    if sum(batch.num_rows for batch in batches) == 0:
        raise DataError(f"{source.name}: has no rows, so there is nothing to audit.")
    whole = pa.Table.from_batches(batches)
    sample = read(whole, schema)
    if schema.person is None:
        return Private(whole, sample, np.arange(sample.rows))
    named = [owners(batch.column(schema.person.column), schema.person.column, source.name) for batch in batches]
    coded = pa.chunked_array(named).unify_dictionaries().combine_chunks()
    numbers = coded.indices.fill_null(-1).to_numpy().astype(np.int64)
    known = numbers >= 0
    return Private(whole.filter(pa.array(known)), sample.take(known), numbers[known])


def repeated(schema: Schema, level: dict[str, int], copies: int, owner: int) -> OwnedRows:
    """One person with the same row `copies` times."""
    codes = {name: np.full(copies, number, dtype=np.int64) for name, number in level.items()}
    return OwnedRows(levels_of(schema), schema.person, codes, np.full(copies, owner, dtype=np.int64))


def spread(schema: Schema, count: int, *, owner: int, generator: np.random.Generator) -> OwnedRows:
    """Made-up persons over the whole domain: in every column every level turns up equally often, in random order.

    Most cells of a real table are empty or nearly so, so these are rows that nobody has: where a single person stands
    out most. A person who may own several rows owns as many of them as allowed, all alike.
    """
    copies = 1 if schema.person is None else schema.person.max_rows
    levels = levels_of(schema)
    codes = {
        each.name: np.repeat(generator.permutation(np.resize(generator.permutation(each.size), count)), copies)
        for each in levels
    }
    return OwnedRows(levels, schema.person, codes, np.repeat(owner + np.arange(count), copies))
