"""Trends: scores agree as much as they are pulled to, and nothing else changes: no column of a component, no tile."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pointillist.generators.trends import FAR, Trends, normal_ends, normal_means

SIZES = [11, 3, 11]
"""Tiles of three columns; the second has no order, the last tile of the third neither."""


def trends(pull: float, correlation: float) -> Trends:
    ends = [normal_ends(np.full(11, 1 / 11), np.arange(11)), normal_ends(np.full(11, 1 / 11), np.arange(10))]
    ties = np.array([[0.0, 1.0], [1.0, 0.0]])
    low, high = (tuple(each[side] for each in ends) for side in (0, 1))
    return Trends(np.array([0, 2]), low, high, pull * ties, np.eye(2) + correlation * ties)


def rows(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    tiles = np.stack([rng.integers(size, size=count) for size in SIZES], axis=1).astype(np.int32)
    return tiles, np.sort(rng.integers(7, size=count))


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=20).filter(lambda shares: sum(shares) > 0.1), st.integers(0, 3))
def test_ends_cover_the_normal_variable_in_order(shares: list[float], unordered: int) -> None:
    ordered = len(shares)
    low, high = normal_ends(np.array(shares + [0.5] * unordered), np.arange(ordered))
    assert low[0] == -FAR
    assert high[ordered - 1] == FAR
    assert (low[1:ordered] == high[: ordered - 1]).all()
    assert (low[ordered:] == -FAR).all()
    assert (high[ordered:] == FAR).all()
    mass = np.array(shares) / sum(shares)
    np.testing.assert_allclose(stats.norm.cdf(high[:ordered]) - stats.norm.cdf(low[:ordered]), mass, atol=1e-9)
    assert mass @ normal_means(low, high)[:ordered] == pytest.approx(0, abs=1e-6)


def test_tiles_may_stand_in_another_order_than_their_numbers() -> None:
    """A special value below all bins comes first."""
    low, high = normal_ends(np.array([0.25, 0.25, 0.5]), np.array([2, 0, 1]))
    assert low.tolist() == pytest.approx([0.0, stats.norm.ppf(0.75), -FAR])
    assert high.tolist() == pytest.approx([stats.norm.ppf(0.75), FAR, 0.0])


def test_the_mean_of_half_a_normal_variable() -> None:
    means = normal_means(np.array([0.0, -np.inf, 3.0]), np.array([np.inf, np.inf, 3.0]))
    assert means.tolist() == pytest.approx([np.sqrt(2 / np.pi), 0.0, 0.0])


@pytest.mark.parametrize("pull", [-0.5, 0.0, 0.3, 2.0])
def test_exchanges_follow_the_pull_and_keep_every_column_of_a_component(pull: float) -> None:
    """5,000 rows: chance moves a correlation by 0.014, and tiles stand for parts of a normal variable: 0.12 allows both."""
    rng = np.random.default_rng(0)
    tiles, component = rows(5_000, rng)
    before, own = tiles.copy(), trends(pull, 0.0)
    own.exchange(tiles, component, rng)
    scores = [own.scores[number][tiles[:, column]] for number, column in enumerate((0, 2))]
    found = np.corrcoef(*scores)[0, 1]
    if pull == 0:
        assert (tiles == before).all()
    else:
        # Two normal variables with density exp(pull x y): their correlation r has pull = r / (1 - r^2).
        expected = (np.sqrt(1 + 4 * pull**2) - 1) / (2 * pull)
        assert found == pytest.approx(expected, abs=0.12)
        assert np.sign(found) == np.sign(pull)
    assert (tiles[:, 1] == before[:, 1]).all()
    for each in range(7):
        mine = component == each
        assert (np.sort(tiles[mine], axis=0) == np.sort(before[mine], axis=0)).all()


def test_places_lie_in_their_tiles_and_are_correlated_in_the_tails() -> None:
    """Of rows in the highest tile of both columns, who is higher in one is higher in the other."""
    rng = np.random.default_rng(1)
    tiles, _ = rows(4_000, rng)
    own = trends(0.0, 0.9)
    places = own.places(tiles, rng)
    assert sorted(places) == [0, 2]
    for number, column in enumerate((0, 2)):
        assert (own.low[number][tiles[:, column]] <= places[column] + 1e-9).all()
        assert (places[column] <= own.high[number][tiles[:, column]] + 1e-9).all()
    both = np.full((4_000, 3), 9, dtype=np.int32)
    both[:, 0] = 10
    apart = trends(0.0, 0.0)
    assert apart.places(both, rng) == {}
    far = own.places(both, rng)
    assert np.corrcoef(far[0], far[2])[0, 1] > 0.3


def test_they_are_stored_and_read() -> None:
    own = trends(0.7, 0.4)
    again = Trends.from_arrays(own.to_arrays(), SIZES)
    for name, values in own.to_arrays().items():
        assert again.to_arrays()[name].tolist() == values.tolist()
        assert np.isfinite(values).all()  # files hold numbers alone


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("trends.columns", np.array([0, 3])),
        ("trends.columns", np.array([0, 0])),
        ("trends.pull", np.full((2, 2), np.nan)),
        ("trends.pull", np.zeros((3, 3))),
        ("trends.pull", np.eye(2)),
        ("trends.pull", np.array([[0.0, 1.0], [2.0, 0.0]])),
        ("trends.of", np.array([[1.0, 2.0], [2.0, 1.0]])),
        ("trends.of", np.zeros((2, 2))),
        ("trend.0.low", np.zeros(4)),
        ("trend.1.high", np.full(11, np.inf)),
        ("trend.1.high", np.full(11, -50.0)),
    ],
)
def test_a_file_that_is_not_sound_is_refused(name: str, value: np.ndarray) -> None:
    with pytest.raises(ValueError, match="trends"):
        Trends.from_arrays({**trends(0.7, 0.4).to_arrays(), name: value}, SIZES)
