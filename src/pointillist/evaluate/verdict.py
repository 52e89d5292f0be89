"""Verdict: what the figures amount to, in a word and a sentence each. The rules are few, fixed and stated."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pointillist.evaluate.advice import Advice
from pointillist.pages.blocks import Cards, Grade

GRADES = ("good", "fair", "poor")
UNCLEAR = "unclear"
"""The grade of what these data cannot tell."""


@dataclass(frozen=True)
class Point:
    """One question, with its answer."""

    question: str
    grade: str
    """good, fair or poor; or unclear."""
    figure: str
    sentence: str
    rule: str
    """How the grade was given."""
    advice: tuple[Advice, ...] = ()
    """What to do about it, the best first."""

    @property
    def badness(self) -> int:
        """Its place among the grades, from the worst; what is unclear stands between fair and good."""
        return ("poor", "fair", UNCLEAR, "good").index(self.grade)

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "advice": [each.to_json() for each in self.advice]}


@dataclass(frozen=True)
class Verdict:
    """All questions, in the order in which they were asked."""

    points: tuple[Point, ...]

    @property
    def grade(self) -> str:
        """The worst of the points that are clear."""
        clear = [each.grade for each in self.points if each.grade != UNCLEAR]
        return max(clear, key=GRADES.index) if clear else UNCLEAR

    @property
    def worst_first(self) -> tuple[Point, ...]:
        """The questions as a reader should see them."""
        return tuple(sorted(self.points, key=lambda each: each.badness))

    @property
    def sentence(self) -> str:
        """The whole in a sentence, the worst first."""
        grades = (*reversed(GRADES), UNCLEAR)
        by_grade = {grade: [p.question for p in self.points if p.grade == grade] for grade in grades}
        parts = [f"{listed(by_grade[grade])}: {grade}" for grade in grades if by_grade[grade]]
        text = "; ".join(parts) + "."
        return text[0].upper() + text[1:]

    @property
    def advice(self) -> tuple[tuple[str, str, Advice], ...]:
        """What to do, the most urgent first, each thing once: the questions that it helps, their worst grade, the advice."""
        found: dict[Advice, list[Point]] = {}
        for point in self.worst_first:
            for each in point.advice:
                found.setdefault(each, []).append(point)
        return tuple(
            (listed([point.question for point in points]), points[0].grade, each) for each, points in found.items()
        )

    def table(self) -> pa.Table:
        """One row for each question."""
        return pa.Table.from_pylist([
            {**vars(each), "advice": "\n".join(f"{it.text} {it.code}".strip() for it in each.advice)}
            for each in self.points
        ])  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        return {
            "grade": self.grade,
            "sentence": self.sentence,
            "points": [each.to_json() for each in self.points],
        }

    def cards(self) -> Cards:
        """The points as they stand on a page, the worst first."""
        names = ("question", "grade", "figure", "sentence", "rule")
        return Cards(
            tuple(Grade(**{name: getattr(each, name) for name in names}) for each in self.worst_first), "verdict"
        )


def grade(value: float, good: float, fair: float) -> str:
    """Good up to one bound, fair up to the other."""
    value = round(value, 3)  # what is graded is what is shown: 1 - 0.95 is 0.05
    return GRADES[(value > good) + (value > fair)]


def grade_beyond_chance(distance: float, chance: float) -> str:
    """Of a total variation distance; unclear where chance is large and explains most of it."""
    excess = max(0.0, distance - chance)
    return UNCLEAR if chance > 0.1 and excess < chance / 2 else grade(excess, 0.015, 0.05)


def part_kept(real: float, synthetic: float, base: float) -> float | None:
    """Of what real data give above a base, the part that synthetic data give; None where real data give nothing."""
    return round(min(1.0, max(0.0, (synthetic - base) / (real - base))), 2) if real - base > 0.01 else None


def grade_kept(kept: float | None) -> str:
    """Of what is learnt from synthetic data, as a part of what is learnt from real data."""
    return UNCLEAR if kept is None else grade(1 - kept, 0.05, 0.15)


def listed(names: list[str]) -> str:
    """Names in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
