"""Calibration: weights bring dependence that a model lacks back to what was measured, and leave alone what agrees."""

import numpy as np
import pytest
from numpy.typing import NDArray

import pointillist as pt
from pointillist.features import OneHot
from pointillist.fitting.evidence import Table
from pointillist.fitting.readings import Readings
from pointillist.inference.calibration import Calibration
from pointillist.schema.levels import Levels

LEVELS = {
    "age": Levels("age", pt.Integer(min=0, max=9, missing=True)),
    "kind": Levels("kind", pt.Categorical(categories=("a", "b", "c"), missing=False, out_of_domain="error")),
}
Codes = dict[str, NDArray[np.uint16]]


def readings_of(codes: Codes) -> Readings:
    """Rows measured without noise, level by level and in pairs."""
    leaves = tuple(OneHot(name, LEVELS[name].size) for name in codes)
    cells = np.zeros([leaf.dimension for leaf in leaves])
    np.add.at(cells, tuple(codes.values()), 1.0)
    singles = [Table((leaf,), cells.sum(axis=1 - axis), 1.0) for axis, leaf in enumerate(leaves)]
    return Readings((*singles, Table(leaves, cells, 1.0)), None)


@pytest.fixture
def dependent() -> Codes:
    rng = np.random.default_rng(0)
    age = rng.integers(0, 11, 20_000)  # 10 is missing
    kind = np.where(age == 10, 2, np.clip(age // 4 + (rng.random(20_000) < 0.3), 0, 2))
    return {"age": age.astype(np.uint16), "kind": kind.astype(np.uint16)}


def test_rows_that_agree_keep_their_weight(dependent: Codes) -> None:
    change = Calibration(readings_of(dependent), LEVELS, dependent).change(["age", "kind"])
    assert np.abs(change).max() < 1e-6


def test_dependence_comes_back(dependent: Codes) -> None:
    """The rows are those that were measured with one column shuffled: the weights alone must tell what belongs together."""
    shuffled = {**dependent, "kind": np.random.default_rng(1).permutation(dependent["kind"])}
    change = Calibration(readings_of(dependent), LEVELS, shuffled).change(["age", "kind"])
    assert change.mean() == pytest.approx(0, abs=1e-9)

    def mean_age(codes: Codes, kind: int, weights: NDArray[np.float64]) -> float:
        mine = (codes["kind"] == kind) & (codes["age"] < 10)
        return float(np.average(codes["age"][mine], weights=weights[mine]))

    even = np.ones(len(change))
    for kind in range(3):
        wanted, before = mean_age(dependent, kind, even), mean_age(shuffled, kind, even)
        assert abs(mean_age(shuffled, kind, even + change) - wanted) < 0.25 * abs(before - wanted) + 0.05


def test_a_column_alone_is_set_right_as_well(dependent: Codes) -> None:
    young = {name: codes[dependent["age"] < 7] for name, codes in dependent.items()}
    change = Calibration(readings_of(dependent), LEVELS, young).change(["age"])
    before, after = (np.average(young["age"], weights=weights) for weights in (np.ones_like(change), 1 + change))
    assert after - before > 0.5


def test_what_was_not_measured_changes_nothing(dependent: Codes) -> None:
    assert not Calibration(Readings((), 100), LEVELS, dependent).change(["age", "kind"]).any()
