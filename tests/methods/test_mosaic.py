"""Mosaic: plans from public facts that keep to their limits, and synthetic data that carry the dependence over."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import SchemaError, UsageError
from pointillist.evaluate.tables.metrics.marginals import independent, marginals
from pointillist.evaluate.tables.sample import read
from pointillist.features import Concat, Labelled

People = Callable[..., pa.Table]


def wide(columns: int) -> pt.Schema:
    return pt.Schema(name="wide", rows=10_000_000, columns={f"c{i}": pt.Integer(min=0, max=99) for i in range(columns)})


@pytest.mark.parametrize(
    ("columns", "target", "tables", "note"),
    [
        (5, None, [5, 5, 10], None),
        (5, "c0", [5, 5, 10, 6], None),
        (100, None, [100, 100, 4950], None),
        (150, "c3", [150, 150, 11175], "Pairs are not split by c3"),
        (400, "c3", [400, 400, 399], "Only pairs with c3"),
        (400, None, [400, 400], "Only one-way"),
    ],
)
def test_plans_stay_within_their_limit(columns: int, target: str | None, tables: list[int], note: str | None) -> None:
    plan = pt.plan(wide(columns), epsilon=1.0, target=target)
    assert [block.count for each in plan.rounds for block in each.blocks] == tables
    assert sum(each.dimension for each in plan.rounds[1:]) <= pt.Mosaic().most_cells
    assert sum(each.share for each in plan.rounds) == pytest.approx(1.0)
    for each in plan.rounds:
        assert sum(block.count * block.weight**2 for block in each.blocks) == pytest.approx(1.0)
    assert [text for text in plan.notes if note and note in text] or not note


def test_where_noise_drowns_all_pairs_those_with_the_target_remain() -> None:
    few = wide(40).model_copy(update={"rows": 1000})
    plan = pt.plan(few, epsilon=1.0, target="c3")
    assert [block.count for each in plan.rounds for block in each.blocks] == [40, 40, 39]
    assert any("the noise would drown all pairs" in note for note in plan.notes)
    assert len(pt.plan(few, epsilon=1.0).rounds) == 1
    assert len(pt.plan(few.model_copy(update={"rows": 100_000}), epsilon=1.0).rounds) == 2


def test_the_noisier_pairs_are_the_more_goes_to_single_columns() -> None:
    shares = [pt.plan(wide(20), epsilon=epsilon).rounds[0].share for epsilon in (0.01, 0.1, 1.0)]
    assert shares == sorted(shares, reverse=True)
    assert pt.plan(wide(20), epsilon=1.0, method=pt.Mosaic(one_way_share=0.4)).rounds[0].share == 0.4


def test_the_release_keeps_to_its_plan(schema: pt.Schema, people: People) -> None:
    plan = pt.plan(schema, epsilon=1.0, target="sex")
    release = pt.release(people(3_000), schema, epsilon=1.0, target="sex")
    for each, measurement in zip(plan.rounds, release.measurements, strict=True):
        assert isinstance(measurement.feature_map, Concat)
        assert len(measurement.feature_map.maps) == sum(block.count for block in each.blocks)
        assert measurement.feature_map.dimension <= each.dimension
    labelled = [leaf for leaf in release.measurements[1].feature_map.parts if isinstance(leaf.parts[0], Labelled)]
    assert len(labelled) == 10


def test_a_numeric_target_is_cut_into_few_tiles(schema: pt.Schema, people: People) -> None:
    release = pt.release(people(20_000), schema, epsilon=5.0, target="age")
    label = next(p.parts[0] for p in release.measurements[1].feature_map.parts if isinstance(p.parts[0], Labelled))
    assert 2 <= label.label.dimension <= pt.Mosaic().most_classes
    assert pt.fit(release).sample(100, seed=0).num_rows == 100


def test_a_delta_that_gives_rows_away_is_noted(schema: pt.Schema) -> None:
    assert any("not below 1 / rows" in note for note in pt.plan(schema, epsilon=1.0, delta=0.01).notes)
    assert not pt.plan(schema, epsilon=1.0, delta=1e-6).notes


def test_dependence_survives(schema: pt.Schema, people: People) -> None:
    """Age decides the grade in the real table; the synthetic one must know it, and be nearer than shuffled columns."""
    table = people(20_000)
    synthetic = pt.fit(pt.release(table, schema, epsilon=5.0)).sample(20_000, seed=1)
    real, made = read(table, schema), read(synthetic, schema)
    assert marginals(real, made, 2).mean < 0.6 * marginals(real, independent(real, seed=0), 2).mean
    assert marginals(real, made, 1).tables[0].distance < 0.05
    old = np.array(synthetic["age"].to_pylist()) > 50
    grade = np.array(synthetic["grade"].to_pylist(), dtype=object)
    assert np.mean(grade[old & (grade != None)] == "high") > 0.85  # noqa: E711


def test_levels_allowed_for_safety_do_not_show_up_by_noise(people: People, schema: pt.Schema) -> None:
    """No real row is `other`, and none lacks a date: neither should any synthetic row."""
    synthetic = pt.fit(pt.release(people(5_000), schema, epsilon=1.0)).sample(5_000, seed=2)
    assert "other" not in set(synthetic["sex"].to_pylist()) | set(synthetic["grade"].to_pylist())
    assert synthetic["seen"].null_count == 0
    assert synthetic["grade"].null_count > 100


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 9.0])
@pytest.mark.parametrize("rows", [0, 1, 50])
def test_tiny_tables_at_any_epsilon_give_rows_of_the_schema(
    epsilon: float, rows: int, schema: pt.Schema, people: People
) -> None:
    synthetic = pt.fit(pt.release(people(rows), schema, epsilon=epsilon, target="member")).sample(40, seed=0)
    assert synthetic.column_names == list(schema.columns)
    assert synthetic.num_rows == 40


def test_one_column_alone(people: People) -> None:
    alone = pt.Schema(name="one", columns={"age": pt.Integer(min=0, max=110, missing=False)})
    release = pt.release(people(5_000).select(["age"]), alone, epsilon=1.0)
    assert len(release.measurements) == 1
    assert abs(np.mean(pt.fit(release).sample(5_000, seed=0)["age"].to_pylist()) - 55) < 5


def test_unknown_targets_and_methods_are_named(schema: pt.Schema) -> None:
    with pytest.raises(SchemaError, match="target 'wage'"):
        pt.plan(schema, epsilon=1.0, target="wage")
    with pytest.raises(UsageError, match="mosaic"):
        pt.plan(schema, epsilon=1.0, method="magic")
    with pytest.raises(UsageError, match="replace-one"):
        pt.plan(schema, epsilon=1.0, neighbours="bounded")


def test_a_fit_uses_the_settings_that_the_release_was_planned_with(schema: pt.Schema, people: People) -> None:
    release = pt.release(people(300), schema, epsilon=1.0, method=pt.Mosaic(components=7, steps=3))
    assert pt.fit(release).generator.describe() == "a mixture of 7 components"
    assert pt.fit(release, method=pt.Mosaic(components=9, steps=2)).generator.describe() == "a mixture of 9 components"


@pytest.mark.parametrize(
    "options", [{"one_way_share": 0.0}, {"label_share": 1.0}, {"most_tiles": 3}, {"components": 0}, {"steps": 0}]
)
def test_impossible_settings_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=next(iter(options))):
        pt.Mosaic(**options)  # type: ignore[arg-type]


def test_a_method_is_a_name_or_a_recipe(schema: pt.Schema) -> None:
    for wrong in (pt.Mosaic, 3):
        with pytest.raises(UsageError, match="Known methods"):
            pt.plan(schema, epsilon=1.0, method=wrong)  # type: ignore[arg-type]


def test_several_targets_share_their_part_of_the_budget(schema: pt.Schema, people: People) -> None:
    """Every table of two targets and a third column is measured once, by the first of the two."""
    plan = pt.plan(schema, epsilon=1.0, target=["sex", "grade"])
    pairs, by_sex, by_grade = plan.rounds[1].blocks
    others = len(schema.columns) - 1
    assert (by_sex.name, by_grade.name) == ("pairs of columns, by sex", "pairs of columns, by grade")
    assert by_sex.count == others * (others - 1) // 2
    assert by_grade.count == (others - 1) * (others - 2) // 2
    parts = [block.count * block.weight**2 for block in (pairs, by_sex, by_grade)]
    assert parts == pytest.approx([0.5, 0.25, 0.25])

    release = pt.release(people(3_000), schema, epsilon=5.0, target=("sex", "grade"))
    assert release.target == "sex"
    assert release.plan.targets == ("sex", "grade")
    labelled = [p.parts[0] for p in release.measurements[1].feature_map.parts if isinstance(p.parts[0], Labelled)]
    assert [each.label.column for each in labelled] == ["sex"] * by_sex.count + ["grade"] * by_grade.count
    assert pt.fit(release).sample(100, seed=0).num_rows == 100


def test_where_noise_drowns_all_pairs_those_with_any_target_remain() -> None:
    few = wide(40).model_copy(update={"rows": 1000})
    plan = pt.plan(few, epsilon=1.0, target=["c3", "c5"])
    assert plan.rounds[1].blocks[0].count == 39 + 38
    assert any("Only pairs with c3 or c5" in note for note in plan.notes)


@pytest.mark.parametrize(("target", "message"), [(["sex", "sex"], "twice"), (3, "name of a column"), ([1], "list of")])
def test_targets_that_make_no_sense_are_refused(target: object, message: str, schema: pt.Schema) -> None:
    with pytest.raises(UsageError, match=message):
        pt.plan(schema, epsilon=1.0, target=target)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["merf", "hermite"])
def test_other_methods_take_one_target(method: str, schema: pt.Schema) -> None:
    with pytest.raises(UsageError, match=f"{method} takes one target, not 2"):
        pt.plan(schema, epsilon=1.0, target=["sex", "grade"], method=method)


def test_a_plan_says_what_error_to_expect_of_synthetic_rows(schema: pt.Schema) -> None:
    """Before anything is spent; the more budget, the less."""
    found = [pt.plan(schema, epsilon=epsilon, target="sex").expected for epsilon in (0.1, 1.0, 10.0)]
    for each in found:
        assert [expected.name for expected in each] == ["one-way marginals", "pairs of columns"]
    for one_way, pairs in found:
        assert 0 < one_way.error <= 1
        assert 0 < pairs.error <= 1
    for number in (0, 1):
        errors = [each[number].error for each in found]
        assert errors == sorted(errors, reverse=True)
    assert pt.plan(schema.model_copy(update={"rows": None}), epsilon=1.0).expected == ()


def test_the_expectation_is_near_what_comes(schema: pt.Schema, people: People) -> None:
    """On a table that the rule was not found on. The factor is twice the stated one: this is one table, and noise."""
    table = people(schema.rows)
    release = pt.release(table, schema, epsilon=1.0)
    real, made = read(table, schema), read(pt.fit(release).sample(schema.rows, seed=0), schema)
    for order, expected in enumerate(release.plan.expected, start=1):
        ratio = marginals(real, made, order).mean / expected.error
        assert 1 / (2 * expected.factor) < ratio < 2 * expected.factor


def test_a_target_that_only_two_columns_together_tell_is_kept() -> None:
    """The target is the parity of two columns: pairs by the target were paid for, and samples of any size keep them."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (20_000, 2))
    columns = {"a": bits[:, 0], "b": bits[:, 1], "parity": bits[:, 0] ^ bits[:, 1]}
    columns |= {f"other {number}": rng.integers(0, 4, 20_000) for number in range(4)}
    schema = pt.Schema(
        name="parity", reviewed=True, rows=20_000, columns={name: pt.Integer(min=0, max=3) for name in columns}
    )
    release = pt.release(pa.table(columns), schema, epsilon=1.0, target="parity")
    model = pt.fit(release)
    for count in (5_000, 60_000):
        made = model.sample(count, seed=0)
        a, b, parity = (made[name].to_numpy() for name in ("a", "b", "parity"))
        # The noise moves the share by well under 0.01 from run to run.
        assert np.mean(parity == a ^ b) > 0.96


def test_what_samples_hold_comes_back_from_a_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2, (5_000, 3))
    columns = {"a": bits[:, 0], "b": bits[:, 1], "parity": bits[:, 0] ^ bits[:, 1], "other": bits[:, 2]}
    schema = pt.Schema(
        name="parity", reviewed=True, rows=5_000, columns={name: pt.Integer(min=0, max=1) for name in columns}
    )
    model = pt.fit(pt.release(pa.table(columns), schema, epsilon=5.0, target="parity"))
    model.save(tmp_path / "parity.model")
    again = pt.Model.load(tmp_path / "parity.model")
    assert again.sample(4_000, seed=3).equals(model.sample(4_000, seed=3))
    made = again.sample(4_000, seed=3)
    assert np.mean(made["parity"].to_numpy() == made["a"].to_numpy() ^ made["b"].to_numpy()) > 0.96
