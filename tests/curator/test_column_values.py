"""The different values of a column, and how many rows have each."""

import duckdb
import pytest

from pointillist.curator.column_values import ColumnValues


@pytest.fixture
def values() -> ColumnValues:
    rows = duckdb.sql("SELECT unnest(['1', '2', '2', '10', 'NA', ' ', NULL]) AS c")
    return ColumnValues.of(rows, "c", "VARCHAR", 7, lambda each: each)


def test_counts_are_of_rows_and_gaps_are_left_out(values: ColumnValues) -> None:
    assert (values.filled, values.distinct, values.missing) == (4, 3, True)
    assert values.ranked(1) == [("2", 2)]
    assert values.often("length(x)") == 1


def test_a_cast_joins_values_that_become_one(values: ColumnValues) -> None:
    lengths = values.cast("length(x)", "BIGINT")
    assert lengths.ranked(5) == [(1, 3), (2, 1)]
    found = values.cast("x::BIGINT", "BIGINT").numbers()
    assert (found.values.tolist(), found.often.tolist()) == ([1, 2, 10], [1, 2, 1])
    assert values.where("x <> '2'").filled == 2
