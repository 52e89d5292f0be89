"""Fakes: values for columns that are left out, made up from a row's number and a seed, so that they carry no information.

With the package `Faker` (the extra `fakes`) names, companies, addresses and texts look like real ones; without it they are
numbered words.
"""

import uuid
from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.schema import Schema

Maker = Callable[[int, np.random.Generator], list[str]]
_MOST = 10_000
"""So many different made-up names and texts at most: they are slow to make, and come again."""


def _numbered(form: str) -> Maker:
    return lambda count, rng: [form.format(number) for number in range(1, count + 1)]


def _uuids(count: int, rng: np.random.Generator) -> list[str]:
    return [str(uuid.UUID(bytes=rng.bytes(16), version=4)) for _ in range(count)]


def _phones(count: int, rng: np.random.Generator) -> list[str]:
    return [f"+1 555 {number // 10_000:03} {number % 10_000:04}" for number in rng.integers(0, 10_000_000, count)]


def _addresses(count: int, rng: np.random.Generator) -> list[str]:
    """From the blocks that are kept for documentation."""
    return [
        f"{('192.0.2', '198.51.100', '203.0.113')[number % 3]}.{number // 3}" for number in rng.integers(0, 762, count)
    ]


_PLAIN: Mapping[str, Maker] = {
    "email": _numbered("person{}@example.org"),
    "phone": _phones,
    "uuid": _uuids,
    "url": _numbered("https://example.org/{}"),
    "ip": _addresses,
    "name": _numbered("Name {}"),
    "company": _numbered("Company {}"),
    "address": _numbered("Street {}"),
    "text": _numbered("Text {}"),
}
_FAKER = {"name": "name", "company": "company", "address": "address", "text": "sentence"}
"""What Faker makes better."""


def with_fakes(table: pa.Table, schema: Schema, rng: np.random.Generator) -> pa.Table:
    """A sampled table with the columns that are to be made up, in the schema's order."""
    fakes = {name: kind for name, column in schema.columns.items() if (kind := getattr(column, "fake", None))}
    if not fakes:
        return table
    made = {name: fake_column(kind, table.num_rows, rng) for name, kind in fakes.items()}
    return pa.table(
        {
            name: made[name] if name in made else table[name]
            for name in schema.columns
            if name in made or name in table.column_names
        }
    )


def with_persons(table: pa.Table, schema: Schema, persons: NDArray[np.int64], rng: np.random.Generator) -> pa.Table:
    """A sampled table with new names for its persons, in the schema's order: running numbers, or what is made up instead.

    `persons` says for each row whose it is; numbers go on from there, so that parts of one sample share no person.
    """
    assert schema.person is not None
    name = schema.person.column
    kind = getattr(schema.columns.get(name), "fake", None)
    names = pa.array(persons + 1)
    if kind not in (None, "id"):
        own, places = np.unique(persons, return_inverse=True)
        names = fake_column(kind, len(own), rng).take(pa.array(places))
    order = [each for each in schema.columns if each == name or each in table.column_names]
    columns = {each: names if each == name else table[each] for each in (order if name in order else [name, *order])}
    return pa.table(columns)


def fake_column(kind: str, count: int, rng: np.random.Generator) -> pa.Array:
    """Made-up values of one kind."""
    if kind == "id":
        return pa.array(np.arange(1, count + 1))
    if kind in _FAKER and (made := _by_faker(_FAKER[kind], min(count, _MOST), rng)):
        return pa.array(made, pa.string()).take(pa.array(rng.permutation(np.arange(count) % len(made))))
    return pa.array(_PLAIN[kind](count, rng), pa.string())


def _by_faker(what: str, count: int, rng: np.random.Generator) -> list[str]:
    try:
        from faker import Faker
    except ImportError:
        return []
    maker = Faker()
    maker.seed_instance(int(rng.integers(2**31)))
    return [str(getattr(maker, what)()).replace("\n", ", ") for _ in range(count)]
