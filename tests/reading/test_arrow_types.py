"""Arrow types: which hold one plain value a row."""

import pyarrow as pa
import pytest

from pointillist.reading.arrow_types import odd_family, unknown_to_duckdb, without_runs


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.string(), pa.bool_(), pa.timestamp("ns", "UTC"), pa.decimal128(9, 2),
     pa.dictionary(pa.int8(), pa.string()),
     pa.run_end_encoded(pa.int32(), pa.string())],
    ids=str,
)  # fmt: skip
def test_plain_values(kind: pa.DataType) -> None:
    assert odd_family(kind) is None


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (pa.list_(pa.int8()), "lists"),
        (pa.map_(pa.string(), pa.int8()), "maps"),
        (pa.struct([("a", pa.int8())]), "structs"),
        (pa.binary(), "bytes"),
        (pa.month_day_nano_interval(), "intervals"),
        (pa.dictionary(pa.int8(), pa.large_binary()), "bytes"),
    ],
    ids=str,
)
def test_what_is_not_one_plain_value(kind: pa.DataType, words: str) -> None:
    assert odd_family(kind) == words


def test_runs_are_values_one_by_one() -> None:
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"])
    assert without_runs(runs).to_pylist() == ["a", "a", "b"]
    assert without_runs(pa.array([1])).to_pylist() == [1]


def test_columns_that_duckdb_cannot_take_over_are_named() -> None:
    kinds = pa.schema([("plain", pa.int64()), ("odd", pa.decimal256(50, 2))])
    assert unknown_to_duckdb(kinds) == ["odd"]
