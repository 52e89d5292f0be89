"""What the tests of the audit share: a small schema, and pipelines that are broken on purpose."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.curator import releasing


@pytest.fixture
def tiny() -> pt.Schema:
    """Few levels, so that a release takes milliseconds."""
    return pt.Schema(
        name="tiny",
        columns={
            "sex": pt.Categorical(categories=("female", "male")),
            "code": pt.Categorical(categories=(1, 2, 5), missing=False),
            "member": pt.Boolean(missing=False),
            "age": pt.Integer(min=0, max=99, bins=8, special=(-1,), missing=False),
            "income": pt.Real(min=1, max=1000, bins=8, scale="log"),
            "seen": pt.Datetime(min="2020-01-01", max="2025-12-31", bins=6, missing=False),
        },
    )


@pytest.fixture
def slim(tiny: pt.Schema) -> pt.Schema:
    """Two columns, where many releases are needed."""
    return tiny.model_copy(update={"columns": {name: tiny.columns[name] for name in ("sex", "age")}})


@pytest.fixture
def crowd() -> Callable[..., pa.Table]:
    """A table for `tiny`, with some values outside it."""

    def make(rows: int, seed: int = 0) -> pa.Table:
        rng = np.random.default_rng(seed)
        return pa.table(
            {
                "sex": rng.choice(["female", "male", "unknown"], rows),
                "code": rng.choice([1, 2, 5, 9], rows),
                "member": rng.random(rows) < 0.3,
                "age": rng.integers(-1, 120, rows),
                "income": pa.array(np.exp(rng.normal(4, 2, rows)), mask=rng.random(rows) < 0.1),
                "seen": pa.array((18_300 + rng.integers(0, 2_000, rows)).astype(np.int32)).cast(pa.date32()),
            }
        )

    return make


def summed_codes(*arguments: Any) -> Any:
    """An embedding that adds up level codes, in one number for each table, where indicators are promised."""
    sums, rows = _HONEST_EMBED(*arguments)
    made, start = np.zeros_like(sums), 0
    for block, _ in arguments[2].blocks():
        made[start] = sums[start : start + block.dimension] @ np.arange(block.dimension)
        start += block.dimension
    return made, rows


_HONEST_EMBED = releasing.embed


def bounds_from_rows(table: pa.Table, schema: pt.Schema, **options: Any) -> pt.Release:
    """A release whose bounds are read off the rows, as several tools do."""
    columns = dict(schema.columns)
    for name, column in columns.items():
        if isinstance(column, pt.Integer | pt.Real) and table.num_rows > 1:
            values = [value for value in table[name].to_pylist() if value is not None and value not in column.special]
            low, high = min(values), max(values)
            if low < high:
                columns[name] = column.model_copy(update={"min": low, "max": high})
    return _HONEST_RELEASE(table, schema.model_copy(update={"columns": columns}), **options)


_HONEST_RELEASE = releasing.release
