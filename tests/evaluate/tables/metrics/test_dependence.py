"""The information coefficient: nothing where there is nothing, all where there is all, |rho| in between."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics.cluster import expected_mutual_information

import pointillist as pt
from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.tables.metrics.dependence import _by_chance, coefficient, dependence
from pointillist.evaluate.tables.metrics.marginals import independent
from pointillist.evaluate.tables.sample import Sample, read
from pointillist.evaluate.verdict import Point

tables = arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.integers(0, 30)).filter(
    lambda counts: counts.sum() > 0
)


def crossed(first: np.ndarray, second: np.ndarray) -> Floats:
    counts = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(counts, (first, second), 1)
    return counts


@given(tables)
def test_within_bounds_and_symmetric(counts: Floats) -> None:
    found = coefficient(counts)
    assert 0 <= found <= 1
    assert coefficient(counts.T) == pytest.approx(found, abs=1e-7)


@given(tables, st.randoms(use_true_random=False))
def test_names_of_categories_do_not_matter(counts: Floats, random: object) -> None:
    rows, columns = list(range(counts.shape[0])), list(range(counts.shape[1]))
    random.shuffle(rows)  # type: ignore[attr-defined]
    random.shuffle(columns)  # type: ignore[attr-defined]
    assert coefficient(counts[rows][:, columns]) == pytest.approx(coefficient(counts), abs=1e-7)


@given(tables)
def test_empty_levels_do_not_matter(counts: Floats) -> None:
    padded = np.pad(counts, ((1, 2), (0, 3)))
    assert coefficient(padded) == coefficient(counts)


@pytest.mark.parametrize(("rows", "levels", "others"), [(50, 2, 2), (500, 10, 3), (2_000, 1_000, 10), (300, 40, 7)])
def test_one_where_one_column_determines_the_other(rows: int, levels: int, others: int) -> None:
    column = np.random.default_rng(0).integers(0, levels, rows)
    assert coefficient(crossed(column, column % others)) == pytest.approx(1.0)
    assert coefficient(crossed(column % others, column)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("rows", "levels", "others"),
    [(200, 2, 2), (1_000, 10, 10), (20_000, 10, 10), (1_000, 50, 50), (2_000, 1_000, 10), (300, 100, 4)],
)
def test_none_where_columns_are_independent(rows: int, levels: int, others: int) -> None:
    """The mean of 30 squares stays below about three times its expectation, also where most cells are empty.

    A square is the positive part of something with mean 0 and a standard deviation of about sqrt(2 cells) / rows, so
    the bound lies more than five standard deviations above the mean of 30: a false alarm has a chance below 1 in
    100,000. With the usual correction for filled cells, the last three give squares of 0.4 to 0.9.
    """
    rng = np.random.default_rng(0)
    squares = [
        coefficient(crossed(rng.integers(0, levels, rows), rng.integers(0, others, rows))) ** 2 for _ in range(30)
    ]
    assert np.mean(squares) < 1.5 * np.sqrt(levels * others) / rows + 0.002
    assert np.count_nonzero(squares) < 29  # cut at 0 about every other time: (1/2)^30 that never


@pytest.mark.parametrize(("rows", "levels", "others"), [(100, 10, 10), (1_000, 50, 50), (2_000, 900, 10), (500, 3, 2)])
def test_chance_is_the_exact_mean_over_shuffles(rows: int, levels: int, others: int) -> None:
    """Against scikit-learn's sum over hypergeometric chances, to 3 %."""
    rng = np.random.default_rng(0)
    shares = [rng.dirichlet(np.ones(size)) for size in (levels, others)]
    counts = crossed(*(rng.choice(len(share), rows, p=share) for share in shares))
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    found = _by_chance(counts.sum(axis=1), counts.sum(axis=0))
    assert found == pytest.approx(expected_mutual_information(counts.astype(np.int64), rows), rel=0.03)


def test_an_identifier_is_not_called_dependent() -> None:
    """A column that is different in every row "determines" all others, and says nothing about them."""
    other = np.random.default_rng(0).integers(0, 4, 400)
    assert coefficient(crossed(np.arange(400), other)) == 0


def test_a_constant_column_depends_on_nothing() -> None:
    assert coefficient(np.array([[5.0, 7.0, 3.0]])) == 0
    assert coefficient(np.array([[5.0]])) == 0


NUMBERS = pt.Schema(
    name="numbers",
    columns={
        "x": pt.Real(min=-6, max=6, missing=False),
        "y": pt.Real(min=-6, max=6, missing=False),
        "k": pt.Categorical(categories=("n", "p"), missing=False, out_of_domain="error"),
        "z": pt.Real(min=1e-3, max=500, scale="log", special=(0.0,)),
    },
)


def numbers(rho: float, rows: int, seed: int = 0) -> Sample:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(rows)
    y = rho * x + np.sqrt(1 - rho**2) * rng.standard_normal(rows)
    z = pa.array(np.where(x < -1, 0, np.exp(x)), mask=rng.random(rows) < 0.1)
    return read(pa.table({"x": x, "y": y, "k": np.where(x > 0, "p", "n"), "z": z}), NUMBERS)


@pytest.mark.parametrize("rho", [-0.6, 0.3, 0.6, 0.9])
def test_close_to_correlation_for_bell_shapes(rho: float) -> None:
    """To 0.04 at 20,000 rows; ten tiles lose 0.02, chance adds 0.005 (eight standard deviations to the bound's rim)."""
    found = dependence(numbers(rho, 20_000), numbers(0.0, 20_000, 1))
    assert found.real[0, 1] == pytest.approx(abs(rho), abs=0.04)
    assert found.synthetic[0, 1] < 0.08


def test_matrices() -> None:
    real = numbers(0.7, 3_000)
    found = dependence(real, real)
    assert found.columns == ("x", "y", "k", "z")
    np.testing.assert_array_equal(found.real, found.synthetic)
    np.testing.assert_array_equal(found.real, found.real.T)
    assert np.diag(found.real).tolist() == [1] * 4
    assert found.real[0, 2] > 0.97  # x determines k, but for the tile in the middle
    assert found.real[0, 3] > 0.9  # z follows from x, but for its gaps
    assert found.mean_difference == 0
    assert found.kept == pytest.approx(1.0)


def test_shuffled_columns_keep_nothing() -> None:
    """Coefficients of independent columns are below 0.1 here; the bound on their mean is four times what is usual."""
    real = numbers(0.7, 5_000)
    found = dependence(real, independent(real, seed=1))
    assert found.kept is not None
    assert found.kept < 0.1
    assert found.mean_difference > 0.4
    gaps = [abs(one - other) for _, _, one, other in found.pairs]
    assert gaps == sorted(gaps, reverse=True)
    assert len(gaps) == found.table().num_rows == 6


def test_levels_that_real_rows_never_have() -> None:
    """Synthetic rows outside the real range stand in the outermost tiles: they are counted, not lost."""
    real, made = numbers(0.5, 500), numbers(0.5, 500, 1)
    far = read(
        pa.table({"x": [-6.0, 6.0] * 50, "y": [6.0, -6.0] * 50, "k": ["p", "n"] * 50, "z": [500.0] * 100}), NUMBERS
    )
    assert dependence(real, far).synthetic[0, 1] == pytest.approx(1.0)
    assert (dependence(real, made).synthetic <= 1).all()


def test_a_column_that_is_always_missing() -> None:
    schema = pt.Schema(name="gaps", columns={"x": pt.Integer(min=0, max=99), "k": pt.Boolean()})
    empty = read(pa.table({"x": pa.nulls(20, pa.int64()), "k": [True, False] * 10}), schema)
    full = read(pa.table({"x": range(20), "k": [True, False] * 10}), schema)
    assert dependence(empty, full).real[0, 1] == 0


def test_a_single_column_has_no_pairs() -> None:
    schema = pt.Schema(name="one", columns={"k": pt.Boolean()})
    one = read(pa.table({"k": [True, False]}), schema)
    found = dependence(one, one)
    assert found.kept is None
    assert found.mean_difference == 0
    assert found.pairs == []
    assert found.table().num_rows == 0


class TestWords:
    def asked(self, real: Sample, made: Sample, question: str) -> Point:
        (point,) = [each for each in dependence(real, made).points() if each.question == question]
        return point

    def test_one_pair_is_no_pairs(self) -> None:
        schema = pt.Schema(name="two", columns={name: NUMBERS.columns[name] for name in "xk"})
        x = np.linspace(-3, 3, 1_000)
        sample = read(pa.table({"x": x, "k": np.where(x > 0, "p", "n")}), schema)
        said = self.asked(sample, sample, "strongest pairs").sentence
        assert said.startswith("One pair hangs together strongly: x with k: ")
        assert "1 pairs" not in said

    def test_a_correlation_far_off_is_not_good_where_chance_may_explain_it(self) -> None:
        """-0.22 in place of -0.01 on 200 rows: by chance of that many rows, and the sentence says so."""
        real = numbers(0.0, 200)
        made = [numbers(0.0, 200, seed) for seed in range(1, 60)]
        off = [max(abs(each.real - each.synthetic) for each in dependence(real, one).correlations) for one in made]
        point = self.asked(real, made[int(np.argmax(off))], "correlations")
        assert 0.18 < max(off) < 0.29
        assert point.grade == "unclear"
        assert "chance alone may give a difference of 0." in point.sentence
        assert "chance may explain a difference over 0.15" in point.rule

    def test_many_rows_leave_less_to_chance(self) -> None:
        real = numbers(0.0, 20_000)
        assert self.asked(real, numbers(0.0, 20_000, 1), "correlations").grade == "good"
        point = self.asked(real, numbers(0.22, 20_000, 1), "correlations")
        assert point.grade == "poor"
        assert "chance alone may give a difference of 0.03" in point.sentence
