"""Quantiles: right where they should be, wrong where they are off, and no alarm for chance."""

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.evaluate.tables.quantiles import SHARES, Quantiles, quantiles_of
from pointillist.evaluate.tables.sample import read

SCHEMA = pt.Schema(name="n", columns={"x": pt.Real(min=-1_000, max=1_000)})


def of(real: np.ndarray, made: np.ndarray) -> Quantiles | None:
    return quantiles_of(*(read(pa.table({"x": pa.array(each, pa.float64())}), SCHEMA) for each in (real, made)), "x")


def test_of_known_numbers() -> None:
    found = of(np.arange(1.0, 101.0), np.arange(2.0, 102.0))
    assert found is not None
    assert found.real == pytest.approx((5.0, 25.0, 50.0, 75.0, 95.0))
    assert found.synthetic == pytest.approx((6.0, 26.0, 51.0, 76.0, 96.0))
    assert found.shifts == (0.0,) * 5  # a hundred rows: chance explains a shift by one


@pytest.mark.parametrize(("factor", "worst"), [(0.5, 0.3), (1.5, 0.3)])
def test_tails_that_are_off(factor: float, worst: float) -> None:
    rng = np.random.default_rng(0)
    found = of(rng.normal(0, 10, 4_000), rng.normal(0, 10 * factor, 4_000))
    assert found is not None
    assert max(found.shifts) > worst
    assert SHARES[found.worst] in (0.05, 0.95)


def test_second_samples_are_where_chance_may_put_them() -> None:
    """Two standard deviations and 2 % of the rows: at 1,000 rows three in all, so at five quantiles 1 run in 70."""
    rng = np.random.default_rng(0)
    shifts = [max(each.shifts) for _ in range(20) if (each := of(*rng.normal(0, 1, (2, 1_000)))) is not None]
    assert max(shifts) < 0.1


def test_constant_and_empty_columns() -> None:
    same = of(np.full(50, 3.0), np.full(50, 4.0))
    assert same is not None
    assert same.shifts == (0.0,) * 5  # no spread to measure by: means and counts say it
    assert of(np.full(5, np.nan), np.ones(5)) is None
