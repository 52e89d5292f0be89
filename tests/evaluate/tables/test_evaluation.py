"""The whole evaluation: complete, plain in JSON, patient with odd tables, and silent about values."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import pointillist as pt
from pointillist.errors import DataError, PointillistError, SchemaError, UsageError
from pointillist.evaluate.tables.evaluation import Evaluation, evaluate
from pointillist.evaluate.tables.sample import read

SECRET = "SECRETVALUE"
People = Callable[..., pa.Table]


def plain(value: Any) -> bool:
    """Only what JSON itself knows; numpy's numbers are not."""
    if isinstance(value, dict):
        return all(type(key) is str and plain(each) for key, each in value.items())
    if isinstance(value, list):
        return all(plain(each) for each in value)
    return value is None or type(value) in (str, int, float, bool)


def checked(found: Evaluation) -> Evaluation:
    """What holds for every evaluation."""
    facts = found.to_json()
    assert plain(facts)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert found.table().column_names == ["measure", "value"]
    assert np.isfinite(found.table()["value"].to_numpy()).all()
    assert found.verdict.grade in ("good", "fair", "poor", "unclear")
    return found


class TestWhole:
    def test_with_everything(self, schema: pt.Schema, people: People, tmp_path: Path) -> None:
        real, made, held = people(1_500, 1), people(1_000, 2), people(300, 3)
        release = pt.release(real, schema, epsilon=2.0, target="grade")
        release.save(tmp_path / "r.release")
        found = checked(evaluate(real, made, release=tmp_path / "r.release", holdout=held))
        assert found.rows == {"real": 1_500, "synthetic": 1_000, "holdout": 300}
        assert found.name == "people"
        assert found.utility is not None
        assert found.utility.target == "grade"  # the release's own
        assert found.utility.rows["real"] > 1_300  # all real rows train, but for those without a grade
        assert found.forecast is not None
        assert found.forecast.fits is True
        assert found.to_json()["guarantee"]["epsilon"] == 2.0
        assert [each.order for each in found.marginals] == [1, 2, 3]
        assert [len(each.tables) for each in found.marginals] == [6, 15, 20]
        assert found.notes == ()
        # Two samples of one population: nothing stands out. (An AUROC within 0.1 is four standard deviations.)
        assert abs(found.discriminator.auroc - 0.5) < 0.1
        assert found.kernel_test.p_value > 0.001
        assert found.verdict.grade == "good"

    def test_with_the_least(self, schema: pt.Schema, people: People, tmp_path: Path) -> None:
        (tmp_path / "people.toml").write_text(schema.to_toml())
        found = checked(evaluate(people(300, 1), people(300, 2), tmp_path / "people.toml"))
        assert found.rows == {"real": 300, "synthetic": 300}
        assert (found.utility, found.forecast, found.release, found.audit) == (None, None, None, None)
        assert len(found.notes) == 1
        assert "target" in found.notes[0]

    def test_without_a_holdout_a_quarter_is_held_back(self, schema: pt.Schema, people: People) -> None:
        found = checked(evaluate(people(400, 1), people(200, 2), schema, target="sex"))
        assert found.utility is not None
        assert found.utility.rows == {"real": 300, "synthetic": 200, "test": 100}
        assert found.rows == {"real": 400, "synthetic": 200}  # all other figures use every row
        assert any("quarter" in note for note in found.notes)

    def test_of_shuffled_columns_is_poor(self, schema: pt.Schema, people: People) -> None:
        made, rng = people(1_500, 2), np.random.default_rng(0)
        made = pa.table({name: made[name].take(rng.permutation(1_500)) for name in made.column_names})
        found = evaluate(people(1_500, 1), made, schema)
        grades = {point.question: point.grade for point in found.verdict.points}
        assert grades["single columns"] == "good"
        assert grades["pairs of columns"] == "poor"
        assert grades["likeness of whole rows"] != "good"
        assert found.kernel_test.p_value == 0.002
        assert found.dependence.kept is not None
        assert found.dependence.kept < 0.2

    def test_of_another_table_than_the_released_one(self, schema: pt.Schema, people: People) -> None:
        release = pt.release(people(1_500, 1), schema, epsilon=2.0)
        found = checked(evaluate(people(800, 5), people(100, 2), release=release))
        assert found.forecast is not None
        assert found.forecast.fits is False
        assert any("does not belong" in note for note in found.notes)

    def test_the_seed_decides(self, schema: pt.Schema, people: People) -> None:
        runs = [evaluate(people(200, 1), people(200, 2), schema, seed=seed).to_json() for seed in (1, 1, 2)]
        assert runs[0] == runs[1] != runs[2]

    def test_progress_goes_from_nothing_to_all(self, schema: pt.Schema, people: People) -> None:
        for target in ("sex", None):
            seen: list[tuple[str, float]] = []
            evaluate(
                people(80, 1),
                people(80, 2),
                schema,
                target=target,
                progress=lambda step, fraction, seen=seen: seen.append((step, fraction)),  # type: ignore[misc]
            )
            fractions = [fraction for _, fraction in seen]
            assert fractions == sorted(fractions)
            assert (fractions[0], fractions[-1]) == (0.0, 1.0)
            assert {step for step, _ in seen} == {"evaluate"}

    def test_the_report_is_one_page(self, schema: pt.Schema, people: People) -> None:
        page = evaluate(people(120, 1), people(120, 2), schema, target="sex").to_html()
        assert page.lstrip().lower().startswith("<!doctype html")
        assert "people" in page


def test_one_thread_also_in_libraries_that_come_late() -> None:
    """Threads of two libraries that wait for each other made it fifteen times slower, on two busy cores."""
    code = """
import pyarrow as pa
import pointillist as pt
from pointillist.evaluate.tables.metric import METRICS, TableMetric
from threadpoolctl import threadpool_info

found = []

@METRICS.register("pools")
class Pools(TableMetric):
    def compute(self, real, synthetic, context):
        import sklearn.ensemble, sklearn.linear_model
        found.extend((each["user_api"], each["num_threads"]) for each in threadpool_info())

table = pa.table({"x": [True, False] * 9})
pt.evaluate(table, table, pt.Schema(name="x", columns={"x": pt.Boolean()}))
assert {"openmp", "blas"} <= {kind for kind, _ in found}, found
assert {threads for _, threads in found} == {1}, found
"""
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run([sys.executable, "-c", code], env=free, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


class TestOddTables:
    @pytest.mark.parametrize(
        "column",
        [
            pt.Boolean(missing=False),
            pt.Integer(min=0, max=1, missing=False),
            pt.Categorical(categories=(0, 1), missing=False, out_of_domain="error"),
        ],
    )
    def test_one_column(self, column: Any) -> None:
        schema = pt.Schema(name="one", columns={"x": column})
        real, made = (pa.table({"x": [0, 1] * half}) for half in (20, 15))
        found = checked(evaluate(real, made, schema, target="x"))
        assert [each.order for each in found.marginals] == [1]
        assert found.shuffled == ()
        assert found.utility is None
        assert any("one column only" in note for note in found.notes)
        questions = [point.question for point in found.verdict.points if not point.question.endswith("of numbers")]
        assert questions == ["single columns", "likeness of whole rows"]
        found.to_html()

    @pytest.mark.parametrize("rows", [1, 2, 3])
    def test_hardly_any_rows(self, rows: int, schema: pt.Schema, people: People) -> None:
        for real, made in ((people(rows, 1), people(50, 2)), (people(50, 1), people(rows, 2))):
            checked(evaluate(real, made, schema))
        checked(evaluate(people(rows, 1), people(rows, 1), schema)).to_html()

    def test_columns_without_values(self, schema: pt.Schema, people: People) -> None:
        table = people(60, 1)
        for name in ("grade", "member", "income", "seen"):
            place = table.column_names.index(name)
            table = table.set_column(place, name, pa.nulls(60, table[name].type))
        checked(evaluate(table, people(60, 2), schema, target="sex"))
        checked(evaluate(people(60, 2), table, schema, target="sex")).to_html()

    def test_constant_tables(self) -> None:
        schema = pt.Schema(name="c", columns={"x": pt.Integer(min=0, max=9), "y": pt.Boolean()})
        same = pa.table({"x": [3] * 30, "y": [True] * 30})
        found = checked(evaluate(same, same, schema))
        assert found.kernel_test.p_value == 1.0
        assert found.verdict.grade == "good"
        assert found.dependence.kept is None
        checked(evaluate(same, pa.table({"x": [4] * 30, "y": [False] * 30}), schema))

    @pytest.mark.parametrize("target", ["grade", "income"])
    def test_a_synthetic_table_without_a_target(self, target: str, schema: pt.Schema, people: People) -> None:
        made = people(60, 2)
        made = made.set_column(made.column_names.index(target), target, pa.nulls(60, made[target].type))
        found = checked(evaluate(people(100, 1), made, schema, target=target))
        assert found.utility is not None
        assert any("missing in every row" in note for note in found.utility.notes)

    def test_unlisted_categories_are_a_level_like_any_other(self, schema: pt.Schema, people: People) -> None:
        real = people(100, 1)
        real = real.set_column(0, "sex", pa.array([SECRET] * 50 + ["male"] * 50))
        found = checked(evaluate(real, people(100, 2), schema))
        (sex,) = [each for each in found.columns.columns if each.name == "sex"]
        assert [(bar.label, bar.real) for bar in sex.bars] == [("female", 0.0), ("male", 0.5), ("other", 0.5)]
        (point,) = [each for each in found.verdict.points if each.question == "values that the schema cuts off"]
        assert point.grade == "poor"
        assert SECRET in point.advice[0].code  # what many rows have may be listed, if its owner vouches for it
        assert SECRET not in point.sentence

    def test_an_unlisted_category_that_few_have_is_never_named(self, schema: pt.Schema, people: People) -> None:
        real = people(100, 1)
        real = real.set_column(0, "sex", pa.array([SECRET] * 9 + ["male"] * 91))
        found = checked(evaluate(real, people(100, 2), schema))
        assert SECRET not in json.dumps(found.to_json())
        assert SECRET not in found.to_html()


class TestMistakes:
    def refused(self, kind: type[PointillistError], *words: str, **given: Any) -> str:
        with pytest.raises(PointillistError) as caught:
            evaluate(**given)
        assert isinstance(caught.value, kind)
        error: BaseException | None = caught.value
        while error is not None:
            assert SECRET not in str(error)
            assert "987654" not in str(error)
            error = error.__cause__ or error.__context__
        for word in words:
            assert word in str(caught.value), (word, str(caught.value))
        return str(caught.value)

    @pytest.mark.parametrize("role", ["real", "synthetic", "holdout"])
    def test_other_columns(self, role: str, schema: pt.Schema, people: People) -> None:
        tables = {"real": people(9), "synthetic": people(9)} | {role: people(9).rename_columns([*"abcde", SECRET])}
        self.refused(DataError, f"the {role} table", "'sex'", schema=schema, **tables)

    def test_a_files_name_is_enough(self, schema: pt.Schema, people: People, tmp_path: Path) -> None:
        pacsv.write_csv(people(9).drop_columns(["age"]), tmp_path / "made.csv")
        text = self.refused(
            DataError, "made.csv", "'age'", real=people(9), synthetic=tmp_path / "made.csv", schema=schema
        )
        assert "the synthetic table" not in text

    @pytest.mark.parametrize("role", ["real", "synthetic", "holdout"])
    def test_other_types(self, role: str, schema: pt.Schema, people: People) -> None:
        odd = people(9).set_column(3, "age", pa.array([SECRET] * 9))
        tables = {"real": people(9), "synthetic": people(9)} | {role: odd}
        self.refused(DataError, f"the {role} table", "'age'", "integer", schema=schema, **tables)

    @pytest.mark.parametrize("role", ["real", "synthetic", "holdout"])
    def test_no_rows(self, role: str, schema: pt.Schema, people: People) -> None:
        tables = {"real": people(9), "synthetic": people(9)} | {role: people(9).slice(0, 0)}
        self.refused(DataError, f"the {role} table", "no rows", schema=schema, **tables)

    @pytest.mark.parametrize("role", ["real", "synthetic"])
    def test_values_against_the_rules(self, role: str, schema: pt.Schema, people: People) -> None:
        columns = {
            **schema.columns,
            "sex": pt.Categorical(categories=("female", "male"), missing=False, out_of_domain="error"),
            "age": pt.Integer(min=0, max=110, out_of_domain="error"),
        }
        strict = schema.model_copy(update={"columns": columns})
        good = people(9)
        named = good.set_column(0, "sex", pa.array([SECRET] * 9))
        large = good.set_column(3, "age", pa.array([987654] * 9))
        for odd, column in ((named, "'sex'"), (large, "'age'")):
            tables = {"real": good, "synthetic": good} | {role: odd}
            self.refused(DataError, f"the {role} table", column, schema=strict, **tables)
        gaps = good.set_column(3, "age", pa.nulls(9, pa.int64()))
        self.refused(DataError, "'age'", "missing", schema=schema, real=good, synthetic=gaps)

    def test_a_constant_target(self, schema: pt.Schema, people: People) -> None:
        real = people(60, 1).set_column(0, "sex", pa.array(["male"] * 60))
        self.refused(
            DataError, "'sex'", "Choose another target", real=real, synthetic=people(60), schema=schema, target="sex"
        )

    def test_a_target_that_is_no_column(self, schema: pt.Schema, people: People) -> None:
        given: dict[str, Any] = {"real": people(9), "synthetic": people(9), "schema": schema}
        self.refused(SchemaError, "'height'", "sex, grade", target="height", **given)

    def test_no_schema(self, people: People, tmp_path: Path) -> None:
        self.refused(UsageError, "schema", real=people(9), synthetic=people(9))
        absent = tmp_path / "none.toml"
        self.refused(SchemaError, "none.toml", real=people(9), synthetic=people(9), schema=absent)

    def test_things_that_are_no_tables(self, schema: pt.Schema, people: People) -> None:
        self.refused(UsageError, "the synthetic table", "int", real=people(9), synthetic=7, schema=schema)
        self.refused(DataError, "nowhere.csv", real="nowhere.csv", synthetic=people(9), schema=schema)

    def test_another_schema_than_the_releases_is_refused_at_once(self, schema: pt.Schema, people: People) -> None:
        release = pt.release(people(50), schema, epsilon=1.0)
        columns = {**schema.columns, "age": pt.Integer(min=0, max=120, missing=False)}
        seen: list[float] = []
        self.refused(
            UsageError,
            "another schema",
            real=people(50),
            synthetic=people(50),
            schema=schema.model_copy(update={"columns": columns}),
            release=release,
            progress=lambda step, fraction: seen.append(fraction),
        )
        assert seen == []


def test_a_column_of_very_many_categories_fits_into_memory() -> None:
    rng = np.random.default_rng(0)
    names = tuple(f"place {number}" for number in range(30_000))
    schema = pt.Schema(
        name="places",
        columns={name: pt.Categorical(categories=names, missing=False) for name in ("a", "b")},
    )
    real, made = (pa.table({name: [names[i] for i in rng.integers(0, 30_000, 500)] for name in "ab"}) for _ in range(2))
    result = evaluate(real, made, schema)
    assert len(result.to_html()) < 5_000_000
    assert result.dependence.real[0, 1] < 0.3


def test_all_rows_of_a_person_stand_on_one_side() -> None:
    """The label is a coin toss for each person, so nothing can be learnt of other people: AUROC 0.5 (0.35 to 0.65)."""
    rng = np.random.default_rng(0)
    people, each = 300, 8
    ill = np.repeat(rng.random(people) < 0.5, each)
    trait = np.repeat(rng.normal(size=people), each) + rng.normal(0, 0.01, people * each)
    table = pa.table({"id": np.repeat(np.arange(people), each), "trait": trait, "ill": ill})
    schema = pt.Schema(
        name="visits",
        person=pt.Person(column="id", max_rows=each),
        columns={"trait": pt.Real(min=-5, max=5, missing=False), "ill": pt.Boolean(missing=False)},
    )
    result = evaluate(table, table.drop(["id"]), schema, target="ill")
    assert result.utility is not None
    assert 0.35 < result.utility.mean("AUROC", "real") < 0.65
    assert any("rows of one person are alike" in note for note in result.notes)


def test_the_real_table_in_place_of_the_synthetic_one_is_noticed(schema: pt.Schema, people: People) -> None:
    table = people(600, 1)
    result = evaluate(table, table, schema, holdout=table)
    assert result.verdict.grade == "poor"
    assert result.verdict.points[0].question == "copies of real rows"
    assert sum("of the holdout's rows are also in" in note for note in result.notes) == 2
    assert "Do not hand this table out" in result.to_html()


def test_nothing_prints_rows(schema: pt.Schema, people: People) -> None:
    sample = read(people(50, 1), schema)
    result = evaluate(people(50, 1), people(50, 2), schema)
    for text in (repr(sample), repr(sample.records), repr(result), repr(result.projection)):
        assert len(text) < 200
        assert "array" not in text
