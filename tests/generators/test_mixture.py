"""The mixture as a sampler: faithful and even."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pointillist.features import OneHot, Tiles
from pointillist.generators.drawing import draw, quota
from pointillist.generators.mixture import Mixture


def mixture_of(seed: int) -> Mixture:
    rng = np.random.default_rng(seed)
    tiles = {"a": Tiles("a", (0, 0, 1, 2, 1)), "b": OneHot("b", 3)}
    tables = {n: rng.dirichlet(np.ones(t.dimension), 6) for n, t in tiles.items()}
    within = {"a": np.array([0.25, 0.75, 0.5, 1.0, 0.5]), "b": np.ones(3)}
    return Mixture(rng.dirichlet(np.ones(6)), tiles, tables, within)


def test_samples_follow_the_mixture() -> None:
    """400,000 rows; cell shares within 0.005, over six standard errors."""
    mixture = mixture_of(0)
    codes = mixture.sample(400_000, np.random.default_rng(1))
    tile = np.einsum("k,ka,kb->ab", mixture.weights, mixture.tables["a"], mixture.tables["b"])
    level = tile[mixture.tiles["a"].table] * mixture.within["a"][:, None]
    counted = np.bincount(codes["a"].astype(int) * 3 + codes["b"], minlength=15).reshape(5, 3) / 400_000
    np.testing.assert_allclose(counted, level, atol=0.005)


@given(count=st.integers(0, 300), seed=st.integers(0, 1000))
def test_any_number_of_rows_can_be_sampled(count: int, seed: int) -> None:
    codes = mixture_of(seed).sample(count, np.random.default_rng(seed))
    assert {n: len(c) for n, c in codes.items()} == {"a": count, "b": count}
    assert (codes["a"] < 5).all()
    assert (codes["b"] < 3).all()


@given(
    weights=st.lists(st.floats(0.01, 1), min_size=1, max_size=20), count=st.integers(1, 500), seed=st.integers(0, 99)
)
def test_quota_sampling_gives_every_component_its_share_to_within_one(
    weights: list[float], count: int, seed: int
) -> None:
    shared = np.array(weights) / sum(weights)
    drawn = np.bincount(quota(shared, count, np.random.default_rng(seed)), minlength=len(weights))
    assert drawn.sum() == count
    assert (np.abs(drawn - count * shared) < 1 + 1e-6).all()


def test_levels_without_mass_are_never_sampled() -> None:
    mixture = mixture_of(0)
    within = {**mixture.within, "a": np.array([0.0, 1.0, 1.0, 1.0, 0.0])}
    codes = Mixture(mixture.weights, mixture.tiles, mixture.tables, within).sample(50_000, np.random.default_rng(0))
    assert not np.isin(codes["a"], [0, 4]).any()


@given(count=st.integers(0, 400), seed=st.integers(0, 99))
def test_what_a_row_of_a_table_shares_out_is_shared_evenly(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(5), 3)
    rows = rng.integers(0, 3, count)
    drawn = draw(table, rows, rng)
    for row in range(3):
        held = np.bincount(drawn[rows == row], minlength=5)
        assert (np.abs(np.cumsum(held) - np.cumsum(table[row]) * held.sum()) < 1 + 1e-6).all()
