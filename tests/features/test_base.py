"""Every feature map: its bound before and after the grid, its cells, its expectation; and what a plain map does not have."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from tests.fixtures.maps import FOURIER, MAPS, SIZES, batches, products

from pointillist.curator.clipping import quantise
from pointillist.features import FeatureMap, Products, Records
from pointillist.features.base import MAPS as REGISTERED
from pointillist.features.soft_records import SoftRecords
from pointillist.privacy.grid import Grid


class Plain(FeatureMap):
    """A map with no more than it must have."""

    dimension, bound, nonnegative, parts = 1, 1.0, True, ()

    def __call__(self, records: Records) -> np.ndarray:
        return np.ones((records.rows, 1))

    def expectation(self, products: Products) -> np.ndarray:
        return np.ones((products.count, 1))

    def describe(self) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize("name", MAPS)
@given(batch=batches())
def test_norms_stay_within_the_bound(name: str, batch: Records) -> None:
    features = MAPS[name](batch)
    assert features.shape == (batch.rows, MAPS[name].dimension)
    assert (np.linalg.norm(features, axis=1) <= MAPS[name].bound * (1 + 1e-12)).all()
    if MAPS[name].nonnegative:
        assert (features >= 0).all()


@pytest.mark.parametrize("name", MAPS)
@given(batch=batches())
def test_integer_norms_stay_within_the_limit_on_the_grid(name: str, batch: Records) -> None:
    grid = Grid.dense(MAPS[name].dimension)
    values = quantise(MAPS[name](batch) / max(1.0, MAPS[name].bound), grid)
    assert all(sum(int(v) ** 2 for v in row) <= grid.squared_norm for row in values)


@pytest.mark.parametrize("name", [name for name, m in MAPS.items() if m.indicator])
@given(batch=batches())
def test_cells_say_where_the_one_is(name: str, batch: Records) -> None:
    features, cells = MAPS[name](batch), MAPS[name].cells(batch)
    assert (features.sum(axis=1) == 1).all()
    assert (features[np.arange(batch.rows), cells] == 1).all()


def test_maps_that_are_no_indicators_have_no_cells() -> None:
    with pytest.raises(TypeError, match="not an indicator"):
        FOURIER.cells(Records(0, {}, {}))


@pytest.mark.parametrize("name", MAPS)
def test_expectations_are_what_sampling_gives(name: str) -> None:
    """400,000 draws: a feature in [-1, 1] has standard error at most 0.0016, so 0.01 fails less than once in 1e9."""
    distribution = products(2, seed=11)
    rng = np.random.default_rng(12)
    count = 400_000
    expected = MAPS[name].expectation(distribution)
    assert expected.shape == (2, MAPS[name].dimension)
    for k in range(2):
        drawn = {n: rng.choice(p.shape[1], count, p=p[k]) for n, p in distribution.probabilities.items()}
        position = {}
        for column, (low, high) in distribution.spans.items():
            level = drawn[column]
            position[column] = low[level] + rng.random(count) * (high - low)[level]
        batch = Records(count, {n: drawn[n].astype(np.uint16) for n in SIZES}, position)
        np.testing.assert_allclose(MAPS[name](batch).mean(axis=0), expected[k], atol=0.01)


def test_a_plain_map_is_one_block_and_one_factor_and_has_no_soft_form() -> None:
    plain = Plain()
    assert plain.blocks(0.5) == [(plain, 0.5)]
    assert plain.factors == (plain,)
    assert plain.leaves == (plain,)
    assert plain.lookup is None
    assert not plain.has_soft
    with pytest.raises(TypeError, match="Plain has no soft form"):
        plain.soft(SoftRecords(1))
    with pytest.raises(TypeError, match="Plain cannot be read from a file"):
        Plain.from_description({}, ())


def test_every_registered_map_reads_itself_and_says_what_it_is() -> None:
    assert len(REGISTERED) >= 22
    for kind in REGISTERED.values():
        assert kind.from_description.__func__ is not FeatureMap.from_description.__func__
        assert kind.__doc__
