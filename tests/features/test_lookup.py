"""Lookup: numpy's own answers, and no entry that the table has not."""

import numpy as np
import pytest

from pointillist.features.lookup import look_up


@pytest.mark.parametrize("kind", [np.uint16, np.int8])
@pytest.mark.parametrize("rows", [0, 1, 1000])
def test_entries_are_numpys(kind: type, rows: int) -> None:
    rng = np.random.default_rng(1)
    table, codes = rng.integers(0, 100, 50).astype(kind), rng.integers(0, 50, rows).astype(np.uint16)
    out = np.empty(rows, kind)
    look_up(table, codes, out)
    np.testing.assert_array_equal(out, table[codes])


@pytest.mark.parametrize(
    ("codes", "size"), [(np.array([0, 3], np.uint16), 2), (np.array([-1, 0], np.int64), 2), (np.zeros(2, np.uint16), 1)]
)
def test_a_level_that_is_none_is_refused(codes: np.ndarray, size: int) -> None:
    with pytest.raises(IndexError):
        look_up(np.zeros(3, np.uint16), codes, np.empty(size, np.uint16))
