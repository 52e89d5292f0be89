"""Verdict: what the figures amount to, in a word and a sentence each. The rules are few, fixed and stated."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

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


@dataclass(frozen=True)
class Verdict:
    """All questions."""

    points: tuple[Point, ...]

    @property
    def grade(self) -> str:
        """The worst of the points that are clear."""
        clear = [each.grade for each in self.points if each.grade != UNCLEAR]
        return max(clear, key=GRADES.index) if clear else UNCLEAR

    @property
    def sentence(self) -> str:
        """The whole in a sentence."""
        grades = (*GRADES, UNCLEAR)
        by_grade = {grade: [p.question for p in self.points if p.grade == grade] for grade in grades}
        parts = [f"{listed(by_grade[grade])}: {grade}" for grade in grades if by_grade[grade]]
        text = "; ".join(parts) + "."
        return text[0].upper() + text[1:]

    def table(self) -> pa.Table:
        """One row for each question."""
        return pa.Table.from_pylist([dict(vars(each)) for each in self.points])

    def to_json(self) -> dict[str, Any]:
        return {
            "grade": self.grade,
            "sentence": self.sentence,
            "points": [dict(vars(each)) for each in self.points],
        }

    def cards(self) -> Cards:
        """The points as they stand on a page."""
        return Cards(tuple(Grade(**vars(each)) for each in self.points), "verdict")


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
