"""Base: one small release and its model, made once, from which damaged ones and questions are made."""

import datetime as dt
import tempfile
from functools import cache
from pathlib import Path
from random import Random

import pyarrow as pa

import pointillist as pt

SCHEMA = pt.Schema(
    name="base",
    rows=300,
    columns={
        "sex": pt.Categorical(categories=("female", "male"), missing=False),
        "age": pt.Integer(min=0, max=99, missing=False),
        "income": pt.Real(min=0, max=100),
        "seen": pt.Datetime(min=dt.datetime(2020, 1, 1), max=dt.datetime(2025, 12, 31)),
        "a b": pt.Boolean(),
    },
)


@cache
def table() -> pa.Table:
    """Rows for the schema."""
    rng = Random(1)
    return pa.table(
        {
            "sex": [rng.choice(("female", "male")) for _ in range(300)],
            "age": [rng.randint(0, 99) for _ in range(300)],
            "income": [round(rng.uniform(0, 100), 1) for _ in range(300)],
            "seen": [f"202{rng.randint(0, 5)}-05-17" for _ in range(300)],
            "a b": [rng.random() < 0.3 for _ in range(300)],
        }
    )


@cache
def release() -> pt.Release:
    """A release of it."""
    with tempfile.TemporaryDirectory() as folder:
        return pt.release(table(), SCHEMA, epsilon=5.0, ledger=Path(folder) / "ledger.sqlite")


@cache
def model() -> pt.Model:
    """The model fitted to it."""
    return pt.fit(release())


@cache
def received() -> pt.Received:
    """The release in a receiver's hands."""
    return pt.receive(release(), model=model(), rows=500)
