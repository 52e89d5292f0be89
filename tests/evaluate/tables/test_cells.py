"""Cells: a value each where there are few, equal mass where there are many, whatever the schema's bounds are."""

import numpy as np
import pyarrow as pa

import pointillist as pt
from pointillist.evaluate.tables.cells import Cells, cells, tiles
from pointillist.evaluate.tables.sample import read

WIDE = pt.Schema(name="wide", columns={"x": pt.Real(min=-1e6, max=1e6)})


def of(real: list[float | None], made: list[float | None]) -> Cells:
    return cells(*(read(pa.table({"x": pa.array(each, pa.float64())}), WIDE) for each in (real, made)), "x")


def test_few_values_stand_each_by_itself() -> None:
    found = of([1.0, 2.0, 3.0, None] * 20, [1.0, 2.0, 2.5, 3.0, 0.0, 9.0, None])
    assert found.by_value
    one, two, three, gap = found.real[:4]
    assert found.synthetic[[0, 1, 3, 6]].tolist() == [one, two, three, gap]
    strange = found.synthetic[[2, 4, 5]].tolist()  # between, below and above: no real row is there
    assert not set(strange) & set(found.real.tolist())
    assert len(set(strange)) == 3
    assert max(found.real.max(), found.synthetic.max()) < found.size


def test_many_values_stand_in_parts_of_equal_mass() -> None:
    rng = np.random.default_rng(0)
    real = rng.lognormal(0, 2, 6_400)
    found = of(real.tolist(), [*real[:3_200].tolist(), -5.0, 1e5])
    assert not found.by_value
    counts = np.bincount(found.real, minlength=found.size)
    assert set(counts[counts > 0].tolist()) <= {199, 200, 201}
    assert not set(found.synthetic[-2:].tolist()) & set(found.real.tolist())


def test_a_heavy_value_stands_alone() -> None:
    values = [0.0] * 3_000 + np.linspace(1, 2, 3_000).tolist()
    found = of(values, [0.0, 0.5, 1.0])
    assert np.count_nonzero(found.real == found.synthetic[0]) == 3_000
    assert found.synthetic[1] != found.synthetic[0]


def test_a_handful_of_rows_is_a_sample_of_many_values() -> None:
    rng = np.random.default_rng(0)
    found = of(rng.random(50).tolist(), rng.random(50).tolist())
    assert not found.by_value
    assert len(np.unique(found.real)) <= 5


def test_no_values_at_all() -> None:
    found = of([None, None], [None, 1.0])
    assert found.real[0] == found.real[1] == found.synthetic[0] != found.synthetic[1]


def test_tiles_of_very_many_categories_join_the_rarest() -> None:
    names = tuple(f"c{number}" for number in range(400))
    schema = pt.Schema(name="many", columns={"k": pt.Categorical(categories=names, missing=False)})
    sample = read(pa.table({"k": [*names, *names[:299]]}), schema)
    found = tiles(sample, sample, "k", 10)
    assert found.size == 300
    assert np.bincount(found.real).tolist() == [2] * 299 + [101]
