"""A known mixture: the truth scores as it must, and what generators do wrong shows."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from pointillist.errors import DataError, UsageError
from pointillist.evaluate.research.known_mixture import DPMERF_GRID, KnownMixture
from pointillist.evaluate.tables.sample import read

ROWS = 20_000


def axes(table: pa.Table) -> np.ndarray:
    return np.stack([table["x1"].to_numpy(), table["x2"].to_numpy()], axis=1)


def moved(table: pa.Table, points: np.ndarray) -> pa.Table:
    return pa.table({"x1": points[:, 0], "x2": points[:, 1], "class": table["class"]})


def nearest(points: np.ndarray) -> np.ndarray:
    """The grid's means are the whole numbers from 0 to 4."""
    return np.clip(np.rint(points), 0, 4)


def test_the_truth_scores_its_entropy() -> None:
    """log 25 + log(2 pi 0.04) + 1 = 2.838 up to the overlap of neighbours, which takes off less than 0.005.

    A row's score has sd 1, so the mean of 90,000 has sd 0.0033: a false alarm needs 4.5 sd, a chance below 1e-5.
    """
    found = DPMERF_GRID.score(DPMERF_GRID.sample(seed=1))
    entropy = math.log(25) + math.log(2 * math.pi * 0.2**2) + 1
    assert found.rows == 90_000
    assert entropy == pytest.approx(2.838, abs=0.001)
    assert found.nll == pytest.approx(2.84, abs=0.015)
    assert found.truth is not None
    assert found.truth.nll == pytest.approx(entropy, abs=0.015)
    assert found.nll_papers_normaliser == pytest.approx(found.nll + 0.69, abs=0.001)
    assert found.spread_ratio == pytest.approx(1.0, abs=0.01)
    assert found.outside == pytest.approx(found.truth.outside, abs=0.002)
    assert found.dropped == ()
    for label, share in found.right_label.items():
        assert share == pytest.approx(found.truth.right_label[label], abs=0.01)


@given(st.lists(st.tuples(st.floats(-3, 8), st.floats(-3, 8), st.integers(0, 4)), min_size=1, max_size=8))
def test_the_likelihood_is_that_of_the_textbook(rows: list[tuple[float, float, int]]) -> None:
    table = pa.table(
        {"x1": [x for x, _, _ in rows], "x2": [y for _, y, _ in rows], "class": [str(c) for _, _, c in rows]}
    )
    logs = []
    for x, y, c in rows:
        parts = [
            weight * multivariate_normal.pdf((x, y), mean, 0.2**2)
            for mean, weight, label in zip(DPMERF_GRID.means, DPMERF_GRID.weights, DPMERF_GRID.labels, strict=True)
            if label == str(c)
        ]
        logs.append(-math.log(sum(parts)) if sum(parts) > 1e-290 else None)
    if None not in logs:
        assert DPMERF_GRID.score(table).nll == pytest.approx(np.mean(logs), rel=1e-6, abs=1e-6)


def test_the_grid_is_that_of_the_paper() -> None:
    assert len(DPMERF_GRID.means) == 25
    assert DPMERF_GRID.classes == ("0", "1", "2", "3", "4")
    assert all(DPMERF_GRID.labels.count(label) == 5 for label in DPMERF_GRID.classes)
    rows = np.array(DPMERF_GRID.labels).reshape(5, 5)
    assert all(len(set(line)) == 5 for line in (*rows, *rows.T))  # neighbours differ
    table = DPMERF_GRID.sample(1_000, seed=2)
    read(table, DPMERF_GRID.schema)
    assert table.equals(DPMERF_GRID.sample(1_000, seed=2))
    assert not table.equals(DPMERF_GRID.sample(1_000, seed=3))


@pytest.mark.parametrize(("left", "dropped"), [(0.0, True), (0.04, True), (0.18, False), (0.5, False)])
def test_a_dropped_mode_is_found_and_a_thin_one_is_not(left: float, dropped: bool) -> None:
    """Of about 800 due rows: none, 32, 144 or 400 left, against a line at 80, five sd or more away."""
    table = DPMERF_GRID.sample(ROWS, seed=4)
    points = axes(table)
    gone = (nearest(points) == (3, 1)).all(axis=1) & (np.random.default_rng(0).random(ROWS) >= left)
    found = DPMERF_GRID.score(table.filter(~gone))
    assert [each.mean for each in found.dropped] == ([(3.0, 1.0)] if dropped else [])
    assert found.nll == pytest.approx(2.84, abs=0.04)  # the likelihood alone does not see it


def test_a_mode_with_another_class_is_dropped_too() -> None:
    table = DPMERF_GRID.sample(ROWS, seed=5)
    points = axes(table)
    here = (nearest(points) == (0, 0)).all(axis=1)
    wrong = np.where(here, "1", table["class"].to_numpy(zero_copy_only=False))
    found = DPMERF_GRID.score(table.set_column(2, "class", pa.array(wrong)))
    assert [each.mean for each in found.dropped] == [(0.0, 0.0)]
    assert found.right_label["0"] == pytest.approx(0.8, abs=0.04)
    assert found.right_label["2"] == pytest.approx(0.98, abs=0.02)
    assert found.nll > 3


def test_too_little_spread_shows_though_the_likelihood_praises_it() -> None:
    table = DPMERF_GRID.sample(ROWS, seed=6)
    points = axes(table)
    centre = nearest(points)
    found = DPMERF_GRID.score(moved(table, centre + (points - centre) / 2))
    assert found.spread_ratio == pytest.approx(0.5, abs=0.03)
    assert found.truth is not None
    assert found.nll < found.truth.nll - 0.3
    assert found.dropped == ()
    shifted = DPMERF_GRID.score(moved(table, points + np.array([0.1, 0.0])))
    assert np.mean([each.offset for each in shifted.modes]) == pytest.approx(0.1, abs=0.03)
    assert shifted.spread_ratio == pytest.approx(1.0, abs=0.03)  # spread is about each cloud's own centre


def test_stray_rows_are_outside_and_far_ones_are_not_pulled_in() -> None:
    table = DPMERF_GRID.sample(1_000, seed=7)
    points = axes(table)
    points[:100] = (50.0, -50.0)
    found = DPMERF_GRID.score(moved(table, points))
    assert found.outside == pytest.approx(0.1, abs=0.02)
    assert found.nll > 0.1 * 0.5 * (46.0**2 + 50.0**2) / 0.2**2


def test_it_works_in_any_dimension() -> None:
    """One axis: the papers' normaliser is right there. Three axes: the entropy of a single Gaussian, sd 0.009."""
    line = KnownMixture(means=((0.0,), (10.0,)), std=1.0, weights=(0.25, 0.75), labels=("a", "b"), rows=10_000)
    found = line.score(line.sample())
    assert found.nll == found.nll_papers_normaliser
    assert [round(each.due, 2) for each in found.modes] == [0.25, 0.75]
    cube = KnownMixture(means=((0.0, 0.0, 0.0),), std=2.0, weights=(1.0,), labels=("a",), rows=20_000)
    assert cube.score(cube.sample()).nll == pytest.approx(1.5 * math.log(2 * math.pi * math.e * 4.0), abs=0.05)


def test_results_are_plain_json_and_a_table() -> None:
    found = DPMERF_GRID.score(DPMERF_GRID.sample(10, seed=8))  # so few rows that most modes have none
    facts = found.to_json()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert found.table().num_rows == 25
    assert facts["dropped"] == len(found.dropped) > 10
    assert set(found.table().column_names) >= {"mean_1", "mean_2", "label", "due", "share", "spread", "dropped"}


def test_mistakes_are_named() -> None:
    table = DPMERF_GRID.sample(100)
    with pytest.raises(DataError, match="'class'"):
        DPMERF_GRID.score(table.set_column(2, "class", pa.array(["9"] * 100)))
    with pytest.raises(DataError, match="'x1'"):
        DPMERF_GRID.score(table.set_column(0, "x1", pa.array([None] * 100, pa.float64())))
    with pytest.raises(DataError, match="x2"):
        DPMERF_GRID.score(table.select(["x1", "class"]))
    other = KnownMixture(means=((0.0, 0.0),), std=1.0, weights=(1.0,), labels=("a",), rows=10)
    with pytest.raises(UsageError, match="not those of this mixture"):
        DPMERF_GRID.score(read(other.sample(), other.schema))
    for wrong in ({"std": 0.0}, {"weights": (0.5,)}, {"labels": ()}, {"means": ((),)}, {"rows": 0}):
        with pytest.raises(UsageError):
            KnownMixture(
                **{"means": ((0.0,),), "std": 1.0, "weights": (1.0,), "labels": ("a",), "rows": 1, **wrong}  # type: ignore[arg-type]
            )
