"""The verdict: few rules, at their edges."""

import pytest

from pointillist.evaluate.tables.metrics.columns import Column, Columns, Moments
from pointillist.evaluate.tables.metrics.copies import Copies
from pointillist.evaluate.tables.metrics.discriminator import Discriminator
from pointillist.evaluate.tables.metrics.marginals import Marginal, Marginals
from pointillist.evaluate.tables.metrics.utility import Score, Utility
from pointillist.evaluate.tables.verdict import Point, Verdict, verdict


def columns(distance: float, chance: float = 0.0) -> Columns:
    return Columns((Column("height", "integer", distance, chance, None, (0.0, 0.0), (), None, None, {}),))


def numbers(means: tuple[float, float], rows: int = 10_000) -> Columns:
    said = {"mean": ("170", "180"), "spread": ("10", "10")}
    moments = Moments(means, (10.0, 10.0), (rows, rows))
    return Columns((Column("height", "integer", 0.0, 0.0, None, (0.0, 0.0), (), None, moments, said),))


def pairs(distance: float, chance: float = 0.0) -> Marginals:
    return Marginals(2, 16, (Marginal(("height", "sex"), distance, chance),), 1)


def models(real: float, synthetic: float, task: str = "classification") -> Utility:
    names = ("AUROC", "AUPRC", "F1") if task == "classification" else ("R²",)
    score = Score("tree", dict.fromkeys(names, real), dict.fromkeys(names, synthetic))
    return Utility("ill", task, None, {}, (score,))


def told(auroc: float, **importance: float) -> Discriminator:
    return Discriminator(auroc, 0.01, 100, importance)


def graded(question: str, **given: object) -> Point:
    facts = {"columns": columns(0.0), "pairs": None, "shuffled": None, "utility": None, "told": told(0.5)} | given
    return next(each for each in verdict(**facts).points if each.question == question)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("distance", "chance", "grade"),
    [
        (0.0, 0.0, "good"), (0.015, 0.0, "good"), (0.017, 0.0, "fair"), (0.05, 0.0, "fair"), (0.052, 0.0, "poor"),
        (0.115, 0.1, "good"), (0.15, 0.1, "fair"), (0.2, 0.1, "poor"), (0.02, 0.3, "unclear"),
    ],
)  # fmt: skip
def test_single_columns(distance: float, chance: float, grade: str) -> None:
    point = graded("single columns", columns=columns(distance, chance))
    assert point.grade == grade
    assert "height" in point.sentence
    assert f"{chance:.1%}" in point.sentence


@pytest.mark.parametrize(
    ("distance", "chance", "shuffled", "kept", "grade"),
    [
        (0.02, 0.02, 0.12, "100%", "good"),
        (0.05, 0.02, 0.12, "70%", "good"),
        (0.06, 0.02, 0.12, "60%", "fair"),
        (0.08, 0.02, 0.12, "40%", "fair"),
        (0.09, 0.02, 0.12, "30%", "poor"),
        (0.30, 0.02, 0.12, "0%", "poor"),
        (0.0, 0.02, 0.12, "100%", "good"),
    ],
)  # fmt: skip
def test_pairs(distance: float, chance: float, shuffled: float, kept: str, grade: str) -> None:
    point = graded("pairs of columns", pairs=pairs(distance, chance), shuffled=pairs(shuffled))
    assert (point.figure, point.grade) == (kept, grade)
    assert "height with sex" in point.sentence


@pytest.mark.parametrize(("chance", "shuffled"), [(0.02, 0.01), (0.02, 0.02), (0.02, 0.021)])
def test_pairs_where_independence_is_no_yardstick(chance: float, shuffled: float) -> None:
    """Real columns that do not depend on each other, or a short table: synthetic ones may not depend either."""

    def grade(distance: float) -> str:
        return graded("pairs of columns", pairs=pairs(distance, chance), shuffled=pairs(shuffled)).grade

    assert grade(chance) == grade(chance + 0.005) == "good"  # half a percent of the rows, which is no news
    assert grade(chance + 0.3) == "poor"


@pytest.mark.parametrize(
    ("real", "synthetic", "figure", "grade"),
    [
        (0.9, 0.9, "100%", "good"), (0.9, 0.88, "95%", "good"), (0.9, 0.872, "93%", "fair"),
        (0.9, 0.84, "85%", "fair"), (0.9, 0.83, "82%", "poor"), (0.9, 0.4, "0%", "poor"), (0.8, 0.9, "100%", "good"),
    ],
)  # fmt: skip
def test_models(real: float, synthetic: float, figure: str, grade: str) -> None:
    point = graded("models trained on it", utility=models(real, synthetic))
    assert (point.figure, point.grade) == (figure, grade)
    assert f"AUROC {synthetic:.3f}" in point.sentence


def test_models_of_numbers() -> None:
    """R² counts from 0, not from one half."""
    point = graded("models trained on it", utility=models(0.5, 0.45, "regression"))
    assert (point.figure, point.grade) == ("90%", "fair")
    assert "R² above 0" in point.rule


@pytest.mark.parametrize(
    ("auroc", "grade"),
    [(0.47, "good"), (0.5, "good"), (0.65, "good"), (0.66, "fair"), (0.85, "fair"), (0.86, "poor"), (1.0, "poor")],
)
def test_likeness(auroc: float, grade: str) -> None:
    point = graded("likeness of whole rows", told=told(auroc))
    assert (point.figure, point.grade) == (f"{auroc:.2f}", grade)


def test_what_is_shown_is_what_is_graded() -> None:
    """A figure of 0.65 is good by the rule that is printed beside it, whatever its third digit."""
    assert graded("likeness of whole rows", told=told(0.654)).grade == "good"
    assert graded("models trained on it", utility=models(0.9, 0.8785)).grade == "good"  # 94.6 %, shown as 95 %


def test_culprits_are_named() -> None:
    sentence = graded("likeness of whole rows", told=told(0.9, age=0.2, sex=0.1, pay=0.05, job=0.02)).sentence
    assert sentence.endswith("most of all by age, sex and pay.")
    assert graded("likeness of whole rows", told=told(0.9, age=0.2, sex=0.0)).sentence.endswith("by age.")
    assert graded("likeness of whole rows", told=told(0.5, age=0.002)).sentence.endswith("(0.5 is guessing).")


def test_the_worst_grade_wins() -> None:
    def grade(*grades: str) -> str:
        return Verdict(tuple(Point("q", each, "", "", "") for each in grades)).grade

    assert grade("good", "good") == "good"
    assert grade("good", "fair") == "fair"
    assert grade("poor", "good", "fair") == "poor"


def test_the_whole_in_a_sentence() -> None:
    found = verdict(columns(0.0), pairs(0.06, 0.02), pairs(0.12), models(0.9, 0.9), told(0.9))
    assert found.sentence == (
        "Single columns and models trained on it: good; pairs of columns: fair; likeness of whole rows: poor."
    )
    assert found.to_json()["grade"] == "poor"
    assert found.table()["question"].to_pylist() == [each.question for each in found.points]
    assert [each["question"] for each in found.to_json()["points"]] == [each.question for each in found.points]


def test_only_what_was_measured_is_graded() -> None:
    found = verdict(columns(0.0), None, None, None, told(0.5))
    assert [each.question for each in found.points] == ["single columns", "likeness of whole rows"]


def test_copies_of_real_rows_are_called_that() -> None:
    """Standard error 0.01: below 0.46 it is no accident."""
    assert graded("likeness of whole rows", told=told(0.47)).grade == "good"
    copied = graded("likeness of whole rows", told=told(0.3))
    assert copied.grade == "poor"
    assert "copies of real ones" in copied.sentence


@pytest.mark.parametrize(("mean", "grade"), [(170.0, "good"), (170.7, "good"), (171.5, "fair"), (175.0, "poor")])
def test_means(mean: float, grade: str) -> None:
    """Chance moves the difference of two means of 10,000 rows by 0.014 spreads: two of them are allowed for."""
    point = graded("means of numbers", columns=numbers((170.0, mean)))
    assert point.grade == grade
    assert "height: 180 in place of 170" in point.sentence
    assert graded("means of numbers", columns=numbers((170.0, mean), rows=100)).grade == "unclear"


def test_what_these_rows_cannot_tell_is_not_graded() -> None:
    nothing = graded("models trained on it", utility=models(0.505, 0.4))
    assert (nothing.grade, nothing.figure) == ("unclear", "–")
    assert "nothing that synthetic rows could keep" in nothing.sentence
    assert graded("likeness of whole rows", told=Discriminator(0.5, 0.06, 20, {})).grade == "unclear"
    assert graded("pairs of columns", pairs=pairs(0.2, 0.21), shuffled=pairs(0.14)).grade == "unclear"
    found = Verdict((Point("a", "unclear", "", "", ""), Point("b", "good", "", "", "")))
    assert found.grade == "good"
    assert found.sentence == "B: good; a: unclear."
    assert Verdict((Point("a", "unclear", "", "", ""),)).grade == "unclear"


def test_copied_rows_come_first() -> None:
    found = verdict(columns(0.0), None, None, None, told(0.5), Copies(0.9, 0.01, 1000))
    assert found.points[0].question == "copies of real rows"
    assert found.grade == "poor"
    assert "Do not hand this table out" in found.points[0].sentence
    honest = verdict(columns(0.0), None, None, None, told(0.5), Copies(0.012, 0.01, 1000))
    assert next(each.question for each in honest.points) == "single columns"


def spreads(spread: float, rows: int = 10_000, kurtosis: float = 3.0) -> Columns:
    moments = Moments((170.0, 170.0), (10.0, spread), (rows, rows), kurtosis)
    said = {"mean": ("170", "170"), "spread": ("10", f"{spread:g}")}
    return Columns((Column("height", "integer", 0.0, 0.0, None, (0.0, 0.0), (), None, moments, said),))


@pytest.mark.parametrize(
    ("spread", "grade"), [(10.0, "good"), (11.1, "good"), (8.9, "good"), (11.5, "fair"), (13.1, "fair"), (15.0, "poor")]
)
def test_spreads(spread: float, grade: str) -> None:
    """A column whose mean is right and whose spread is half too large is not good."""
    point = graded("spreads of numbers", columns=spreads(spread))
    assert point.grade == grade
    assert f"{spread:g} in place of 10" in point.sentence
    assert graded("means of numbers", columns=spreads(spread)).grade == "good"


def test_spreads_that_chance_explains() -> None:
    """Long tails: a few values make the spread, and two samples differ in them."""
    assert graded("spreads of numbers", columns=spreads(11.5, kurtosis=100.0)).grade == "good"
    assert graded("spreads of numbers", columns=spreads(15.0, rows=100, kurtosis=100.0)).grade == "unclear"
