"""Models trained on synthetic rows: every kind of target, and every way in which one can be hopeless."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import DataError, UsageError
from pointillist.evaluate.tables.leakage import Leak
from pointillist.evaluate.tables.metrics.utility import Score, Utility, utility
from pointillist.evaluate.tables.sample import Sample, read
from pointillist.evaluate.verdict import Point

TARGETS: dict[str, Any] = {
    "two": pt.Categorical(categories=("no", "yes"), missing=False),
    "three": pt.Categorical(categories=("a", "b", "c")),
    "flag": pt.Boolean(),
    "rank": pt.Ordinal(categories=("low", "middle", "high")),
    "number": pt.Real(min=-10, max=10),
    "money": pt.Real(min=0.01, max=1000, scale="log", special=(0.0,)),
}


def schema_for(target: str) -> pt.Schema:
    inputs = {"x": pt.Real(min=-5, max=5), "k": pt.Categorical(categories=("u", "v"), missing=False)}
    return pt.Schema(name="t", columns={**inputs, target: TARGETS[target]})


def sample(target: str, rows: int, seed: int, *, gaps: float = 0.0) -> Sample:
    """The target follows from x, with some noise."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(rows)
    noisy = x + 0.3 * rng.standard_normal(rows)
    values: dict[str, Any] = {
        "two": np.where(noisy > 1, "yes", "no"),
        "three": np.array(["a", "b", "c"])[np.digitize(noisy, [-0.5, 0.5])],
        "flag": noisy > 0.5,
        "rank": np.array(["low", "middle", "high"])[np.digitize(noisy, [-0.5, 0.5])],
        "number": noisy,
        "money": np.where(noisy < -1, 0.0, np.exp(noisy)),
    }
    columns = {
        "x": pa.array(x, mask=rng.random(rows) < 0.02),
        "k": np.where(rng.random(rows) < 0.5, "u", "v"),
        target: pa.array(values[target], mask=rng.random(rows) < gaps),
    }
    return read(pa.table(columns), schema_for(target))


def changed(made: Sample, target: str, values: list[Any]) -> Sample:
    """The same inputs with other target values."""
    schema = pt.Schema(name="t", columns={target: TARGETS[target]})
    other = read(pa.table({target: values}), schema).records
    codes, units = {**made.records.codes, **other.codes}, {**made.records.units, **other.units}
    return Sample(made.name, made.levels, type(other)(made.rows, codes, units))


def shuffled(made: Sample, target: str, seed: int = 0) -> Sample:
    order = np.random.default_rng(seed).permutation(made.rows)
    codes = {**made.records.codes, target: made.records.codes[target][order]}
    units = {n: u[order] if n == target else u for n, u in made.records.units.items()}
    return Sample(made.name, made.levels, type(made.records)(made.rows, codes, units))


def gaps_of(found: Utility) -> list[float]:
    return [gap for each in found.scores for gap in each.gap.values()]


@pytest.mark.parametrize("target", TARGETS)
def test_every_kind_of_target(target: str) -> None:
    """Real rows teach, and the same rows teach the same."""
    gaps = 0.0 if target == "two" else 0.05
    real, test = sample(target, 400, 1, gaps=gaps), sample(target, 300, 2, gaps=gaps)
    found = utility(real, real, test, target)
    assert gaps_of(found) == [0.0] * len(gaps_of(found))
    assert found.task == ("regression" if target in ("number", "money") else "classification")
    assert len(found.scores) == 3
    measure = found.measures[0]
    assert all(each.real[measure] > (0.8 if measure == "AUROC" else 0.65) for each in found.scores)


def test_shuffled_numbers_teach_nothing() -> None:
    """R² of a model that learnt noise is below 0.15 at 300 test rows by over four standard deviations."""
    real, test = sample("number", 400, 1), sample("number", 300, 2)
    found = utility(real, shuffled(real, "number"), test, "number")
    assert all(each.synthetic["R²"] < 0.15 for each in found.scores)


def test_shuffled_classes_teach_nothing() -> None:
    """The mean AUROC over four shuffles lies within 0.5 ± 0.25.

    A model of noise points somewhere in the ten dimensions of the inputs, by chance a little along the true direction
    or against it: its AUROC varies by about 0.11, the mean of four by 0.055. A false alarm: below 1 in 10,000.
    """
    names = [f"x{i}" for i in range(10)]
    schema = pt.Schema(name="t", columns={**{n: pt.Real(min=-5, max=5) for n in names}, "flag": TARGETS["flag"]})

    def make(seed: int) -> Sample:
        x = np.random.default_rng(seed).standard_normal((300, 10))
        return read(pa.table({**dict(zip(names, x.T, strict=True)), "flag": x.sum(axis=1) > 0}), schema)

    real, test = make(1), make(2)
    runs = [utility(real, shuffled(real, "flag", seed), test, "flag") for seed in range(4)]
    assert runs[0].mean("AUROC", "real") > 0.8
    assert abs(np.mean([run.mean("AUROC", "synthetic") for run in runs]) - 0.5) < 0.25


@pytest.mark.parametrize("target", ["three", "money"])
def test_a_second_sample_is_as_good_as_the_first(target: str) -> None:
    """To 0.06: over four standard deviations of the difference between two samples of 1,500 rows."""
    parts = [sample(target, rows, seed) for rows, seed in ((1_500, 1), (1_500, 2), (1_500, 3))]
    found = utility(parts[0], parts[1], parts[2], target)
    assert np.abs([each.gap[found.measures[0]] for each in found.scores]).max() < 0.06


class TestRowsWithoutATarget:
    def test_are_left_out(self) -> None:
        full = sample("number", 300, 1)
        missing = np.arange(300) % 3 == 0
        values = [None if gap else v for gap, v in zip(missing, full.values("number"), strict=True)]
        holed, test = changed(full, "number", values), sample("number", 100, 2)
        found = utility(holed, holed, test, "number")
        assert found.rows == {"real": 200, "synthetic": 200, "test": 100}
        kept = full.take(~missing)
        assert found.scores == utility(kept, kept, test, "number").scores

    @pytest.mark.parametrize("target", ["number", "three"])
    def test_may_be_all_there_are_in_the_synthetic_table(self, target: str) -> None:
        real, test = sample(target, 100, 1), sample(target, 100, 2)
        found = utility(real, changed(real, target, pa.nulls(100, pa.null())), test, target)
        assert found.rows["synthetic"] == 0
        assert "missing in every row" in found.notes[0]
        for each in found.scores:
            assert each.synthetic[found.measures[0]] == (0.0 if target == "number" else 0.5)

    @pytest.mark.parametrize("role", ["real", "test"])
    def test_may_not_be_all_there_are_in_a_real_one(self, role: str) -> None:
        good = sample("three", 50, 1)
        empty = changed(good, "three", pa.nulls(50, pa.null()))
        parts = {"real": good, "test": good} | {role: empty}
        with pytest.raises(DataError, match=f"'three'.*{role} rows"):
            utility(parts["real"], good, parts["test"], "three")


class TestConstantTargets:
    @pytest.mark.parametrize("role", ["real", "test"])
    @pytest.mark.parametrize(("target", "value"), [("three", "b"), ("number", 4.25)])
    def test_in_a_real_table(self, role: str, target: str, value: Any) -> None:
        good = sample(target, 50, 1)
        parts = {"real": good, "test": good} | {role: changed(good, target, [value] * 50)}
        with pytest.raises(DataError, match=f"'{target}'.*{role} rows.*another target") as caught:
            utility(parts["real"], good, parts["test"], target)
        assert str(value) not in str(caught.value).replace(target, "").split()

    @pytest.mark.parametrize("target", ["two", "three"])
    def test_in_the_synthetic_table(self, target: str) -> None:
        real, test = sample(target, 200, 1), sample(target, 200, 2)
        name = TARGETS[target].categories[0]
        found = utility(real, changed(real, target, [name] * 200), test, target)
        assert "constant" in found.notes[0]
        assert all(each.synthetic["AUROC"] == 0.5 for each in found.scores)
        assert all(each.real["AUROC"] > 0.8 for each in found.scores)

    def test_a_number_in_the_synthetic_table(self) -> None:
        real, test = sample("number", 200, 1), sample("number", 200, 2)
        found = utility(real, changed(real, "number", [0.0] * 200), test, "number")
        assert "constant" in found.notes[0]
        assert all(-0.1 < each.synthetic["R²"] <= 0 for each in found.scores)  # 0 is close to the mean


class TestClasses:
    def test_one_that_the_synthetic_table_lacks(self) -> None:
        real, test = sample("three", 400, 1), sample("three", 300, 2)
        lacking = real.take(real.codes("three") != 1)
        found = utility(real, lacking, test, "three")
        assert found.notes == (
            "the synthetic table has no row with three = b: models trained on it never predict that.",
        )
        for each in found.scores:
            assert 0.6 < each.synthetic["AUROC"] < each.real["AUROC"]  # 0.5 for b, good for the others

    def test_one_that_real_rows_lack(self) -> None:
        real, test = sample("three", 300, 1), sample("three", 300, 2)
        real, test = (s.take(s.codes("three") != 2) for s in (real, test))
        found = utility(real, sample("three", 300, 3), test, "three")
        assert "of the synthetic rows were left out" in found.notes[0]
        assert all(each.synthetic["AUROC"] > 0.8 for each in found.scores)

    def test_one_that_only_training_rows_have(self) -> None:
        real, test = sample("three", 300, 1), sample("three", 300, 2)
        found = utility(real, real, test.take(test.codes("three") != 2), "three")
        assert found.positive is not None  # the classes are those of the test rows: two of them
        assert "of the real rows were left out" in " ".join(found.notes)
        assert all(0.8 < each.real["AUROC"] <= 1 for each in found.scores)

    def test_one_with_a_single_row_among_many(self) -> None:
        """Above 10,000 rows gradient boosting would set rows aside, and cannot split a class of one."""
        real, test = sample("three", 200, 1), sample("three", 200, 2)
        large = sample("three", 17_000, 3)
        codes = np.flatnonzero(large.codes("three") == 1)
        large = large.take(np.setdiff1d(np.arange(large.rows), codes[1:]))
        assert large.rows > 10_000
        found = utility(real, large, test, "three")
        assert len(found.scores) == 3

    def test_the_rarer_of_two_is_the_positive_one(self) -> None:
        real, test = sample("two", 300, 1), sample("two", 300, 2)
        found = utility(real, real, test, "two")
        assert found.positive == "yes"
        share = (test.codes("two") == 1).mean()
        none = utility(real, changed(real, "two", ["no"] * 300), test, "two")
        assert all(each.synthetic["AUPRC"] == pytest.approx(share) for each in none.scores)
        assert all(each.synthetic["F1"] == 0 for each in none.scores)
        turned = [changed(s, "two", np.where(s.codes("two") == 1, "no", "yes").tolist()) for s in (real, test)]
        assert utility(turned[0], turned[0], turned[1], "two").positive == "no"

    def test_booleans_have_words(self) -> None:
        real = sample("flag", 200, 1)
        assert utility(real, real, real, "flag").positive == "True"


def test_perfectly_separable_classes() -> None:
    schema = schema_for("two")
    x = np.linspace(-5, 5, 200)
    table = pa.table({"x": x, "k": ["u", "v"] * 100, "two": np.where(x > 2, "yes", "no")})
    real = read(table, schema)
    found = utility(real, real, real, "two")
    assert all(each.real["AUROC"] == pytest.approx(1.0, abs=1e-3) for each in found.scores)


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("target", ["three", "number"])
def test_hardly_any_synthetic_rows(rows: int, target: str) -> None:
    real = sample(target, 100, 1)
    found = utility(real, sample(target, rows, 5), real, target)
    assert all(math.isfinite(v) for each in found.scores for v in each.synthetic.values())


def test_special_values_of_money_count_as_little() -> None:
    """On a log scale 0 has no place: it stands at the lowest value."""
    real = sample("money", 300, 1)
    found = utility(real, real, sample("money", 300, 2), "money")
    assert found.mean("R²", "real") > 0.5


def test_the_seed_decides() -> None:
    real, test = sample("number", 200, 1), sample("number", 100, 2)
    runs = [utility(real, real, test, "number", seed=seed).to_json() for seed in (4, 4, 5)]
    assert runs[0] == runs[1] != runs[2]


def test_progress_only_rises() -> None:
    seen: list[float] = []
    real = sample("two", 60, 1)
    utility(real, real, real, "two", progress=lambda step, fraction: seen.append(fraction))
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, 1.0)


def test_mistakes() -> None:
    real = sample("two", 60, 1)
    with pytest.raises(UsageError, match="'height'"):
        utility(real, real, real, "height")
    alone = read(pa.table({"two": ["yes", "no"]}), pt.Schema(name="one", columns={"two": TARGETS["two"]}))
    with pytest.raises(UsageError, match="other columns"):
        utility(alone, alone, alone, "two")


def test_as_json_and_as_a_table() -> None:
    real = sample("two", 100, 1)
    found = utility(real, real, real, "two")
    assert found.to_json()["scores"][0]["gap"] == {"AUROC": 0.0, "AUPRC": 0.0, "F1": 0.0}
    assert found.table().num_rows == 9
    assert found.table().column_names == ["model", "measure", "real", "synthetic", "gap"]


def models(real: float, synthetic: float, task: str = "classification") -> Point:
    names = ("AUROC", "AUPRC", "F1") if task == "classification" else ("R²",)
    score = Score("tree", dict.fromkeys(names, real), dict.fromkeys(names, synthetic))
    (point,) = Utility("ill", task, None, {}, (score,)).points()
    return point


class TestGrades:
    @pytest.mark.parametrize(
        ("real", "synthetic", "figure", "grade"),
        [
            (0.9, 0.9, "100%", "good"), (0.9, 0.88, "95%", "good"), (0.9, 0.872, "93%", "fair"),
            (0.9, 0.84, "85%", "fair"), (0.9, 0.83, "82%", "poor"), (0.9, 0.4, "0%", "poor"), (0.8, 0.9, "100%", "good"),
        ],
    )  # fmt: skip
    def test_models(self, real: float, synthetic: float, figure: str, grade: str) -> None:
        point = models(real, synthetic)
        assert (point.question, point.figure, point.grade) == ("models trained on it", figure, grade)
        assert f"AUROC {synthetic:.3f}" in point.sentence

    def test_models_of_numbers(self) -> None:
        """R² counts from 0, not from one half."""
        point = models(0.5, 0.45, "regression")
        assert (point.figure, point.grade) == ("90%", "fair")
        assert "R² above 0" in point.rule

    def test_what_is_shown_is_what_is_graded(self) -> None:
        assert models(0.9, 0.8785).grade == "good"  # 94.6 %, shown as 95 %

    def test_what_real_rows_do_not_give(self) -> None:
        nothing = models(0.505, 0.4)
        assert (nothing.grade, nothing.figure) == ("unclear", "–")
        assert "nothing that synthetic rows could keep" in nothing.sentence

    def test_a_column_that_gives_the_target_away_is_named(self) -> None:
        leak = Leak("discharged", "AUROC", 0.999)
        for real, synthetic, grade in ((0.99, 0.99, "unclear"), (0.99, 0.6, "poor")):
            score = Score("a model", {"AUROC": real}, {"AUROC": synthetic})
            (point,) = Utility("ill", "classification", None, {}, (score,), leaks=(leak,)).points()
            assert point.grade == grade
            assert "discharged alone gives ill away (AUROC 0.999" in point.sentence
            assert 'kind = "ignore"' in point.advice[0].code


def test_leaks_are_looked_for_in_real_rows() -> None:
    rng = np.random.default_rng(0)
    schema = pt.Schema(
        name="leak", columns={"x": pt.Real(min=0, max=1, missing=False), "y": pt.Boolean(missing=False),
                              "z": pt.Real(min=0, max=1, missing=False)}
    )  # fmt: skip
    x = rng.random(400)
    real, made = (pa.table({"x": values, "y": values > 0.5, "z": rng.random(400)}) for values in (x, rng.random(400)))
    found = pt.evaluate(real, made, schema, target="y")
    assert found.utility is not None
    assert [leak.column for leak in found.utility.leaks] == ["x"]
    assert found.to_json()["utility"]["leaks"][0]["column"] == "x"
    (point,) = [each for each in found.verdict.points if each.question == "models trained on it"]
    assert point.grade == "unclear"
    assert "x alone gives y away" in found.to_html()
