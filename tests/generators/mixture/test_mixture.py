"""The mixture as a sampler: faithful and even."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.features import OneHot, Tiles
from pointillist.generators.held_tables import HeldTables, PairsByClass
from pointillist.generators.mixture.mixture import Mixture
from pointillist.generators.trends import Trends, normal_ends
from pointillist.sampling.exchanges import draw_records


def mixture_of(seed: int) -> Mixture:
    rng = np.random.default_rng(seed)
    tiles = {"a": Tiles("a", (0, 0, 1, 2, 1)), "b": OneHot("b", 3)}
    tables = {n: rng.dirichlet(np.ones(t.dimension), 6) for n, t in tiles.items()}
    within = {"a": np.array([0.25, 0.75, 0.5, 1.0, 0.5]), "b": np.ones(3)}
    return Mixture(rng.dirichlet(np.ones(6)), tiles, tables, within)


def test_samples_follow_the_mixture() -> None:
    """400,000 rows; cell shares within 0.005, over six standard errors."""
    mixture = mixture_of(0)
    codes = mixture.sample(400_000, np.random.default_rng(1)).codes
    tile = np.einsum("k,ka,kb->ab", mixture.weights, mixture.tables["a"], mixture.tables["b"])
    level = tile[mixture.tiles["a"].table] * mixture.within["a"][:, None]
    counted = np.bincount(codes["a"].astype(int) * 3 + codes["b"], minlength=15).reshape(5, 3) / 400_000
    np.testing.assert_allclose(counted, level, atol=0.005)


@given(count=st.integers(0, 300), seed=st.integers(0, 1000))
def test_any_number_of_rows_can_be_sampled(count: int, seed: int) -> None:
    codes = mixture_of(seed).sample(count, np.random.default_rng(seed)).codes
    assert {n: len(c) for n, c in codes.items()} == {"a": count, "b": count}
    assert (codes["a"] < 5).all()
    assert (codes["b"] < 3).all()


def test_levels_without_mass_are_never_sampled() -> None:
    mixture = mixture_of(0)
    within = {**mixture.within, "a": np.array([0.0, 1.0, 1.0, 1.0, 0.0])}
    codes = (
        Mixture(mixture.weights, mixture.tiles, mixture.tables, within).sample(50_000, np.random.default_rng(0)).codes
    )
    assert not np.isin(codes["a"], [0, 4]).any()


FLAGS = pt.Schema(name="flags", columns={name: pt.Boolean(missing=False) for name in ("a", "b", "parity", "d")})


def parity_mixture() -> Mixture:
    """Four columns of two tiles; the third is the parity of the first two, which no pair of columns shows."""
    first, second = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    columns = {"a": first, "b": second, "parity": first ^ second}
    tables = {name: np.eye(2)[values] for name, values in columns.items()} | {"d": np.full((4, 2), 0.5)}
    tiles = {name: OneHot(name, 2) for name in tables}
    return Mixture(np.full(4, 0.25), tiles, tables, {name: np.ones(2) for name in tables})


def parity_kept(mixture: Mixture) -> float:
    codes = draw_records(mixture, 20_000, np.random.default_rng(0)).codes
    return float(np.mean(codes["parity"] == codes["a"] ^ codes["b"]))


def holding(mixture: Mixture, *labels: int) -> Mixture:
    """The mixture with its own tables to hold: pairs, and pairs by each of some columns."""
    table = np.concatenate(list(mixture.tables.values()), axis=1)
    splits = []
    for label in labels:
        place_of = np.arange(8, dtype=np.int32)
        place_of[2 * label : 2 * label + 2] = -1
        kept = np.where(place_of >= 0, table, 0.0)
        shares = mixture.weights[:, None] * table[:, 2 * label : 2 * label + 2]
        wanted = np.stack([kept.T @ (share[:, None] * kept) for share in shares.T]).astype(np.float32)
        held = ~np.eye(4, dtype=bool)
        held[label] = held[:, label] = False
        splits.append(PairsByClass(label, np.arange(2, dtype=np.int32), place_of, wanted, held))
    pairs = (table.T @ (mixture.weights[:, None] * table)).astype(np.float32)
    return replace(mixture, held=HeldTables((2, 2, 2, 2), pairs, tuple(splits)))


def test_rows_stay_as_drawn_where_more_than_tables_was_measured() -> None:
    assert parity_kept(parity_mixture()) == 1.0


def test_rows_forget_what_pairs_do_not_hold() -> None:
    assert parity_kept(holding(parity_mixture())) < 0.9


def test_rows_keep_what_was_measured_by_a_target() -> None:
    assert parity_kept(holding(parity_mixture(), 2)) > 0.99


def test_a_condition_keeps_what_is_held() -> None:
    share, met = holding(parity_mixture(), 2).given({"d": np.array([1.0, 0.0])})
    assert share == pytest.approx(0.5)
    assert parity_kept(met) > 0.99
    assert not met.sample(1000, np.random.default_rng(0)).codes["d"].any()


def test_what_is_held_is_in_the_file() -> None:
    mixture = holding(parity_mixture(), 2, 0)
    again = Mixture.from_facts(*mixture.to_facts(), FLAGS)
    assert again.fits(FLAGS)
    assert mixture.held is not None
    assert again.held is not None
    np.testing.assert_array_equal(again.held.pairs, mixture.held.pairs)
    assert [each.label for each in again.held.by_class] == [2, 0]
    for one, other in zip(again.held.by_class, mixture.held.by_class, strict=True):
        for part in ("class_of", "place_of", "wanted", "held"):
            np.testing.assert_array_equal(getattr(one, part), getattr(other, part))


def tied() -> Mixture:
    """Two columns of eight tiles with four levels each, drawn apart by components and tied by a trend."""
    tiles = {name: Tiles(name, tuple(np.arange(32) // 4)) for name in "ab"}
    tables = {name: np.full((3, 8), 1 / 8) for name in "ab"}
    low, high = normal_ends(np.full(8, 1 / 8), np.arange(8))
    ties = np.array([[0.0, 1.0], [1.0, 0.0]])
    trends = Trends(np.array([0, 1]), (low, low), (high, high), 1.6 * ties, np.eye(2) + 0.73 * ties)
    return Mixture(np.full(3, 1 / 3), tiles, tables, {name: np.full(32, 0.25) for name in "ab"}, trends=trends)


def test_trends_tie_columns_and_change_none() -> None:
    """3,000 rows: chance moves a correlation by 0.018."""
    mixture = tied()
    codes = mixture.sample(3_000, np.random.default_rng(0)).codes
    assert np.corrcoef(codes["a"], codes["b"])[0, 1] > 0.6
    for values in codes.values():
        assert np.ptp(np.bincount(values, minlength=32)) <= 6
    inside = codes["a"] // 4 == 7
    inside &= codes["b"] // 4 == 7
    assert np.corrcoef(codes["a"][inside], codes["b"][inside])[0, 1] > 0.05
    apart = replace(mixture, trends=None).sample(3_000, np.random.default_rng(0)).codes
    assert abs(np.corrcoef(apart["a"], apart["b"])[0, 1]) < 0.1


def test_trends_stay_under_a_condition_and_in_a_file() -> None:
    mixture = tied()
    _, high = mixture.given({"a": (np.arange(32) >= 16).astype(float)})
    codes = high.sample(3_000, np.random.default_rng(0)).codes
    assert codes["a"].min() == 16
    assert np.corrcoef(codes["a"], codes["b"])[0, 1] > 0.3
    schema = pt.Schema(name="ab", columns={name: pt.Integer(min=0, max=31, missing=False) for name in "ab"})
    again = Mixture.from_facts(*mixture.to_facts(), schema)
    first, second = (each.sample(50, np.random.default_rng(1)).codes for each in (mixture, again))
    assert {name: values.tolist() for name, values in first.items()} == {n: v.tolist() for n, v in second.items()}
