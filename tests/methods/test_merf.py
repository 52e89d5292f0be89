"""Merf: one release of random features and class counts, bounded by 1, whatever the columns."""

from collections.abc import Callable
from dataclasses import asdict, replace

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.curator.reading import open_source
from pointillist.curator.releasing import embed
from pointillist.errors import UsageError
from pointillist.evaluate.sample import read
from pointillist.methods import Merf, method_named

People = Callable[..., pa.Table]
QUICK = Merf(features=60, steps=100, batch=200, hidden=(30,))


@pytest.mark.parametrize("target", [None, "sex", "grade", "age"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_map_is_what_the_plan_says(schema: pt.Schema, target: str | None, neighbours: str) -> None:
    plan = pt.plan(schema, epsilon=1.0, target=target, neighbours=neighbours, method=QUICK)
    feature_map = QUICK.feature_map(plan, ())
    assert feature_map.dimension == plan.rounds[0].dimension
    assert feature_map.bound <= 1 + 1e-12
    assert feature_map.code_columns | feature_map.unit_columns == set(schema.measured)
    assert plan.expected_error(0, plan.rounds[0].blocks[0]) is None  # not a table
    assert plan.noise_rows(0, plan.rounds[0].blocks[0]) > 0


def test_no_record_is_longer_than_one_and_every_one_is_nearly_that(schema: pt.Schema, people: People) -> None:
    plan = pt.plan(schema, epsilon=1.0, target="grade", method=QUICK)
    features = QUICK.feature_map(plan, ())(read(people(500), schema).records)
    lengths = np.linalg.norm(features, axis=1)
    assert lengths.max() <= 1 + 1e-9
    assert lengths.min() >= 1 - 1e-9  # nothing of the budget is wasted


def test_one_row_moves_the_sum_by_no_more_than_is_promised(schema: pt.Schema, people: People) -> None:
    plan = pt.plan(schema, epsilon=1.0, target="grade", method=QUICK)
    feature_map, grid = QUICK.feature_map(plan, ()), plan.rounds[0].grid
    table = people(40)
    whole, _ = embed(open_source(table), schema, feature_map, grid)
    for row in range(40):
        rest = pa.concat_tables([table.slice(0, row), table.slice(row + 1)])
        without, _ = embed(open_source(rest), schema, feature_map, grid)
        moved = (whole - without).astype(object)
        assert int((moved * moved).sum()) <= grid.squared_norm


@pytest.mark.parametrize("target", [None, "sex", "income"])
def test_the_whole_way(schema: pt.Schema, people: People, target: str | None) -> None:
    release = pt.release(people(1_000), schema, epsilon=3.0, target=target, method=QUICK)
    model = pt.fit(release)
    made = model.sample(700, seed=1)
    assert made.num_rows == 700
    assert read(made, schema).rows == 700  # every value is one of the schema's
    assert abs(model.rows - 1_000) < 150


@pytest.mark.parametrize("kept", [("sex", "grade", "member"), ("age", "income", "seen")])
def test_tables_of_one_kind_of_column(schema: pt.Schema, people: People, kept: tuple[str, ...]) -> None:
    some = schema.model_copy(update={"columns": {name: schema.columns[name] for name in kept}})
    model = pt.fit(pt.release(people(300).select(kept), some, epsilon=3.0, method=QUICK))
    assert model.sample(50, seed=0).column_names == list(kept)


def test_a_release_knows_its_settings(schema: pt.Schema, people: People, tmp_path: object) -> None:
    path = tmp_path / "r"  # type: ignore[operator]
    pt.release(people(200), schema, epsilon=3.0, target="sex", method=QUICK, output=path)
    loaded = pt.Release.load(path)
    assert method_named(loaded.method, loaded.plan["options"]) == QUICK
    assert pt.fit(loaded).sample(10, seed=0).num_rows == 10
    card = pt.Card.of(loaded)
    assert [each.name for each in card.measured] == ["class counts"]
    assert abs(card.rows - 200) < 6 * card.rows_error  # one false alarm in 500 million
    assert "Measured as counts: class counts (below about" in card.to_markdown()


def test_frequencies_depend_on_the_public_seed_alone(schema: pt.Schema) -> None:
    plan = pt.plan(schema, epsilon=1.0, method=QUICK)
    first, second = (QUICK.feature_map(plan, ()) for _ in range(2))
    other = replace(QUICK, frequency_seed=1).feature_map(plan, ())
    waves = [each.leaves[0].frequencies for each in (first, second, other)]  # type: ignore[attr-defined]
    assert np.array_equal(waves[0], waves[1])
    assert not np.array_equal(waves[0], waves[2])


@pytest.mark.parametrize(
    "wrong", [{"features": 7}, {"features": 0}, {"count_share": 0.0}, {"category_share": 1.0}, {"length_scales": ()}]
)
def test_impossible_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        Merf(**{**asdict(QUICK), **wrong})  # type: ignore[arg-type]


def test_a_target_alone_is_refused() -> None:
    schema = pt.Schema(name="one", columns={"a": pt.Boolean()})
    with pytest.raises(UsageError, match="a column beside the target"):
        pt.plan(schema, epsilon=1.0, target="a", method=QUICK)


def test_an_honest_merf_release_passes_its_audit() -> None:
    """False alarms once in a million."""
    schema = pt.Schema(
        name="small",
        columns={
            "a": pt.Categorical(categories=("x", "y", "z")),
            "b": pt.Real(min=0, max=1, special=(-1.0,)),
            "c": pt.Boolean(missing=False),
        },
    )
    found = pt.audit(None, schema, epsilon=1.0, target="c", method=QUICK, attacks=["white-box"], runs=15)
    assert found.passed
    assert max(each.epsilon for each in found.findings) > 0.5
