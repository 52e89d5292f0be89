import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.tables import job
from benchmarks.tables.datasets import datasets
from benchmarks.tables.job import Run
from benchmarks.tables.methods import METHODS
from hypothesis import given
from hypothesis import strategies as st

from pointillist.demo import people
from pointillist.errors import DataError
from pointillist.evaluate.tables.sample import read
from pointillist.schema.levels import BINS, coarse, coarse_size, levels_of

LEVELS = [each for dataset in datasets().values() for each in levels_of(dataset.schema)]


@given(st.sampled_from(LEVELS), st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_spreading_undoes_joining(levels, bins, seed) -> None:
    rng = np.random.default_rng(seed)
    joined = rng.integers(0, coarse_size(levels, bins), 50)
    assert np.array_equal(coarse(levels, bins)[job._spread(levels, joined, bins, rng)], joined)


@given(st.sampled_from(LEVELS), st.sampled_from([2, 4, 8, 16, 32, 48, 64, 256]))
def test_bins_of_rivals_nest_in_those_of_scores(levels, bins) -> None:
    """Either rivals' bins are parts of the scores' or unions of them: never do two of them overlap."""
    ours, theirs = coarse(levels), coarse(levels, bins)
    fine, rough = (ours, theirs) if bins <= BINS else (theirs, ours)
    assert all(len(np.unique(rough[fine == each])) == 1 for each in np.unique(fine))


def test_a_rival_sees_levels_and_what_it_returns_are_rows_in_the_same_bins(tmp_path: Path) -> None:
    dataset, run = datasets()["registry"], Run("registry", "aim", 1.0, 1e-5, 0, 16)
    rows = people.simulate(300)
    train = read(rows, dataset.schema)
    job.write(tmp_path, run, METHODS["aim"], dataset, rows, train)
    assert not (tmp_path / "train.parquet").exists()
    seen, facts = np.load(tmp_path / "train.npy"), json.loads((tmp_path / "job.json").read_text())
    assert (seen < np.array(facts["sizes"])).all()
    assert facts["columns"] == list(dataset.schema.measured)

    np.save(tmp_path / "synthetic.npy", seen)  # a rival that returns what it got
    (tmp_path / "versions.json").write_text('{"rival": "1"}')
    table, versions = job.read(tmp_path, run, METHODS["aim"], train.levels)
    assert versions == {"rival": "1"}
    back = read(table, dataset.schema)
    for name in train.columns:
        assert np.array_equal(back.bins(name), train.bins(name))  # what rounding carries over an edge is drawn again


def test_a_level_outside_the_domain_is_refused(tmp_path: Path) -> None:
    levels = levels_of(people.SCHEMA)
    np.save(tmp_path / "synthetic.npy", np.full((5, len(levels)), 99))
    (tmp_path / "versions.json").write_text("{}")
    with pytest.raises(DataError, match="outside the domain"):
        job.read(tmp_path, Run("registry", "aim", 1.0, 1e-5), METHODS["aim"], levels)


def test_runs_have_names_of_their_own() -> None:
    runs = [Run("a", "m", e, 1e-5, s, b) for e in (0.3, 1.0) for s in (0, 1) for b in (16, 32)] + [Run("a", "real")]
    assert len({run.key for run in runs}) == len(runs)
    assert runs[0].key == "a-m-epsilon0.3-delta1e-05-bins16-seed0"
