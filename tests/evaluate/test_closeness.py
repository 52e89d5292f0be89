"""Closeness: total variation over one and two columns, with its two yardsticks."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.evaluate.closeness import closeness, distance

cells = st.lists(st.integers(0, 5), min_size=1, max_size=40).map(lambda values: np.array(values, dtype=np.int64))


@given(first=cells, second=cells)
def test_distances_are_total_variations(first: np.ndarray, second: np.ndarray) -> None:
    expected = 0.5 * sum(abs(np.mean(first == cell) - np.mean(second == cell)) for cell in range(6))
    assert distance(first, second) == pytest.approx(expected)
    assert distance(first, second) == pytest.approx(distance(second, first))
    assert distance(first, first) == 0


def test_a_table_is_as_close_as_can_be_to_itself(schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
    table = people(20_000)
    result = closeness(table, table, schema)
    assert set(result.columns) == set(schema.columns)
    assert max(result.columns.values()) == 0
    assert result.pairs == 0
    assert 0 < result.pairs_sampling < result.pairs_independent < 1


def test_other_categories_and_shifted_numbers_show(schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
    table = people(2_000)
    shifted = table.set_column(3, "age", pa.array(np.zeros(2_000, dtype=np.int64)))
    shifted = shifted.set_column(0, "sex", pa.array(["female"] * 2_000))
    result = closeness(table, shifted, schema)
    assert result.columns["age"] > 0.9
    assert 0.4 < result.columns["sex"] < 0.6
    assert result.columns["income"] == 0
