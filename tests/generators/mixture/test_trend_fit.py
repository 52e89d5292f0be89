"""Trends that are found: what measured tables show beyond noise comes back, noise alone does not."""

import numpy as np
import pytest
from scipy import stats

from pointillist.features import OneHot, Score, ScoreProducts, Tiles
from pointillist.fitting.evidence import Evidence, ScoreSums, Table
from pointillist.generators.mixture import trend_fit
from pointillist.generators.mixture.trend_fit import TrendFit, fit_trends, tile_order, tilted
from pointillist.generators.trends import Trends

ROWS, TILES = 10_000.0, 16
BASE = {name: OneHot(name, TILES) for name in "ab"}
FLAT = {name: np.full((1, TILES), 1 / TILES) for name in "ab"}
ORDER = {name: np.arange(TILES) for name in "ab"}
EDGES = stats.norm.ppf(np.arange(TILES + 1) / TILES)


def table(correlation: float) -> np.ndarray:
    """Shares of normal variables in tiles of equal mass."""
    between = stats.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]])
    ends = np.clip(EDGES, -9, 9)
    below = between.cdf(np.stack(np.meshgrid(ends, ends, indexing="ij"), axis=-1))
    return np.maximum(np.diff(np.diff(below, axis=0), axis=1), 0.0)


def fitted(values: np.ndarray, sigma: float, joined: int = 1) -> TrendFit:
    """What a table shows; of so many tiles each of its own is made."""
    leaves = tuple(Tiles(name, tuple(tile // joined for tile in range(TILES))) for name in "ab")
    shape = (TILES // joined, joined)
    found = fit_trends(
        Evidence(ROWS, (Table(leaves, values.reshape(*shape, *shape).sum(axis=(1, 3)), sigma),)),
        BASE, ORDER, np.ones(1), FLAT, seed=0,
    )  # fmt: skip
    assert found is not None
    return found


def found(values: np.ndarray, sigma: float) -> Trends:
    return fitted(values, sigma).trends


def test_a_correlation_comes_out_of_noise_that_hides_every_cell() -> None:
    """39 rows a cell and noise of 40: the correlation's own noise is 40 x 16 / 10,000, so 0.2 is three of that."""
    noisy = ROWS * table(0.7) + 40 * np.random.default_rng(0).standard_normal((TILES, TILES))
    trends = found(noisy, 40.0)
    assert trends.correlations[0, 1] == pytest.approx(0.7, abs=0.2)
    assert trends.pull[0, 1] == pytest.approx(0.7 / (1 - 0.49), rel=0.6)


def test_a_table_of_coarser_tiles_shows_the_same_correlation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trend_fit, "_SWEEPS", 1)
    assert fitted(ROWS * table(0.6), 1.0, joined=4).trends.correlations[0, 1] == pytest.approx(0.6, abs=0.03)


def test_readings_count_by_their_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """A noisy table shows nothing, and a product of scores says the same much more precisely: nothing is tilted."""
    monkeypatch.setattr(trend_fit, "_SWEEPS", 1)
    halves = tuple(Score(name, (-1,) * (TILES // 2) + (1,) * (TILES // 2)) for name in "ab")
    sums = ScoreSums(ScoreProducts(halves, ((0, 1),)), None, np.array([[0.0]]), 20.0)
    noisy = Table((BASE["a"], BASE["b"]), ROWS * table(0.5), 70.0)  # 0.5 is more than four of its own noises
    for scores, tilts in (((), 1), ((sums,), 0)):
        within = {name: np.ones(TILES) for name in "ab"}
        trended = fit_trends(Evidence(ROWS, (noisy,), scores), BASE, ORDER, np.ones(1), FLAT, seed=0, within=within)
        assert trended is not None
        assert len(trended.tilts) == tilts


def test_noise_alone_ties_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """In 20 tables of noise alone the correlation is at most half of its noise on average: what chance shows is shrunk."""
    monkeypatch.setattr(trend_fit, "_SWEEPS", 1)  # the pull is of no interest here
    rng = np.random.default_rng(1)
    noise = 40 * TILES / ROWS
    seen = [
        found(ROWS * table(0.0) + 40 * rng.standard_normal((TILES, TILES)), 40.0).correlations[0, 1] for _ in range(20)
    ]
    assert np.mean(np.abs(seen)) < 0.5 * noise


@pytest.mark.parametrize(("sigma", "low", "high"), [(200.0, 0.5, 0.85), (20_000.0, -0.01, 0.01)])
def test_a_product_of_scores_ties_columns_without_a_table(sigma: float, low: float, high: float) -> None:
    """The halves of two normal variables: of 10,000 rows, 2 / pi x asin 0.7 more agree. Noise of twice the rows hides it."""
    halves = tuple(Score(name, (-1,) * (TILES // 2) + (1,) * (TILES // 2)) for name in "ab")
    agree = ROWS * 2 / np.pi * np.arcsin(0.7)
    sums = ScoreSums(ScoreProducts(halves, ((0, 1),)), None, np.array([[agree]]), sigma)
    evidence = Evidence(ROWS, (), (sums,))
    within = {name: np.ones(TILES) for name in "ab"}
    trended = fit_trends(evidence, BASE, ORDER, np.ones(1), FLAT, seed=0, within=within)
    assert low < (0.0 if trended is None else trended.trends.correlations[0, 1]) < high


def test_a_column_that_came_out_constant_is_not_tied() -> None:
    base = {**BASE, "c": OneHot("c", 2)}
    tables = {**FLAT, "c": np.array([[1.0, 0.0]])}
    measured = Evidence(
        ROWS,
        (
            Table((base["a"], base["b"]), ROWS * table(0.7), 1.0),
            Table((base["a"], base["c"]), np.outer(np.full(TILES, ROWS / TILES), [0.99, 0.01]), 1.0),
        ),
    )
    trended = fit_trends(measured, base, {**ORDER, "c": np.arange(2)}, np.ones(1), tables, seed=0)
    assert trended is not None
    trends = trended.trends
    assert list(trends.columns) == [0, 1]
    assert np.isfinite(trends.correlations).all()
    assert trends.correlations[0, 1] == pytest.approx(0.7, abs=0.05)


def test_nothing_is_tied_without_a_table() -> None:
    assert fit_trends(Evidence(ROWS, ()), BASE, ORDER, np.ones(1), FLAT, seed=0) is None
    pairs = Evidence(ROWS, (Table((BASE["a"], BASE["b"]), ROWS * table(0.5), 1.0),))
    assert fit_trends(pairs, BASE, {"a": ORDER["a"]}, np.ones(1), FLAT, seed=0) is None


def test_a_column_of_one_value_is_tied_to_nothing() -> None:
    still = {**FLAT, "b": np.eye(TILES)[:1]}
    evidence = Evidence(ROWS, (Table((BASE["a"], BASE["b"]), ROWS * table(0.5), 1.0),))
    assert fit_trends(evidence, BASE, ORDER, np.ones(1), still, seed=0) is None


@pytest.mark.parametrize("correlation", [-0.6, 0.3, 0.9])
def test_tables_are_tilted_to_the_normal_ones_and_keep_their_marginals(
    correlation: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trend_fit, "_SWEEPS", 1)
    trended = fitted(ROWS * table(correlation), 0.1)
    pairs = np.full((2 * TILES, 2 * TILES), 1 / TILES**2)
    moved = tilted(pairs, np.array([0, TILES]), trended.tilts)
    block = moved[:TILES, TILES:]
    assert (moved[TILES:, :TILES] == block.T).all()
    np.testing.assert_allclose(block.sum(axis=0), 1 / TILES, rtol=0.02)
    np.testing.assert_allclose(block.sum(axis=1), 1 / TILES, rtol=0.02)
    assert 0.5 * np.abs(block - table(correlation)).sum() < 0.05


def test_special_values_stand_where_they_lie() -> None:
    """Two tiles of bins 0 to 3, atoms at -1 and 2.9, and what is missing."""
    tiles = Tiles("x", (0, 0, 1, 1, 2, 3, 4))
    within = np.array([0.5, 0.5, 0.9, 0.1, 1.0, 1.0, 1.0])
    positions = np.array([0.5, 1.5, 2.5, 3.5, -1.0, 2.9, np.nan])
    assert tile_order(tiles, within, positions).tolist() == [2, 0, 1, 3]
