"""Tasks: what workers elsewhere do gives the bits of the local engine, and lets nothing private out."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixtures.passes import PEOPLE, SCHEMA, passes, table

from pointillist.curator.job import EmbeddingJob
from pointillist.engines import Partial
from pointillist.engines.tasks import Order, addresses, merged, opened
from pointillist.errors import DataError, SchemaError, UsageError
from pointillist.reading.opening import open_source


@settings(max_examples=8)
@given(st.integers(0, 40), st.integers(1, 4), st.integers(1, 5), st.integers(0, 9))
def test_parcels_of_any_cut_summed_where_they_meet_give_the_same_bits(
    rows: int, cuts: int, places: int, seed: int
) -> None:
    whole = table(rows, seed)
    (each, *_) = passes("hermite", PEOPLE, whole)
    job = EmbeddingJob(PEOPLE, each.feature_map, each.grid, "t")
    order = Order(job)
    sent: list[list[bytes]] = [[] for _ in range(places)]
    for part in range(cuts):
        piece = whole.take(pa.array(range(part, rows, cuts), pa.int64()))
        for place, parcel in order.parcels(iter(piece.to_batches()), places):
            sent[place].append(parcel)
    total = Partial.from_bytes(opened(merged([order.parcels_summed(parcels) for parcels in sent])))
    assert total.rows == each.rows
    np.testing.assert_array_equal(job.sums(total), each.sums)


def order_of(schema: Any) -> Order:
    (each, *_) = passes("hermite", schema, table(5))
    return Order(EmbeddingJob(schema, each.feature_map, each.grid, "the table"))


@pytest.mark.parametrize("schema", [SCHEMA, PEOPLE], ids=["rows", "persons"])
@pytest.mark.parametrize("error", [DataError("column 'a' is odd"), ValueError("SECRETVALUE")], ids=["ours", "other"])
def test_what_goes_wrong_comes_back_as_a_result(schema: Any, error: Exception) -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield from table(3).to_batches()
        raise error

    order = order_of(schema)
    if order.together:
        results = [order.parcels_summed([parcel for _, parcel in order.parcels(broken(), 1)])]
    else:
        results = [order.prepared_and_summed(broken())]
    with pytest.raises(DataError) as caught:
        opened(merged([*results, order.prepared_and_summed(iter(()))]))
    assert str(caught.value).startswith("column 'a' is odd" if "odd" in str(error) else "a worker of the pass failed")
    assert "SECRETVALUE" not in str(caught.value)


def test_kinds_of_errors_are_kept_and_others_are_of_the_data() -> None:
    for kind, expected in (("SchemaError", SchemaError), ("FactsFromDataWarning", DataError), ("os", DataError)):
        with pytest.raises(expected, match="text"):
            opened(b"-" + json.dumps([kind, "text"]).encode())


def test_another_version_is_refused() -> None:
    order = order_of(SCHEMA)
    order.version = "0.0.1"
    with pytest.raises(UsageError, match=r"the pass was started by 0\.0\.1. Install the same version"):
        opened(order.prepared_and_summed(iter(table(2).to_batches())))


def test_a_table_in_memory_has_no_address() -> None:
    with pytest.raises(UsageError, match="engine 'spark' works in other processes"):
        addresses([open_source(table(2))], "spark")
