"""Sampled rows: what statistics they give, as they are and calibrated, and how far cells hide a correlation."""

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.features import OneHot, Tiles
from pointillist.fitting.evidence import Table as EvidenceTable
from pointillist.fitting.readings import Readings
from pointillist.inference.sampled_rows import SampledRows
from pointillist.schema.levels import Levels

AGE = Levels("age", pt.Integer(min=0, max=9, missing=False))
ROWS = pa.table({"age": np.random.default_rng(0).integers(0, 10, 5_000)})


def mean_age(table: pa.Table) -> float:
    return float(np.mean(table["age"].to_numpy()))


def test_rows_are_calibrated_to_what_was_measured() -> None:
    """Ages were counted without noise, and the private ones are higher than those of the model."""
    counts = np.arange(1.0, 11.0) * 100
    wanted = float(counts @ np.arange(10) / counts.sum())
    rows = SampledRows(Readings((EvidenceTable((OneHot("age", 10),), counts, 1.0),), None), {"age": AGE}, ROWS)
    plain, calibrated = rows.evaluate(mean_age, ["age"])
    assert plain == mean_age(ROWS)
    assert calibrated == pytest.approx(wanted, abs=0.05)
    assert rows.shares("age").sum() == pytest.approx(1)


def test_without_columns_or_measurements_nothing_moves() -> None:
    rows = SampledRows(Readings((), 100), {"age": AGE}, ROWS)
    assert rows.evaluate(mean_age, []) == rows.evaluate(mean_age, ["age"]) == (mean_age(ROWS), mean_age(ROWS))


def test_what_tails_share_inside_one_tile_widens_a_correlation() -> None:
    """A table with a few rows far out in both columns, which all fall into one coarse cell."""
    rng = np.random.default_rng(0)
    far = rng.random(1_000) < 0.02
    numbers = {name: np.where(far, rng.uniform(10, 100, 1_000), rng.uniform(0, 5, 1_000)) for name in ("a", "b")}
    levels = {name: Levels(name, pt.Real(min=0, max=100, missing=False, bins=100)) for name in numbers}

    def most(cut: int) -> float:
        tiles = tuple(Tiles(name, tuple(min(level, cut) for level in range(100))) for name in numbers)
        table = EvidenceTable(tiles, np.ones([each.dimension for each in tiles]), 1.0)
        return SampledRows(Readings((table,), None), levels, pa.table(numbers)).inside_cells("a", "b")

    assert most(99) < 0.01  # every bin a tile
    assert 0.05 < most(5) < 1  # one tile for all that is far out
    assert most(0) == pytest.approx(1)  # one tile for everything
