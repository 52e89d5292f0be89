"""Dependence of pairs: nothing where there is none, one where a column settles another, the strongest pairs first."""

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.tables.dependence import Dependences, rank_correlation

import pointillist as pt
from pointillist.evaluate.tables.metrics.marginals import independent
from pointillist.evaluate.tables.sample import Sample, read

ROWS = 40_000


@pytest.fixture(scope="module")
def sample() -> Sample:
    rng = np.random.default_rng(0)
    x, noise = rng.random(ROWS), rng.random(ROWS)
    near = np.where(rng.random(ROWS) < 0.5, x, rng.random(ROWS))
    table = pa.table({"x": x, "near": near, "same": x, "noise": noise, "back": 1 - x})
    columns = {name: pt.Real(min=0, max=1, missing=False) for name in table.column_names}
    return read(table, pt.Schema(name="t", columns=columns))


def test_dependence_goes_from_independence_to_a_function(sample: Sample) -> None:
    found = Dependences(sample)
    normalised = dict(zip(found.pairs, found.distances / found.room, strict=True))
    assert normalised["x", "same"] == pytest.approx(1, abs=0.06)  # what chance alone would show is taken off
    assert normalised["x", "back"] == pytest.approx(1, abs=0.06)
    assert normalised["x", "near"] == pytest.approx(0.5, abs=0.07)
    assert normalised["x", "noise"] < 0.01


def test_the_strongest_pairs_come_first(sample: Sample) -> None:
    assert set(Dependences(sample).strongest(3)) == {("x", "same"), ("x", "back"), ("same", "back")}
    assert len(Dependences(sample).strongest(100)) == 10


def test_the_error_is_zero_for_itself_and_all_of_the_dependence_for_shuffled_columns(sample: Sample) -> None:
    found = Dependences(sample)
    assert found.error(sample) == 0.0
    lost = found.error(independent(sample, seed=0))
    assert lost == pytest.approx(np.mean(found.distances / found.room), abs=0.01)
    assert lost > 0.3


def test_columns_that_hardly_vary_do_not_blow_the_error_up() -> None:
    columns = {name: pt.Boolean(missing=False) for name in ("a", "b")}
    rare = np.arange(1_000) == 0
    one, other = (
        read(pa.table({"a": rare, "b": b}), pt.Schema(name="t", columns=columns)) for b in (rare, np.roll(rare, 1))
    )
    assert Dependences(one).error(other) < 0.05


def test_rank_correlation(sample: Sample) -> None:
    assert rank_correlation(sample, ("x", "same")) == pytest.approx(1)
    assert rank_correlation(sample, ("x", "back")) == pytest.approx(-1, abs=1e-3)
    assert abs(rank_correlation(sample, ("x", "noise"))) < 0.05
    assert rank_correlation(sample.take(np.zeros(5, dtype=int)), ("x", "near")) == 0.0
