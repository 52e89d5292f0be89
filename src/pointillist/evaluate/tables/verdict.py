"""Verdict: what the figures amount to, in a word and a sentence each. The rules are few, fixed and stated."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pointillist.evaluate.tables.metrics.columns import Column, Columns, Moments
from pointillist.evaluate.tables.metrics.copies import Copies
from pointillist.evaluate.tables.metrics.discriminator import Discriminator
from pointillist.evaluate.tables.metrics.marginals import Marginals
from pointillist.evaluate.tables.metrics.utility import Utility

GRADES = ("good", "fair", "poor")
UNCLEAR = "unclear"
"""The grade of what these rows cannot tell."""


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
        parts = [f"{_join(by_grade[grade])}: {grade}" for grade in grades if by_grade[grade]]
        text = "; ".join(parts) + "."
        return text[0].upper() + text[1:]

    def table(self) -> pa.Table:
        """One row for each question."""
        return pa.Table.from_pylist([dict(vars(each)) for each in self.points])

    def to_json(self) -> dict[str, Any]:
        return {
            "grade": self.grade,
            "sentence": self.sentence,
            "points": [{**vars(each)} for each in self.points],
        }


def verdict(
    columns: Columns,
    pairs: Marginals | None,
    shuffled: Marginals | None,
    utility: Utility | None,
    told: Discriminator,
    copied: Copies | None = None,
) -> Verdict:
    """Grade what was measured; `shuffled` is the pairs' distance of independent columns."""
    points = [] if copied is None or not copied.suspicious else [_copies(copied)]
    points += [_columns(columns), *_numbers(columns)]
    if pairs is not None and shuffled is not None:
        points.append(_pairs(pairs, shuffled))
    if utility is not None:
        points.append(_models(utility))
    points.append(_told(told))
    return Verdict(tuple(points))


def _columns(columns: Columns) -> Point:
    worst = columns.columns[0]
    chance = sum(each.chance for each in columns.columns) / len(columns.columns)
    excess = max(0.0, columns.mean - chance)
    grade = UNCLEAR if chance > 0.1 and excess < chance / 2 else _grade(excess, 0.015, 0.05)
    return Point(
        "single columns",
        grade,
        f"{columns.mean:.3f}",
        f"On average {columns.mean:.1%} of the rows would have to change to make a column's counts right; in the worst "
        f"column, {worst.name}, {worst.distance:.1%}. Chance alone would give {chance:.1%}.",
        "mean total variation distance beyond what chance alone gives: good up to 0.015, fair up to 0.05; unclear where "
        "chance gives over 0.1 and nearly all of it",
    )


def _numbers(columns: Columns) -> list[Point]:
    numbers = [(each, each.moments) for each in columns.columns if each.moments is not None]
    if not numbers:
        return []
    worst, moments = max(numbers, key=lambda pair: pair[1].shift)
    said = worst.summary
    beyond = max(0.0, moments.shift - 2 * moments.chance)
    return [
        Point(
            "means of numbers",
            UNCLEAR if moments.chance > 0.1 else _grade(beyond, 0.05, 0.2),
            f"{moments.shift:.2f}",
            f"The mean that is furthest off is that of {worst.name}: {said['mean'][1]} in place of {said['mean'][0]}, by "
            f"{moments.shift:.2f} of the real spread.",
            "largest shift of a mean beyond chance, in spreads: good up to 0.05, fair up to 0.2",
        ),
        _spreads(numbers),
    ]


def _spreads(numbers: list[tuple[Column, Moments]]) -> Point:
    def beyond(moments: Moments) -> float:
        return max(0.0, moments.stretch - 2 * moments.stretch_chance)

    worst, moments = max(numbers, key=lambda pair: (beyond(pair[1]), pair[1].stretch))
    spread = worst.summary["spread"]
    return Point(
        "spreads of numbers",
        UNCLEAR if moments.stretch_chance > 0.2 else _grade(beyond(moments), 0.1, 0.3),
        f"{moments.stretch:.0%}",
        f"The spread (standard deviation) that is furthest off is that of {worst.name}: {spread[1]} in place of "
        f"{spread[0]}.",
        "largest part by which a spread is off beyond chance: good up to 10 %, fair up to 30 %; unclear where chance alone "
        "gives over 20 %",
    )


def _copies(copied: Copies) -> Point:
    return Point(
        "copies of real rows",
        "poor",
        f"{copied.synthetic:.0%}",
        f"{copied.synthetic:.1%} of the synthetic rows repeat a real row exactly; a second real sample would repeat about "
        f"{copied.expected:.1%}. Do not hand this table out: is it the right file?",
        "poor if far more rows are repeated than chance would repeat",
    )


def _pairs(pairs: Marginals, shuffled: Marginals) -> Point:
    # From 0 (no better than columns that do not know of each other) to 1 (as near as chance lets two samples be).
    # Where columns hardly depend on each other, or rows are few, that way is no yardstick: take 0.02 for it.
    room = max(0.02, shuffled.mean - pairs.chance)
    kept = round(min(1.0, max(0.0, 1 - (pairs.mean - pairs.chance) / room)), 2)
    worst = pairs.tables[0]
    # Two real samples lie as far apart as independent columns: nothing can be seen of dependence.
    lost = pairs.chance > max(shuffled.mean, 0.1) and pairs.mean < 1.5 * pairs.chance
    return Point(
        "pairs of columns",
        UNCLEAR if lost else _grade(1 - kept, 0.3, 0.6),
        f"{kept:.0%}",
        f"Of what two columns say together, {kept:.0%} is kept: pairs lie {pairs.mean:.3f} from the real ones, where "
        f"independent columns would lie {shuffled.mean:.3f} and a second real sample {pairs.chance:.3f}. The worst "
        f"pair is {' with '.join(worst.columns)}.",
        "part of the way from independent columns to a second sample: good from 70 %, fair from 40 %; unclear where two "
        "real samples lie further apart than independent columns",
    )


def _models(utility: Utility) -> Point:
    measure = utility.measures[0]
    real, made = utility.mean(measure, "real"), utility.mean(measure, "synthetic")
    base = 0.5 if measure == "AUROC" else 0.0
    kept = round(min(1.0, max(0.0, (made - base) / (real - base))), 2) if real - base > 0.01 else None
    nothing = "" if kept is not None else " So there is nothing that synthetic rows could keep."
    return Point(
        "models trained on it",
        UNCLEAR if kept is None else _grade(1 - kept, 0.05, 0.15),
        "–" if kept is None else f"{kept:.0%}",
        f"Predicting {utility.target}, models trained on synthetic rows reach {measure} {made:.3f} on real ones; "
        f"trained on real rows they reach {real:.3f}.{nothing}",
        f"{measure} above {base:g}, as a part of what real rows give: good from 95 %, fair from 85 %; unclear "
        "where real rows give nothing",
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
        else f"A classifier tells synthetic from real rows with AUROC {told.auroc:.2f} ± {2 * told.error:.2f} (0.5 is "
        f"guessing){by}."
    )
    return Point(
        "likeness of whole rows",
        "poor" if copied else UNCLEAR if told.error > 0.05 else _grade(round(told.auroc, 2), 0.65, 0.85),
        f"{told.auroc:.2f}",
        sentence,
        "AUROC: good up to 0.65, fair up to 0.85; far below 0.5, poor; unclear where its error is over 0.05",
    )


def _grade(value: float, good: float, fair: float) -> str:
    value = round(value, 3)  # what is graded is what is shown: 1 - 0.95 is 0.05
    return GRADES[(value > good) + (value > fair)]


def _join(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
