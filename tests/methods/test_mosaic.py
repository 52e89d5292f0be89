"""Mosaic: plans from public facts that keep to their limits, and synthetic data that carry the dependence over."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import spearmanr

import pointillist as pt
from pointillist.errors import SchemaError, UsageError
from pointillist.evaluate.tables.metrics.marginals import independent, marginals
from pointillist.evaluate.tables.sample import read
from pointillist.features import Concat, Labelled
from pointillist.fitting.evidence import tables_of

People = Callable[..., pa.Table]


def wide(columns: int) -> pt.Schema:
    return pt.Schema(name="wide", rows=10_000_000, columns={f"c{i}": pt.Integer(min=0, max=99) for i in range(columns)})


@pytest.mark.parametrize(
    ("columns", "target", "tables"),
    [
        (5, None, [5, 5, 1, 1, 10]),
        (5, "c0", [5, 5, 1, 1, 1, 1, 10, 6]),
        (2, None, [2, 2, 1]),
        (90, None, [90, 90, 1, 4005]),
    ],
)
def test_where_there_are_many_rows_all_pairs_are_measured(columns: int, target: str | None, tables: list[int]) -> None:
    plan = pt.plan(wide(columns), epsilon=1.0, target=target)
    assert [block.count for each in plan.rounds for block in each.blocks] == tables


@pytest.mark.parametrize("rows", [1000, 100_000, None])
@pytest.mark.parametrize(("columns", "target"), [(3, None), (40, "c3"), (150, "c3"), (400, None)])
def test_plans_stay_within_their_limit(columns: int, target: str | None, rows: int | None) -> None:
    """However many columns and however few rows there are, all pairs are looked at, and the budget is spent."""
    plan = pt.plan(wide(columns).model_copy(update={"rows": rows}), epsilon=1.0, target=target)
    assert sum(block.cells for block in plan.rounds[-1].blocks) <= max(pt.Mosaic().most_cells, 2 * columns**2)
    assert sum(each.share for each in plan.rounds) == pytest.approx(1.0)
    outline = next(
        block for each in plan.rounds for block in each.blocks if block.name == "pairs of columns in outline"
    )
    assert outline.cells >= columns * (columns - 1) // 2


def test_beyond_a_thousand_columns_only_those_with_the_target_are_measured() -> None:
    last = pt.plan(wide(1001), epsilon=1.0, target="c3").rounds[-1]
    assert [block.count for block in last.blocks] == [1000]
    with pytest.raises(UsageError, match=r"over 1,000 columns.*allow_independent=true"):
        pt.plan(wide(1001), epsilon=1.0)
    alone = pt.plan(wide(1001), epsilon=1.0, method=pt.Mosaic(allow_independent=True))
    assert len(alone.rounds) == 1
    assert any("Only one-way" in note for note in alone.notes)


def test_the_fewer_rows_there_are_the_fewer_tables_are_measured() -> None:
    counts = []
    for rows in (1000, 5000, 30_000, 1_000_000):
        last = pt.plan(wide(40).model_copy(update={"rows": rows}), epsilon=1.0).rounds[-1]
        counts.append(sum(block.count for block in last.blocks))
    assert counts == sorted(counts)
    assert counts[0] < 50
    assert counts[-1] == 780


def test_the_noisier_pairs_are_the_more_goes_to_single_columns() -> None:
    shares = [pt.plan(wide(20), epsilon=epsilon).rounds[0].share for epsilon in (0.01, 0.1, 1.0)]
    assert shares == sorted(shares, reverse=True)
    assert pt.plan(wide(20), epsilon=1.0, method=pt.Mosaic(one_way_share=0.4)).rounds[0].share == 0.4


def test_the_release_keeps_to_its_plan(schema: pt.Schema, people: People) -> None:
    plan = pt.plan(schema, epsilon=1.0, target="sex")
    release = pt.release(people(3_000), schema, epsilon=1.0, target="sex")
    for planned, stated, measurement in zip(plan.rounds, release.plan.rounds, release.measurements, strict=True):
        assert isinstance(measurement.feature_map, Concat)
        assert len(measurement.feature_map.maps) == sum(block.count for block in stated.blocks)
        assert measurement.feature_map.dimension == sum(block.cells for block in stated.blocks) <= planned.dimension
        assert (stated.share, stated.grid) == (planned.share, planned.grid)


def test_a_numeric_target_is_cut_into_few_tiles(schema: pt.Schema, people: People) -> None:
    release = pt.release(people(20_000), schema, epsilon=5.0, target="age")
    label = next(p.parts[0] for p in release.measurements[-1].feature_map.parts if isinstance(p.parts[0], Labelled))
    assert 2 <= label.label.dimension <= pt.Mosaic().most_classes
    assert pt.fit(release).sample(100, seed=0).num_rows == 100


def test_a_delta_that_gives_rows_away_is_noted(schema: pt.Schema) -> None:
    assert any("not below 1 / rows" in note for note in pt.plan(schema, epsilon=1.0, delta=0.01).notes)
    assert not any("below 1" in note for note in pt.plan(schema, epsilon=1.0, delta=1e-6).notes)


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
    pairs, by_sex, by_grade = plan.rounds[-1].blocks
    others = len(schema.columns) - 1
    assert (by_sex.name, by_grade.name) == ("pairs of columns, by sex", "pairs of columns, by grade")
    assert by_sex.count == others * (others - 1) // 2
    assert by_grade.count == (others - 1) * (others - 2) // 2
    parts = [block.count * block.weight**2 for block in (pairs, by_sex, by_grade)]
    assert parts == pytest.approx([0.65, 0.175, 0.175])

    release = pt.release(people(3_000), schema, epsilon=5.0, target=("sex", "grade"))
    assert release.target == "sex"
    assert release.plan.targets == ("sex", "grade")
    labelled = [p.parts[0] for p in release.measurements[-1].feature_map.parts if isinstance(p.parts[0], Labelled)]
    assert [each.label.column for each in labelled] == ["sex"] * by_sex.count + ["grade"] * by_grade.count
    assert pt.fit(release).sample(100, seed=0).num_rows == 100


def test_strong_pairs_among_many_columns_are_found() -> None:
    """40 columns of 5,000 rows; ten pairs have a correlation of 0.89, and noise hides all other tables."""
    rng = np.random.default_rng(5)
    values = rng.standard_normal((5_000, 40))
    values[:, 10:20] = 0.89 * values[:, :10] + np.sqrt(1 - 0.89**2) * values[:, 10:20]
    columns = {f"c{number}": pt.Real(min=-4, max=4, missing=False) for number in range(40)}
    schema = pt.Schema(name="pairs", reviewed=True, rows=5_000, columns=columns)
    table = pa.table({name: values[:, number] for number, name in enumerate(columns)})
    release = pt.release(table, schema, epsilon=1.0)
    measured = {frozenset(table.columns) for each in release.measurements[2:] for table in tables_of(each)}
    assert {frozenset([f"c{number}", f"c{number + 10}"]) for number in range(10)} <= measured
    made = pt.fit(release).sample(5_000, seed=0)
    found = [spearmanr(made[f"c{number}"], made[f"c{number + 10}"])[0] for number in range(10)]
    assert np.mean(found) > 0.6  # 0.78 in a few runs, give or take 0.03
    others = [spearmanr(made[f"c{number}"], made[f"c{number + 1}"])[0] for number in range(20, 39)]
    assert np.abs(others).max() < 0.3


def test_columns_with_many_special_values_find_room() -> None:
    """The columns that depend on each other have far more atoms than the others, of which a plan knows the mean."""
    rng = np.random.default_rng(8)
    special = tuple(float(-number) for number in range(1, 16))
    columns: dict[str, pt.Real | pt.Boolean] = {
        name: pt.Real(min=0, max=1, special=special) for name in ("first", "second")
    }
    columns |= {f"flag {number}": pt.Boolean() for number in range(12)}
    codes = rng.integers(0, 15, 600)
    made = {name: np.where(rng.random(600) < 0.9, -1.0 - codes, 0.5) for name in ("first", "second")}
    made |= {f"flag {number}": rng.random(600) < 0.5 for number in range(12)}
    schema = pt.Schema(name="special", reviewed=True, rows=600, columns=columns)
    for epsilon in (0.1, 1.0, 9.0):
        release = pt.release(pa.table(made), schema, epsilon=epsilon, target="first")
        assert release.measurements[-1].feature_map.dimension <= pt.plan(
            schema, epsilon=epsilon, target="first"
        ).rounds[-1].dimension  # fmt: skip


def test_the_number_of_rows_need_not_be_stated(schema: pt.Schema, people: People) -> None:
    """Then the choice of tables rests on how many rows round 1 counted."""
    unknown = schema.model_copy(update={"rows": None})
    few, many = (pt.release(people(rows), unknown, epsilon=1.0, target="sex") for rows in (200, 20_000))
    assert sum(block.count for block in few.plan.rounds[-1].blocks) < sum(
        block.count for block in many.plan.rounds[-1].blocks
    )
    assert pt.fit(few).sample(50, seed=0).num_rows == 50


@pytest.mark.parametrize(("target", "message"), [(["sex", "sex"], "twice"), (3, "name of a column"), ([1], "list of")])
def test_targets_that_make_no_sense_are_refused(target: object, message: str, schema: pt.Schema) -> None:
    with pytest.raises(UsageError, match=message):
        pt.plan(schema, epsilon=1.0, target=target)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["merf", "hermite"])
def test_other_methods_take_one_target(method: str, schema: pt.Schema) -> None:
    with pytest.raises(UsageError, match=f"{method} takes one target, not 2"):
        pt.plan(schema, epsilon=1.0, target=["sex", "grade"], method=method)


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


def test_a_target_that_only_three_columns_together_tell_is_kept() -> None:
    """No pair by the target shows it: the screen of four columns does, their table is measured, and samples hold it."""
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 2, (20_000, 9))
    columns = {f"bit {number}": bits[:, number] for number in range(9)} | {"parity": bits[:, :3].sum(axis=1) % 2}
    schema = pt.Schema(
        name="parity", reviewed=True, rows=20_000, columns={name: pt.Integer(min=0, max=1) for name in columns}
    )
    release = pt.release(pa.table(columns), schema, epsilon=1.0, target="parity")
    made = pt.fit(release).sample(20_000, seed=0)
    told = sum(made[f"bit {number}"].to_numpy() for number in range(3)) % 2
    assert np.mean(told == made["parity"].to_numpy()) > 0.9  # 0.5 by chance; the noise moves it by about 0.01


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
