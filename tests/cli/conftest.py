"""What tests of several commands share: a real table, a synthetic one and a release, to be judged."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import pointillist as pt

SCHEMA = pt.Schema(
    name="people",
    columns={
        "age": pt.Integer(min=0, max=100, missing=False, out_of_domain="error"),
        "pay": pt.Real(min=1, max=100_000, special=(0.0,), scale="log"),
        "job": pt.Categorical(categories=("cook", "smith", "nurse"), missing=False, out_of_domain="error"),
    },
)


def _workers(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows)
    return pa.table({
        "age": age,
        "pay": np.where(rng.random(rows) < 0.2, 0.0, np.exp(rng.normal(5 + age / 50, 0.5)).round(2)),
        "job": np.where(age + rng.normal(0, 20, rows) > 50, "smith", "cook"),
    })  # fmt: skip


@pytest.fixture(scope="session")
def workers() -> Callable[[int, int], pa.Table]:
    """So many rows of the table that is judged, by a seed."""
    return _workers


@pytest.fixture(scope="session")
def judged_once(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("judged")
    for name, seed in (("real", 1), ("made", 2), ("test", 3)):
        pacsv.write_csv(_workers(400, seed), folder / f"{name}.csv")
    (folder / "people.toml").write_text(SCHEMA.to_toml())
    book = pt.Ledger(folder / "ledger.sqlite")
    pt.release(folder / "real.csv", SCHEMA, epsilon=1.0, target="job", ledger=book, output=folder / "people.release")
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".sqlite"}


@pytest.fixture
def judged(at_work: Path, judged_once: dict[str, bytes]) -> pt.Schema:
    """The schema of real.csv, made.csv and test.csv, which are in the folder at work with people.toml and people.release."""
    for name, content in judged_once.items():
        (at_work / name).write_bytes(content)
    return SCHEMA
