"""The flat map: the real rows' own axes, the same every time."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.evaluate.tables.metrics.projection import projection
from pointillist.evaluate.tables.sample import Sample, read


@pytest.fixture
def pair(schema: pt.Schema, people: Callable[..., pa.Table]) -> tuple[Sample, Sample]:
    return read(people(600, 1), schema), read(people(400, 2), schema)


def numbers(**columns: list[float]) -> Sample:
    schema = pt.Schema(name="n", columns={name: pt.Real(min=0, max=1, missing=False) for name in columns})
    return read(pa.table(columns), schema)


def test_shapes(pair: tuple[Sample, Sample]) -> None:
    found = projection(*pair, most_rows=500)
    assert found.real.shape == (500, 2)
    assert found.synthetic.shape == (400, 2)
    assert np.isfinite(found.real).all()
    assert 1 >= found.variance[0] >= found.variance[1] > 0
    assert found.to_json()["rows"] == [500, 400]
    assert set(found.to_json()) == {"variance", "rows"}  # points are rows: they stay here
    assert found.table().num_rows == 900


def test_the_same_every_time(pair: tuple[Sample, Sample]) -> None:
    first, second = projection(*pair, most_rows=100), projection(*pair, most_rows=100)
    np.testing.assert_array_equal(first.real, second.real)
    np.testing.assert_array_equal(first.synthetic, second.synthetic)
    assert not np.array_equal(first.real, projection(*pair, most_rows=100, seed=1).real)


def test_axes_are_principal_components(pair: tuple[Sample, Sample]) -> None:
    """Centred, uncorrelated, and with the stated share of the variance: one for each of the six columns."""
    found = projection(*pair)
    np.testing.assert_allclose(found.real.mean(axis=0), 0, atol=1e-9)
    spread = np.cov(found.real, rowvar=False, bias=True)
    assert spread[0, 1] == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(np.diag(spread) / 6, found.variance, rtol=1e-6)


def test_the_axis_along_which_rows_vary() -> None:
    x = np.linspace(0, 1, 50)
    real = numbers(a=x.tolist(), b=x.tolist(), c=np.tile([0.0, 1.0], 25).tolist())
    made = numbers(a=[0.0, 1.0], b=[0.0, 1.0], c=[0.5, 0.5])
    found = projection(real, made)
    assert found.variance[0] == pytest.approx(2 / 3, abs=0.02)
    assert abs(found.synthetic[0, 0] - found.synthetic[1, 0]) > 4


def test_the_sign_of_an_axis_is_fixed() -> None:
    """Rows with larger numbers lie to the right, whichever way the eigenvectors point."""
    rng = np.random.default_rng(0)
    for seed in range(8):
        x = rng.random(30)
        real = numbers(**{name: np.clip(x + 0.05 * rng.random(30), 0, 1).tolist() for name in "abcd"[: 2 + seed % 3]})
        found = projection(real, real)
        assert np.corrcoef(found.real[:, 0], x)[0, 1] > 0.9


def test_a_single_column() -> None:
    found = projection(numbers(a=[0.0, 0.5, 1.0]), numbers(a=[0.5]))
    assert found.variance == pytest.approx((1.0, 0.0))
    assert found.real[:, 1].tolist() == [0, 0, 0]
    assert found.synthetic[0].tolist() == pytest.approx([0, 0])


def test_constant_columns() -> None:
    found = projection(numbers(a=[0.3] * 9, b=np.linspace(0, 1, 9).tolist()), numbers(a=[0.3, 0.9], b=[0.0, 1.0]))
    assert found.variance[0] == pytest.approx(1.0)
    assert np.abs(found.real).max() < 2
    constant = projection(numbers(a=[0.3] * 4, b=[0.6] * 4), numbers(a=[0.3], b=[0.6]))
    assert constant.variance == (0.0, 0.0)
    np.testing.assert_allclose(constant.real, 0, atol=1e-6)


@pytest.mark.parametrize("rows", [1, 2])
def test_hardly_any_rows(rows: int, pair: tuple[Sample, Sample]) -> None:
    few = pair[0].take(np.arange(rows))
    assert np.isfinite(projection(few, pair[1]).real).all()
    assert projection(pair[0], few).synthetic.shape == (rows, 2)


def test_other_schemas_are_refused(pair: tuple[Sample, Sample]) -> None:
    with pytest.raises(UsageError, match="different schemas"):
        projection(pair[0], numbers(a=[0.1]))
