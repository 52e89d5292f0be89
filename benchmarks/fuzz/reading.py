"""Reading: what a release does with a source before anything is spent, and what a draft does with it."""

import datetime as dt
from typing import Any

import pointillist as pt
from pointillist.curator.capping import capped, owned
from pointillist.curator.table_drafting import draft
from pointillist.reading.encoding import Encoder
from pointillist.reading.opening import open_source
from pointillist.schema import Schema

TABLE = pt.Schema(
    name="people",
    rows=50,
    columns={
        "sex": pt.Categorical(categories=("female", "male")),
        "ward": pt.Categorical(categories=(1, 2, 7)),
        "grade": pt.Ordinal(categories=("low", "middle", "high")),
        "member": pt.Boolean(),
        "age": pt.Integer(min=0, max=110),
        "income": pt.Real(min=1, max=100_000, special=(0.0,), scale="log", decimals=2),
        "seen": pt.Datetime(min=dt.datetime(2020, 1, 1), max=dt.datetime(2025, 12, 31)),
        "at": pt.Datetime(
            min=dt.datetime(2020, 1, 1), max=dt.datetime(2025, 12, 31), resolution="second", format="%d/%m/%Y %H:%M"
        ),
    },
)
IMAGES = pt.Schema(
    name="digits",
    columns={
        "image": pt.Image(height=4, width=4, colour=False, resize="crop"),
        "label": pt.Categorical(categories=("a", "b"), out_of_domain="other"),
    },
)


def read(table: Any, schema: Schema, person: str | None = None) -> int:
    """All rows, encoded; how many there were."""
    source = open_source(table)
    encoder = Encoder.of_schema(schema, source.name)
    if person is None:
        batches = source.batches(encoder.columns, schema, lambda fraction: None)
        return sum(encoder(batch).rows for batch in batches)
    batches = source.batches([*encoder.columns, person], schema, lambda fraction: None)
    two = pt.Person(column=person, max_rows=2)
    rows = owned(batches, encoder, two, b"key", source.name)
    return sum(part.rows for part in capped(rows, encoder, two, source.name))


def drafted(table: Any) -> None:
    """A draft of it, written down and read again."""
    schema = draft(table, name="t")
    schema.to_toml()
