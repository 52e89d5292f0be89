"""Reduced set: one bounded map of all columns together, options that a file can hold, points at the end."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.evaluate.tables.sample import read
from pointillist.features import MixedFourier, RandomFourier
from pointillist.generators.points.points import Points
from pointillist.methods import METHODS, ReducedSet

People = Callable[..., pa.Table]
QUICK = ReducedSet(features=60, points=30)


@pytest.mark.parametrize("kernel", ["product", "sum"])
@pytest.mark.parametrize("target", [None, "sex", "grade", "age"])
def test_no_record_is_longer_than_one_and_every_one_is_nearly_that(
    schema: pt.Schema, people: People, target: str | None, kernel: Any
) -> None:
    method = ReducedSet(features=60, kernel=kernel)
    plan = pt.plan(schema, epsilon=1.0, target=target, method=method)
    feature_map = method.feature_map(plan, ())
    assert feature_map.bound <= 1 + 1e-12
    assert feature_map.dimension == plan.rounds[0].dimension
    assert feature_map.code_columns | feature_map.unit_columns == set(schema.measured)
    lengths = np.linalg.norm(feature_map(read(people(300), schema).records), axis=1)
    assert lengths.max() <= 1 + 1e-9
    assert lengths.min() >= 1 - 1e-9


@pytest.mark.parametrize("target", [None, "sex"])
def test_a_release_alone_is_enough_to_fit(
    schema: pt.Schema, people: People, target: str | None, tmp_path: object
) -> None:
    release = pt.release(people(500), schema, epsilon=3.0, target=target, method=QUICK)
    release.save(f"{tmp_path}/it.release")
    model = pt.fit(pt.Release.load(f"{tmp_path}/it.release"))
    assert isinstance(model.generator, Points)
    assert model.generator.records.rows == 30
    assert read(model.sample(100, seed=0), schema).rows == 100


def test_options_come_back_from_json(schema: pt.Schema) -> None:
    plan = pt.plan(schema, epsilon=1.0, method=ReducedSet(weights="bounded", search="greedy", points=9))
    options = json.loads(json.dumps(plan.to_json()))["options"]
    again = METHODS["reduced-set"](**options)
    assert isinstance(again, ReducedSet)
    assert (again.weights, again.search, again.points) == ("bounded", "greedy", 9)
    assert again.features == plan.options["features"]


@pytest.mark.parametrize("kept", [("sex", "grade"), ("age",), ("income", "seen"), ("sex", "income")])
@pytest.mark.parametrize("scales", [(0.1,), "marginals", {"age": 0.1, "income": 0.2, "seen": 0.1}])
def test_any_columns_will_do(schema: pt.Schema, people: People, kept: tuple[str, ...], scales: Any) -> None:
    some = schema.model_copy(update={"columns": {name: schema.columns[name] for name in kept}})
    method = ReducedSet(features=20, points=10, length_scales=scales)
    release = pt.release(people(200).select(kept), some, epsilon=3.0, method=method)
    assert isinstance(pt.fit(release, generator=pt.PointsSettings(points=10, steps=4)).generator, Points)


def test_the_product_sees_categories_beside_numbers(schema: pt.Schema) -> None:
    leaves = {}
    for kernel in ("product", "sum"):
        method = ReducedSet(features=20, kernel=kernel)  # type: ignore[arg-type]
        plan = pt.plan(schema, epsilon=1.0, method=method)
        leaves[kernel] = next(leaf for leaf in method.feature_map(plan, ()).leaves if isinstance(leaf, RandomFourier))
    assert isinstance(leaves["product"], MixedFourier)
    assert set(leaves["product"].turned) == {"sex", "grade", "member", "income", "seen"}
    assert not isinstance(leaves["sum"], MixedFourier)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kernel": "both"},
        {"category_gap": 0.0},
        {"points": 0},
        {"weights": "signed"},
        {"search": "none"},
        {"features": 7},
        {"count_share": 1.0},
    ],
    ids=str,
)
def test_impossible_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        ReducedSet(**{**asdict(QUICK), **wrong})


def test_other_generators_fit_it_too(schema: pt.Schema, people: People) -> None:
    release = pt.release(people(300), schema, epsilon=3.0, target="sex", method=ReducedSet(features=20))
    for generator in (
        pt.MixtureSettings(components=6, steps=5, grain=8),
        pt.NetworkSettings(hidden=(4,), steps=3, batch=20),
    ):
        assert pt.fit(release, generator=generator).sample(20, seed=0).num_rows == 20


def test_an_honest_release_passes_its_audit() -> None:
    """False alarms once in a million."""
    schema = pt.Schema(
        name="small",
        columns={"a": pt.Categorical(categories=("x", "y", "z")), "b": pt.Real(min=0, max=1, special=(-1.0,))},
    )
    found = pt.audit(None, schema, epsilon=1.0, method=ReducedSet(features=20), attacks=["white-box"], runs=15)
    assert found.passed
    assert max(each.epsilon for each in found.findings) > 0.5
