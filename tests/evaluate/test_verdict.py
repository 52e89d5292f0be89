"""The verdict: the worst grade wins, what is unclear does not count, and the whole is one sentence."""

import pytest

from pointillist.evaluate.advice import Advice
from pointillist.evaluate.verdict import Point, Verdict, grade, grade_beyond_chance, grade_kept, listed, part_kept


def verdict(**grades: str) -> Verdict:
    return Verdict(tuple(Point(name, each, "1", "So it is.", "a rule") for name, each in grades.items()))


@pytest.mark.parametrize(
    ("grades", "worst"),
    [
        (("good", "good"), "good"),
        (("good", "fair"), "fair"),
        (("poor", "good", "fair"), "poor"),
        (("unclear", "good"), "good"),
        (("unclear",), "unclear"),
    ],
)
def test_the_worst_clear_grade_wins(grades: tuple[str, ...], worst: str) -> None:
    assert verdict(**{f"q{number}": each for number, each in enumerate(grades)}).grade == worst


def test_the_whole_in_a_sentence() -> None:
    found = verdict(columns="good", pairs="fair", models="good", rows="poor", rest="unclear")
    assert found.sentence == "Rows: poor; pairs: fair; columns and models: good; rest: unclear."
    assert [each.question for each in found.worst_first] == ["rows", "pairs", "rest", "columns", "models"]
    assert found.to_json()["grade"] == "poor"
    assert found.table()["question"].to_pylist() == ["columns", "pairs", "models", "rows", "rest"]
    assert [each["question"] for each in found.to_json()["points"]] == ["columns", "pairs", "models", "rows", "rest"]


def test_advice_comes_once_and_the_most_urgent_first() -> None:
    more, tell = Advice("Spend more.", "pointillist synth"), Advice("State it.", "[[constraints]]", in_schema=True)
    points = (
        Point("pairs", "fair", "1", "So.", "a rule", (more,)),
        Point("rules", "poor", "1", "So.", "a rule", (tell, more)),
        Point("rows", "good", "1", "So.", "a rule"),
    )
    found = Verdict(points)
    assert found.advice == (("rules", "poor", tell), ("rules and pairs", "poor", more))
    assert found.table()["advice"].to_pylist()[1] == "State it. [[constraints]]\nSpend more. pointillist synth"
    assert found.to_json()["points"][1]["advice"][0] == {
        "text": "State it.",
        "code": "[[constraints]]",
        "in_schema": True,
    }


def test_every_point_is_a_card() -> None:
    page = str(verdict(columns="good", pairs="poor").cards().__html__())
    assert page.count('class="card point"') == 2
    assert '<h3>Pairs</h3><span class="grade poor">poor</span>' in page
    assert "Rule: a rule." in page


def test_grades_at_their_edges() -> None:
    assert [grade(value, 0.05, 0.15) for value in (0.05, 0.0504, 0.051, 0.15, 0.151)] == [
        "good", "good", "fair", "fair", "poor",
    ]  # fmt: skip
    assert grade_beyond_chance(0.3, 0.28) == "unclear"  # chance is large and explains nearly all of it
    assert grade_beyond_chance(0.1, 0.09) == "good"


@pytest.mark.parametrize(
    ("real", "synthetic", "kept", "grade"),
    [(0.9, 0.9, 1.0, "good"), (0.9, 0.7, 0.5, "poor"), (0.9, 0.4, 0.0, "poor"), (0.505, 0.9, None, "unclear")],
)
def test_what_is_kept(real: float, synthetic: float, kept: float | None, grade: str) -> None:
    assert part_kept(real, synthetic, 0.5) == kept
    assert grade_kept(kept) == grade


def test_names_in_a_sentence() -> None:
    assert [listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
