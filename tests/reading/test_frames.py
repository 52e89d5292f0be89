"""Frames: tables in memory, of whichever library."""

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.fixtures.sources import SECRET, encoded, refusal, silent, texts

from pointillist.reading.batches import BATCH_ROWS
from pointillist.reading.opening import open_source
from pointillist.schema import (
    Categorical,
    Integer,
    Real,
    Schema,
)


class TestRefusals:
    @pytest.mark.parametrize("kind", ["table", "pandas"])
    def test_columns_of_the_same_name_in_a_frame(self, kind: str) -> None:
        twice = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["x", "x"])
        frame = twice if kind == "table" else pd.DataFrame([["a", "b"]], columns=["x", "x"])
        assert "more than once" in refusal(lambda: texts(frame, ["x"]))

    def test_a_pandas_column_that_holds_something_else(self) -> None:
        frame = pd.DataFrame({"x": [1.0, SECRET, None]}, dtype=object)
        schema = Schema(name="s", columns={"x": Real(min=0, max=1)})
        assert "column 'x'" in refusal(lambda: encoded(frame, schema))

    def test_a_lazy_frame_that_fails(self) -> None:
        frame = pl.LazyFrame({"x": [SECRET]}).with_columns(pl.col("x").cast(pl.Int64))
        assert refusal(lambda: texts(frame, ["x"]))


def test_frames_are_read_in_batches() -> None:
    rows = BATCH_ROWS + 10
    table = pa.table({"x": np.arange(rows) % 7})
    schema = Schema(name="s", columns={"x": Integer(min=0, max=6, missing=False)})
    for frame in (table, table.to_pandas(), pl.from_arrow(table)):
        batches = list(open_source(frame).batches(["x"], schema, silent))
        assert [batch.num_rows for batch in batches] == [BATCH_ROWS, 10]
        assert encoded(frame, schema) == encoded(table, schema)


def test_pandas_columns_may_be_named_by_numbers() -> None:
    assert texts(pd.DataFrame({0: ["a", "b"], 1: ["c", "d"]}), ["1", "0"]) == [("c", "a"), ("d", "b")]


class TestOneRowDoesNotChangeTheOthers:
    """One person's value must not decide how another's is read: neither quotes, nor types, nor names."""

    @pytest.mark.parametrize(
        ("column", "values", "odd"),
        [
            (Categorical(categories=("7", "19")), [Decimal(7), Decimal(19)], Decimal("7.5")),
            (Real(min=0, max=1, special=(0.1,)), [Decimal("0.1"), Decimal("0.3")], Decimal("1e-20")),
            (Categorical(categories=("123456789012", "5")), [123456789012, 5], 0.5),
            (Categorical(categories=("1", "2")), [1, 2], None),
            (Categorical(categories=("1", "2")), [1, 2], "x"),
            (Integer(min=0, max=9), [1, 2], "3"),
        ],
    )
    @pytest.mark.parametrize("kind", [object, None])
    def test_in_a_pandas_column(self, column: Any, values: list[Any], odd: Any, kind: Any) -> None:
        schema = Schema(name="s", columns={"x": column})
        plain = pd.DataFrame({"x": pd.Series(values * 50, dtype=kind)})
        mixed = pd.DataFrame({"x": pd.Series([*values * 50, odd], dtype=kind)})
        extra = encoded(mixed, schema) - encoded(plain, schema)
        assert extra.total() == 1
        assert encoded(mixed, schema) - extra == encoded(plain, schema)
