"""What tests of generators share: a small table in which one column decides the others, and releases with a seed."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
import torch

import pointillist as pt
from pointillist.curator.reading import open_source
from pointillist.curator.releasing import embed
from pointillist.evaluate.sample import Sample, read
from pointillist.features import OneHot
from pointillist.generators.likelihood import Likelihood
from pointillist.generators.soft import SoftColumn, SoftRecords
from pointillist.methods import method_named
from pointillist.release import Measurement

SHAPES = pt.Schema(
    name="shapes",
    rows=2_000,
    columns={
        "kind": pt.Categorical(categories=("a", "b", "c"), missing=False, out_of_domain="error"),
        "size": pt.Real(min=0, max=1, missing=False, bins=32),
        "debt": pt.Real(min=1, max=100, special=(0.0,), scale="log", bins=32),
        "flag": pt.Boolean(missing=False),
    },
)


@pytest.fixture(scope="session")
def shapes_schema() -> pt.Schema:
    """Of `shapes`: a category, a number, a number with a special value and gaps, and a flag."""
    return SHAPES


@pytest.fixture(scope="session")
def shapes() -> Callable[..., pa.Table]:
    """A table in which the kind decides everything else."""

    def make(rows: int, seed: int = 1, shares: tuple[float, ...] = (0.6, 0.3, 0.1)) -> pa.Table:
        rng = np.random.default_rng(seed)
        kind = rng.choice(3, rows, p=shares)
        debt = np.where(rng.random(rows) < 0.4, 0.0, np.exp(rng.normal(1.5 + 0.7 * kind, 0.3)).clip(1, 100))
        return pa.table({
            "kind": np.array(["a", "b", "c"])[kind],
            "size": np.clip(rng.normal(0.2 + 0.3 * kind, 0.05), 0, 1),
            "debt": pa.array(debt, mask=rng.random(rows) < 0.1),
            "flag": rng.random(rows) < np.array([0.1, 0.5, 0.9])[kind],
        })  # fmt: skip

    return make


@pytest.fixture(scope="session")
def seeded_release() -> Callable[..., pt.Release]:
    """A release as its plan says, but with noise that a seed decides: the same numbers in every run of the tests.

    Privacy noise has no seed; a test of a fit must not fail because of an unlucky draw of it.
    """

    def make(
        table: pa.Table,
        schema: pt.Schema,
        *,
        method: str | pt.Merf | pt.Hermite | pt.Mosaic,
        epsilon: float = 5.0,
        target: str | None = None,
        seed: int = 0,
    ) -> pt.Release:
        recipe = method_named(method)
        plan = pt.plan(schema, epsilon=epsilon, target=target, method=recipe)
        rng = np.random.default_rng(seed)
        measured: list[Measurement] = []
        for number, each in enumerate(plan.rounds):
            feature_map = recipe.feature_map(plan, measured)
            sums, _ = embed(open_source(table), schema, feature_map, each.grid)
            sigma = plan.sigma(number)
            noise = np.rint(sigma * rng.standard_normal(len(sums))).astype(np.int64)
            measured.append(Measurement(feature_map, sums + noise, each.grid, sigma))
        return pt.Release(
            id=f"seed {seed}",
            created=pt.Release.now(),
            schema=schema,
            guarantee=plan.guarantee,
            target=target,
            plan=plan.to_json(),
            rows=None,
            frame="pyarrow",
            measurements=tuple(measured),
        )

    return make


def hard(sample: Sample) -> SoftRecords:
    """Rows as they are, in the form that generated rows have: every level with probability 1, every number in its place."""
    columns, probabilities, places = {}, {}, {}
    for level in sample.levels:
        codes = torch.as_tensor(sample.codes(level.name))
        columns[level.name] = SoftColumn(level, OneHot(level.name, level.size), placed=level.numeric)
        probabilities[level.name] = torch.nn.functional.one_hot(codes, level.size).to(torch.float32)
        if level.numeric:
            places[level.name] = torch.as_tensor(sample.records.units[level.name], dtype=torch.float32)
    return SoftRecords(sample.rows, columns, probabilities, places)


@pytest.fixture(scope="session")
def misfit() -> Callable[[pt.Release, pa.Table], float]:
    """Chi^2 of a table by a release, in multiples of what the noise alone gives: about 1 for the table released."""

    def chi_squared(release: pt.Release, table: pa.Table) -> float:
        likelihood = Likelihood.of(release, table.num_rows)
        return float(likelihood.chi_squared(hard(read(table, release.schema)))) / likelihood.dimension

    return chi_squared
