"""Recoding: what decoding made goes back to the levels that it came from."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

import pointillist as pt
from pointillist.sampling.recoding import numbers_of, recode


def test_levels_come_back(schema: pt.Schema, random_model: Callable[..., pt.Model]) -> None:
    model = random_model(schema)
    table = model.sample_table(500, seed=1)
    for each in model.levels:
        codes = recode(each, table[each.name])
        assert codes.dtype == np.uint16
        again = recode(each, pa.chunked_array([table[each.name].combine_chunks()]))
        np.testing.assert_array_equal(codes, again)
        gaps = np.asarray(table[each.name].is_null())
        if each.has_missing:
            np.testing.assert_array_equal(codes == each.missing, gaps)
        if each.numeric:
            np.testing.assert_array_equal(np.isnan(numbers_of(each, table[each.name])), gaps)
        elif not each.has_other:
            named = np.array([*each.categories, None], dtype=object)[np.where(gaps, len(each.categories), codes)]
            assert named.tolist() == table[each.name].to_pylist()
