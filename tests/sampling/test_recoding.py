"""Recoding: what decoding made goes back to the levels that it came from."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

import pointillist as pt
from pointillist.sampling.decoding import decode
from pointillist.sampling.recoding import numbers_of, recode
from pointillist.schema.levels import levels_of


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


def test_recoding_undoes_decoding(schema: pt.Schema) -> None:
    """Every level of every kind of column, many times. Rounding may carry a number into the next bin, so there is none."""
    rng = np.random.default_rng(0)
    exact = {**schema.columns, "income": pt.Real(min=1, max=100_000, special=(0.0,), scale="log")}
    second = {"time": pt.Datetime(min="2020-01-01", max="2020-01-03", resolution="second")}
    for levels in levels_of(pt.Schema(name="exact", columns={**exact, **second})):
        codes = rng.integers(0, levels.size, 3_000).astype(np.uint16)
        table = pa.table({levels.name: decode(levels, codes, rng)})
        assert recode(levels, table[levels.name]).tolist() == codes.tolist()
