"""What all tests share: a ledger of their own, and small tables."""

import gc
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings

import pointillist as pt
from pointillist.features import Tiles
from pointillist.generators.mixture.mixture import Mixture
from pointillist.schema.levels import Levels, levels_of

pytest_plugins = (
    "tests.fixtures.bars",
    "tests.fixtures.clusters",
    "tests.fixtures.command_line",
    "tests.fixtures.known",
    "tests.fixtures.owners",
    "tests.fixtures.servers",
    "tests.fixtures.shapes",
)

SLOW = (
    "benchmarks",
    "docs",
    "end_to_end",
    "evaluate/audit",
    "evaluate/images",
    "evaluate/research",
    "features/images",
    "fuzz",
    "generators/network",
    "replay",
)
"""Folders of tests that train, attack, replay or start processes; single tests that are slow are in slow.txt."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import slow folders where they are left out."""
    place = collection_path.relative_to(Path(__file__).parent).as_posix()
    return True if config.option.markexpr == "not slow" and place in SLOW else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests, which `make check` leaves out."""
    here = Path(__file__).parent
    names = set((here / "slow.txt").read_text(encoding="utf-8").splitlines())
    for item in items:
        place = item.path.relative_to(here).as_posix()
        name = getattr(item, "originalname", item.name)
        if name in names or place.startswith(tuple(f"{folder}/" for folder in SLOW)):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Thousands of tests and the libraries they load stay until the end: no collection of garbage need look at them.

    A command that fails collects garbage before it leaves, which took half a second in the process of the tests.
    """
    gc.collect()
    gc.freeze()


settings.register_profile("default", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("default")


@pytest.fixture(autouse=True)
def own_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test ever writes to the user's own ledger."""
    path = tmp_path / "ledger.sqlite"
    monkeypatch.setenv("POINTILLIST_LEDGER", str(path))
    assert os.environ["POINTILLIST_LEDGER"] == str(path)
    return path


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nor to the user's own cache."""
    path = tmp_path / "cache"
    monkeypatch.setenv("POINTILLIST_CACHE", str(path))
    return path


@pytest.fixture
def schema() -> pt.Schema:
    """Every kind of column, with missing, special and other values."""
    return pt.Schema(
        name="people",
        rows=2_000,
        columns={
            "sex": pt.Categorical(categories=("female", "male"), missing=False),
            "grade": pt.Ordinal(categories=("low", "middle", "high")),
            "member": pt.Boolean(),
            "age": pt.Integer(min=0, max=110, missing=False),
            "income": pt.Real(min=1, max=100_000, special=(0.0,), scale="log", decimals=2),
            "seen": pt.Datetime(min="2020-01-01", max="2025-12-31"),
        },
    )


@pytest.fixture
def people() -> Callable[[int, int], pa.Table]:
    """A table for `schema`, in which columns depend on each other."""

    def make(rows: int, seed: int = 0) -> pa.Table:
        rng = np.random.default_rng(seed)
        age = rng.integers(0, 111, rows)
        old = age > 50
        income = np.where(rng.random(rows) < 0.2, 0.0, np.exp(rng.normal(7 + old, 1, rows)).round(2))
        return pa.table(
            {
                "sex": np.where(rng.random(rows) < 0.5, "female", "male"),
                "grade": pa.array(np.where(old, "high", "low"), mask=rng.random(rows) < 0.1),
                "member": pa.array(rng.random(rows) < 0.3, mask=rng.random(rows) < 0.1),
                "age": age,
                "income": pa.array(income, mask=rng.random(rows) < 0.05),
                "seen": pa.array((18_300 + rng.integers(0, 2_000, rows)).astype(np.int32)).cast(pa.date32()),
            }
        )

    return make


@pytest.fixture(scope="session")
def random_model() -> Callable[..., pt.Model]:
    """A model whose generator is a mixture of random products over random tiles: dependent columns without a fit."""

    def make(schema: pt.Schema, seed: int = 0, components: int = 8, rows: float = 1_000.0) -> pt.Model:
        rng = np.random.default_rng(seed)

        def tiles(levels: Levels) -> Tiles:
            if not levels.numeric:
                return Tiles(levels.name, tuple(range(levels.size)))
            runs = min(8, levels.regular)
            atoms = range(runs, runs + levels.size - levels.regular)
            return Tiles(levels.name, (*(level * runs // levels.regular for level in range(levels.regular)), *atoms))

        columns = {each.name: tiles(each) for each in levels_of(schema)}
        within = {name: rng.random(len(each.tile_of)) + 0.1 for name, each in columns.items()}
        within = {n: w / np.bincount(columns[n].table, weights=w)[columns[n].table] for n, w in within.items()}
        tables = {name: rng.dirichlet(np.full(each.dimension, 0.5), components) for name, each in columns.items()}
        mixture = Mixture(rng.dirichlet(np.full(components, 2.0)), columns, tables, within)
        return pt.Model(schema, pt.plan(schema, epsilon=1.0).guarantee, "none", "pyarrow", rows, mixture)

    return make
