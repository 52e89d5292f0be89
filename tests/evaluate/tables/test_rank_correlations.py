"""Rank correlations: as scipy has them, with a chance that is right also where few rows decide."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import spearmanr

import pointillist as pt
from pointillist.evaluate.tables.rank_correlations import Correlation, rank_correlations
from pointillist.evaluate.tables.sample import Sample, read

SCHEMA = pt.Schema(
    name="pairs",
    columns={
        "x": pt.Real(min=-9, max=9),
        "k": pt.Categorical(categories=("a", "b")),
        "y": pt.Ordinal(categories=("low", "middle", "high"), missing=False),
        "z": pt.Real(min=-9, max=9, missing=False),
    },
)


def sample(rho: float, rows: int = 2_000, seed: int = 0, rare: float = 1.0) -> Sample:
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(rows) < rare, rng.standard_normal(rows), 0.0)
    y = np.digitize(rho * x + np.sqrt(1 - rho**2) * rng.standard_normal(rows), [-0.5, 0.5])
    z = np.where(x != 0, rho * x + np.sqrt(1 - rho**2) * rng.standard_normal(rows), 0.0)
    names = np.array(["low", "middle", "high"])[y]
    return read(pa.table({"x": x, "k": ["a", "b"] * (rows // 2), "y": names, "z": z}), SCHEMA)


def test_as_scipy_has_them() -> None:
    real, made = sample(0.7), sample(-0.3, seed=1)
    found = {each.columns: each for each in rank_correlations(real, made)}
    assert list(found) == [("x", "y"), ("x", "z"), ("y", "z")]
    for one, table in (("real", real), ("synthetic", made)):
        truth = spearmanr(table.values("x"), table.codes("y")).statistic
        assert getattr(found["x", "y"], one) == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("rare", [1.0, 0.02])
def test_chance_is_what_samples_show(rare: float) -> None:
    """The scatter of 60 differences against the stated one: a factor within 0.7 and 1.4 is four standard deviations.

    Of rare values the stated one is itself rough, as few rows decide: there the factor may be 2.
    """
    pairs = [
        next(each for each in rank_correlations(sample(0.6, 500, 2 * i, rare), sample(0.6, 500, 2 * i + 1, rare))
             if each.columns == ("x", "z"))
        for i in range(60)
    ]  # fmt: skip
    shown = float(np.std([each.real - each.synthetic for each in pairs]))
    stated = float(np.mean([each.chance for each in pairs]))
    assert 1 / 2 < shown / stated < 2 if rare < 1 else 0.7 < shown / stated < 1.4


def test_gaps_and_constants_are_no_numbers_out_of_place() -> None:
    rows = {"x": pa.array([None, 1.0, 2.0, 3.0]), "k": ["a"] * 4, "y": ["low"] * 4, "z": [1.0, 1.0, 2.0, 3.0]}
    table = read(pa.table(rows), SCHEMA)
    found = {each.columns: each.real for each in rank_correlations(table, table)}
    assert found["x", "y"] == 0.0
    assert 0 < found["x", "z"] <= 1


def test_beyond_chance() -> None:
    assert Correlation(("a", "b"), 0.5, 0.3, 0.05).beyond == pytest.approx(0.05)
    assert Correlation(("a", "b"), 0.5, 0.4, 0.05).beyond == 0.0
    assert (
        rank_correlations(*[read(pa.table({"b": [True]}), pt.Schema(name="b", columns={"b": pt.Boolean()}))] * 2) == ()
    )
