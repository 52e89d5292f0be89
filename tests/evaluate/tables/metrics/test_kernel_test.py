"""The kernel test: honest p-values where nothing differs, power where only dependence does."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.evaluate.tables.metrics.kernel_test import kernel_test, mmd
from pointillist.evaluate.tables.metrics.marginals import independent
from pointillist.evaluate.tables.sample import Sample, read
from pointillist.features import Concat, OneHot, Product, RandomFourier

SCHEMA = pt.Schema(
    name="k",
    columns={
        "x": pt.Real(min=0, max=20),
        "k": pt.Categorical(categories=tuple("abcdef"), missing=False, out_of_domain="error"),
        "rare": pt.Boolean(missing=False),
    },
)
NUMBERS = RandomFourier.draw(("x",), 64, 0.05, seed=1)
MAPS = {
    "none": None,
    "one-hot": OneHot("k", 6),
    "fourier": NUMBERS,
    "product": Product((OneHot("k", 6), NUMBERS)),
}


def sample(rows: int, seed: int, shift: float = 0.0) -> Sample:
    """k follows from x; one value in fifty is rare."""
    rng = np.random.default_rng(seed)
    x = np.exp(rng.standard_normal(rows)) + shift
    k = np.array(list("abcdef"))[np.minimum(5, (2 * x * np.exp(0.2 * rng.standard_normal(rows))).astype(int))]
    table = {"x": pa.array(x, mask=rng.random(rows) < 0.05), "k": k, "rare": rng.random(rows) < 0.02}
    return read(pa.table(table), SCHEMA)


@pytest.mark.parametrize("name", ["none", "one-hot", "product"])
@pytest.mark.parametrize(("rows", "others"), [(8, 8), (40, 10)])
def test_p_values_are_honest(name: str, rows: int, others: int) -> None:
    """200 pairs of small samples of one distribution: p <= alpha no more often than alpha allows.

    For each of three levels the count may exceed its binomial bound once in 100,000 times. (Ties make the test for a
    map of categories shy, so only the Gaussian kernel is held to the other side.)
    """
    p = np.array(
        [
            kernel_test(sample(rows, 2 * i), sample(others, 2 * i + 1), MAPS[name], shuffles=39, seed=i).p_value
            for i in range(200)
        ]
    )
    for level in (0.05, 0.2, 0.5):
        count = np.count_nonzero(p <= level + 1e-9)
        assert count <= binom.ppf(1 - 1e-5, 200, level)
        if name == "none":
            assert count >= binom.ppf(1e-5, 200, level)


@pytest.mark.parametrize("name", ["none", "product"])
def test_finds_lost_dependence(name: str) -> None:
    """Columns shuffled by themselves are right one by one: only a kernel on whole rows can see it."""
    real = sample(400, 1)
    broken = independent(sample(400, 2), seed=0)
    assert kernel_test(real, broken, MAPS[name]).p_value == 1 / 500
    assert kernel_test(real, broken, OneHot("k", 6)).p_value > 1 / 500


@pytest.mark.parametrize("name", MAPS)
def test_finds_a_shift(name: str) -> None:
    found = kernel_test(sample(300, 1), sample(300, 2, shift=0.5), MAPS[name])
    assert found.p_value == 1 / 500
    assert found.mmd > 0.05


def test_a_copy_is_never_suspicious() -> None:
    real = sample(200, 1)
    for feature_map in MAPS.values():
        found = kernel_test(real, real, feature_map)
        assert found.p_value == 1.0
        assert found.mmd == 0


def test_rows_that_are_all_alike_are_never_suspicious() -> None:
    """All statistics are 0 but for rounding, and rounding is no evidence."""
    one = sample(1, 1)
    many = [one.take(np.zeros(rows, dtype=np.int64)) for rows in (1, 50, 70)]
    for first in many:
        for second in many:
            assert kernel_test(first, second).p_value == 1.0


def test_which_table_is_called_real_does_not_matter() -> None:
    """The kernel is made from both tables, so only the shuffles differ: 0.2 is five standard deviations of p."""
    first, second = sample(60, 5), sample(60, 6, shift=0.1)
    there, back = kernel_test(first, second), kernel_test(second, first)
    assert there.p_value == pytest.approx(back.p_value, abs=0.2)


def test_the_unbiased_distance() -> None:
    """mmd² less its mean under shuffling; by hand with a map of categories."""
    first, second = sample(300, 1), sample(500, 2, shift=0.5)
    shares = [np.bincount(s.codes("k"), minlength=6) / s.rows for s in (first, second)]
    squared = float(np.square(shares[0] - shares[1]).sum())
    pooled = (300 * shares[0] + 500 * shares[1]) / 800
    chance = (1 / 300 + 1 / 500) * (1 - float(np.square(pooled).sum())) * 800 / 799
    found = kernel_test(first, second, OneHot("k", 6), shuffles=2000)
    assert found.mmd**2 == pytest.approx(squared - chance, rel=0.01)
    assert found.dimension == 6


def test_settings() -> None:
    first, second = sample(300, 1), sample(200, 2)
    found = kernel_test(first, second, shuffles=19, most_rows=100)
    assert found.rows == (100, 100)
    assert found.shuffles == 19
    assert found.p_value * 20 == pytest.approx(round(found.p_value * 20))
    assert found == kernel_test(first, second, shuffles=19, most_rows=100)
    assert found.to_json()["rows"] == [100, 100]
    assert found.table().num_rows == 1
    assert kernel_test(first, second, shuffles=0).p_value == 1.0


def test_other_schemas_are_refused() -> None:
    other = read(pa.table({"x": [1.0]}), pt.Schema(name="o", columns={"x": pt.Real(min=0, max=2)}))
    with pytest.raises(UsageError, match="different schemas"):
        kernel_test(sample(5, 1), other)
    with pytest.raises(UsageError, match="different schemas"):
        mmd(sample(5, 1), other, NUMBERS)


class TestMmd:
    def test_against_the_kernel_itself(self) -> None:
        """mean k(x, x') + mean k(y, y') - 2 mean k(x, y), over all pairs of rows."""
        first, second = sample(70, 1), sample(50, 2, shift=0.3)
        x, y = NUMBERS(first.records), NUMBERS(second.records)
        direct = np.mean(x @ x.T) + np.mean(y @ y.T) - 2 * np.mean(x @ y.T)
        assert mmd(first, second, NUMBERS) == pytest.approx(np.sqrt(direct))

    def test_against_the_gaussian_kernel(self) -> None:
        """With 20,000 features a kernel value is off by 0.01 at most, and so is their mean."""
        first, second = sample(60, 1), sample(60, 2, shift=1.0)
        x, y = first.records.units["x"], second.records.units["x"]

        def kernel(a: np.ndarray, b: np.ndarray) -> float:
            return float(np.exp(-np.square((a[:, None] - b[None, :]) / 0.2) / 2).mean())

        direct = kernel(x, x) + kernel(y, y) - 2 * kernel(x, y)
        found = mmd(first, second, RandomFourier.draw(("x",), 20_000, 0.2, seed=0))
        assert found**2 == pytest.approx(direct, abs=0.01)

    def test_of_counts(self) -> None:
        first, second = sample(6_000, 1), sample(300, 2)
        shares = [np.bincount(s.codes("k"), minlength=6) / s.rows for s in (first, second)]
        both = Concat((OneHot("k", 6), OneHot("rare", 2)))
        rare = [(s.codes("rare") == 1).mean() for s in (first, second)]
        expected = np.square(shares[0] - shares[1]).sum() + 2 * (rare[0] - rare[1]) ** 2
        assert mmd(first, second, both) ** 2 == pytest.approx(expected)

    def test_zero_on_itself(self) -> None:
        assert mmd(sample(50, 1), sample(50, 1), NUMBERS) == 0
