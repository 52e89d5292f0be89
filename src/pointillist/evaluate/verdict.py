"""Verdict: what the figures amount to, in a word and a sentence each. The rules are few, fixed and stated."""

from dataclasses import dataclass
from typing import Any

from pointillist.evaluate.columns import Columns
from pointillist.evaluate.discriminator import Discriminator
from pointillist.evaluate.marginals import Marginals
from pointillist.evaluate.utility import Utility

GRADES = ("good", "fair", "poor")


@dataclass(frozen=True)
class Point:
    """One question, with its answer."""

    question: str
    grade: str
    """good, fair or poor."""
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
        """The worst of the points."""
        return max((each.grade for each in self.points), key=GRADES.index)

    @property
    def sentence(self) -> str:
        """The whole in a sentence."""
        by_grade = {grade: [p.question for p in self.points if p.grade == grade] for grade in GRADES}
        parts = [f"{_join(by_grade[grade])}: {grade}" for grade in GRADES if by_grade[grade]]
        text = "; ".join(parts) + "."
        return text[0].upper() + text[1:]

    def to_json(self) -> dict[str, Any]:
        return {
            "grade": self.grade,
            "sentence": self.sentence,
            "points": [{**vars(each)} for each in self.points],
        }


def verdict(
    columns: Columns, pairs: Marginals | None, shuffled: Marginals | None, utility: Utility | None, told: Discriminator
) -> Verdict:
    """Grade what was measured; `shuffled` is the pairs' distance of independent columns."""
    points = [_columns(columns)]
    if pairs is not None and shuffled is not None:
        points.append(_pairs(pairs, shuffled))
    if utility is not None:
        points.append(_models(utility))
    points.append(_told(told))
    return Verdict(tuple(points))


def _columns(columns: Columns) -> Point:
    worst = columns.columns[0]
    chance = sum(each.chance for each in columns.columns) / len(columns.columns)
    grade = _grade(max(0.0, columns.mean - chance), 0.015, 0.05)
    return Point(
        "single columns",
        grade,
        f"{columns.mean:.3f}",
        f"On average {columns.mean:.1%} of the rows would have to change to make a column's counts right; in the worst "
        f"column, {worst.name}, {worst.distance:.1%}. Chance alone would give {chance:.1%}.",
        "mean total variation distance beyond what chance alone gives: good up to 0.015, fair up to 0.05",
    )


def _pairs(pairs: Marginals, shuffled: Marginals) -> Point:
    # From 0 (no better than columns that do not know of each other) to 1 (as near as chance lets two samples be).
    # Where columns hardly depend on each other, or rows are few, that way is no yardstick: take 0.02 for it.
    room = max(0.02, shuffled.mean - pairs.chance)
    kept = round(min(1.0, max(0.0, 1 - (pairs.mean - pairs.chance) / room)), 2)
    worst = pairs.tables[0]
    return Point(
        "pairs of columns",
        _grade(1 - kept, 0.3, 0.6),
        f"{kept:.0%}",
        f"Of what two columns say together, {kept:.0%} is kept: pairs lie {pairs.mean:.3f} from the real ones, where "
        f"independent columns would lie {shuffled.mean:.3f} and a second real sample {pairs.chance:.3f}. The worst "
        f"pair is {' with '.join(worst.columns)}.",
        "part of the way from independent columns to a second sample: good from 70 %, fair from 40 %",
    )


def _models(utility: Utility) -> Point:
    measure = utility.measures[0]
    real, made = utility.mean(measure, "real"), utility.mean(measure, "synthetic")
    base = 0.5 if measure == "AUROC" else 0.0
    kept = round(min(1.0, max(0.0, (made - base) / (real - base))), 2) if real - base > 0.01 else 1.0
    return Point(
        "models trained on it",
        _grade(1 - kept, 0.05, 0.15),
        f"{kept:.0%}",
        f"Predicting {utility.target}, models trained on synthetic rows reach {measure} {made:.3f} on real ones; "
        f"trained on real rows they reach {real:.3f}.",
        f"{measure} above {base:g}, as a part of what real rows give: good from 95 %, fair from 85 %",
    )


def _told(told: Discriminator) -> Point:
    culprits = [name for name, value in told.columns.items() if value > 0.01][:3]
    by = f", most of all by {_join(culprits)}" if culprits else ""
    # A classifier that has learnt a row as real takes its copy for real: only copies push it below guessing.
    copied = told.auroc < 0.5 - 4 * told.error
    sentence = (
        f"A classifier does worse than guessing (AUROC {told.auroc:.2f}): many synthetic rows are copies of real ones. A "
        "private method does not make such rows."
        if copied
        else f"A classifier tells synthetic from real rows with AUROC {told.auroc:.2f} (0.5 is guessing){by}."
    )
    return Point(
        "likeness of whole rows",
        "poor" if copied else _grade(round(told.auroc, 2), 0.65, 0.85),
        f"{told.auroc:.2f}",
        sentence,
        "AUROC: good up to 0.65, fair up to 0.85; far below 0.5, poor",
    )


def _grade(value: float, good: float, fair: float) -> str:
    value = round(value, 3)  # what is graded is what is shown: 1 - 0.95 is 0.05
    return GRADES[(value > good) + (value > fair)]


def _join(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
