"""Design matrices: every number where the models expect it."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.evaluate.tables.design_matrix import gapless, narrow, scales, wide
from pointillist.evaluate.tables.sample import Sample, read


@pytest.fixture
def sample(schema: pt.Schema, people: Callable[..., pa.Table]) -> Sample:
    return read(people(500, 3), schema)


def test_wide() -> None:
    schema = pt.Schema(
        name="d",
        columns={
            "k": pt.Categorical(categories=("a", "b"), missing=False, out_of_domain="error"),
            "o": pt.Ordinal(categories=("low", "mid", "high")),
            "n": pt.Integer(min=0, max=10, special=(-1,)),
        },
    )
    table = pa.table({"k": ["a", "b", "b"], "o": ["mid", "high", None], "n": [5, -1, None]})
    found = wide(read(table, schema), ("k", "o", "n"))
    # k: a, b; o: place, other, missing; n: place, -1, missing
    assert found.tolist() == [
        [1, 0, 0.5, 0, 0, 0.5, 0, 0],
        [0, 1, 1.0, 0, 0, 0, 1, 0],
        [0, 1, 0, 0, 1, 0, 0, 1],
    ]
    assert wide(read(table, schema), ("n",)).shape == (3, 3)


def test_narrow(sample: Sample) -> None:
    found = narrow(sample, ("income", "sex"))
    np.testing.assert_array_equal(found[:, 0], sample.values("income"))
    assert found[:, 1].tolist() == sample.codes("sex").tolist()


def test_gapless(sample: Sample) -> None:
    found, gaps = gapless(sample, ("income", "sex")), sample.missing("income")
    assert gaps.any()
    np.testing.assert_array_equal(found[~gaps], narrow(sample, ("income", "sex"))[~gaps])
    assert (found[gaps, 0] < -1e20).all()
    assert np.isfinite(found.astype(np.float32)).all()  # forests compute in single precision


def test_scales_give_every_column_the_same_weight(sample: Sample) -> None:
    scaled = wide(sample, sample.columns) * scales(sample, sample.columns)
    widths = [wide(sample, (name,)).shape[1] for name in sample.columns]
    for block in np.split(scaled, np.cumsum(widths)[:-1], axis=1):
        assert block.var(axis=0).sum() == pytest.approx(1.0)


def test_a_constant_column_has_no_infinite_scale() -> None:
    schema = pt.Schema(name="c", columns={"x": pt.Integer(min=0, max=9)})
    constant = read(pa.table({"x": [3, 3]}), schema)
    assert np.isfinite(scales(constant, ("x",))).all()
