"""Persons: whether synthetic people live as real ones do: their facts, how many rows they have, and what follows what."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pointillist.evaluate.advice import NO_NAMES, Advice, Commands
from pointillist.evaluate.metric import Result
from pointillist.evaluate.tables import history_comparison as comparison
from pointillist.evaluate.tables.histories import Histories
from pointillist.evaluate.tables.history_comparison import Beside, Course, Distance
from pointillist.evaluate.tables.metric import METRICS, PERSONS, TableContext, TableMetric
from pointillist.evaluate.tables.sample import Sample
from pointillist.evaluate.verdict import Point, grade
from pointillist.pages import charts, count, number, share
from pointillist.pages.blocks import Card, Cards, Legend, Table, Text, html
from pointillist.pages.report import Section
from pointillist.reading.opening import open_source
from pointillist.schema import Schema

_CORRELATED = 0.3
"""From here on a value says something of the next one, and its correlation is graded."""
_SHOWN = 20
"""Histories on the page, of each table."""
_Line = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Shown:
    """Some histories as lines: one column over what orders rows, or over their places."""

    column: str
    over: str
    real: tuple[_Line, ...]
    synthetic: tuple[_Line, ...]


@dataclass(frozen=True)
class Persons(Result):
    """What was found of persons and their histories."""

    persons: Beside
    """How many there are."""
    mean_rows: Beside
    constant: float
    """The share of synthetic persons whose facts are the same in all of their rows."""
    rows_per_person: Distance
    gaps: Distance | None
    facts: dict[str, float]
    """Distances of persons' facts."""
    pairs: dict[tuple[str, str], float]
    """Distances of a fact together with a column of rows."""
    courses: tuple[Course, ...]
    told_apart: float
    """AUROC of a classifier that sees whole histories."""
    learnt: Beside | None
    """AUROC of predicting the target, a fact of persons, from histories: trained on real ones and on synthetic ones."""
    shown: Shown | None = None
    commands: Commands = NO_NAMES

    @property
    def steps(self) -> Distance | None:
        """Over all columns the mean distance from row to row."""
        found = [each.steps for each in self.courses if each.steps is not None]
        if not found:
            return None
        return Distance(float(np.mean([each.value for each in found])), float(np.mean([each.chance for each in found])))

    @property
    def lag(self) -> Course | None:
        """Of the columns whose values say something of the next one, the one whose correlation is most off."""
        told = [each for each in self.courses if each.lag is not None and abs(each.lag.real) > _CORRELATED]
        return max(told, key=lambda each: each.lag.difference if each.lag else 0.0) if told else None

    def to_json(self) -> dict[str, Any]:
        facts = {
            name: value for name, value in vars(self).items() if name not in ("shown", "commands", "pairs", "courses")
        }
        plain = {name: value._asdict() if hasattr(value, "_asdict") else value for name, value in facts.items()}
        pairs = [{"columns": list(names), "distance": value} for names, value in self.pairs.items()]
        courses = [
            {name: value._asdict() if hasattr(value, "_asdict") else value for name, value in vars(each).items()}
            for each in self.courses
        ]
        return {**plain, "pairs": pairs, "courses": courses}

    def headlines(self) -> dict[str, float]:
        found = {
            "rows per person, TVD": self.rows_per_person.value,
            "AUROC, real or synthetic persons": self.told_apart,
        }
        return found if self.steps is None else {**found, "steps, TVD": self.steps.value}

    def lines(self) -> tuple[str, ...]:
        worst = self.lag
        said = (
            ""
            if worst is None or worst.lag is None
            else f"; {worst.column} and the value before correlate by {worst.lag.real:.2f} → {worst.lag.synthetic:.2f}"
        )
        return (f"Rows per person (mean): {self.mean_rows.real:.1f} → {self.mean_rows.synthetic:.1f}{said}.",)

    def points(self) -> tuple[Point, ...]:
        return (*self._facts_point(), self._counts_point(), *self._steps_point(), self._whole_point())

    def _facts_point(self) -> tuple[Point, ...]:
        if self.constant == 1:
            return ()
        said = "The schema says that these columns belong to the person. Draw persons anew from the model."
        return (
            Point(
                "facts of persons",
                "poor",
                share(1 - self.constant),
                f"{share(1 - self.constant)} of the synthetic persons have a fact that changes from row to row.",
                "poor if a fact of a person ever changes",
                (Advice(said, "pointillist sample FILE.model --persons N -o synthetic.csv"),),
            ),
        )

    def _counts_point(self) -> Point:
        excess = self.rows_per_person.excess
        found = grade(excess, 0.05, 0.1)
        return Point(
            "rows per person",
            found,
            number(self.rows_per_person.value, 2),
            f"Real persons have {self.mean_rows.real:.1f} rows on average, synthetic ones {self.mean_rows.synthetic:.1f}; "
            f"the distance between the two distributions is {self.rows_per_person.value:.2f}, of which chance explains "
            f"{min(self.rows_per_person):.2f}.",
            "distance beyond chance: good up to 0.05, fair up to 0.1",
            () if found == "good" else (self.commands.larger_epsilon(),),
        )

    def _steps_point(self) -> tuple[Point, ...]:
        steps, worst = self.steps, self.lag
        if steps is None:
            return ()
        off = 0.0 if worst is None or worst.lag is None else worst.lag.difference
        found = max(grade(steps.excess, 0.05, 0.12), grade(off, 0.1, 0.2), key=("good", "fair", "poor").index)
        said = (
            ""
            if worst is None or worst.lag is None
            else f" {worst.column} and its value in the row before correlate by {worst.lag.real:.2f}, in synthetic "
            f"histories by {worst.lag.synthetic:.2f}."
        )
        return (
            Point(
                "steps from row to row",
                found,
                number(steps.value, 2),
                f"Tables of a value and the one before differ by {steps.value:.2f} on average over columns; chance alone "
                f"would show {steps.chance:.2f}.{said}",
                "distance beyond chance: good up to 0.05, fair up to 0.12; correlations: good if off by up to 0.1, fair 0.2",
                () if found == "good" else (self.commands.larger_epsilon(),),
            ),
        )

    def _whole_point(self) -> Point:
        found = grade(round(self.told_apart, 2), 0.75, 0.9)
        return Point(
            "whole histories",
            found,
            f"{self.told_apart:.2f}",
            f"A classifier that sees whole histories tells synthetic from real persons with AUROC {self.told_apart:.2f} "
            "(0.5 is guessing).",
            "AUROC: good up to 0.75, fair up to 0.9",
            () if found == "good" else (self.commands.larger_epsilon(),),
        )

    def sections(self) -> tuple[Section, ...]:
        lead = html(
            "{} real persons with {} rows each on average, {} synthetic ones with {}. Distances are of total variation: 0 "
            "where two tables agree, 1 where they have nothing in common.",
            count(self.persons.real), number(self.mean_rows.real, 1),
            count(self.persons.synthetic), number(self.mean_rows.synthetic, 1),
        )  # fmt: skip
        cards = [
            Card("Row by row", (_COURSES_NOTE, Table.of(_COURSES, list(map(_row, self.courses)), "columns of rows")))
        ]
        pairs = sorted(self.pairs.items(), key=lambda each: -each[1])[:8]
        if pairs:
            rows = [(f"{fact} × {row}", number(value)) for (fact, row), value in pairs]
            cards.append(Card("Facts of persons with their rows, the worst first", (Table.of("pair|#distance", rows),)))
        return (PERSONS.saying(lead, *self._sentences(), blocks=[Cards(tuple(cards), "wide-cards"), *self._lines()]),)

    def _sentences(self) -> tuple[str, ...]:
        said = [f"Distance of rows per person: {number(self.rows_per_person.value)}."]
        if self.gaps is not None:
            said.append(f"Distance of the gaps between rows: {number(self.gaps.value)}.")
        if self.facts:
            worst = max(self.facts, key=lambda name: self.facts[name])
            said.append(f"Of persons' own facts {worst} is furthest off, by {number(self.facts[worst])}.")
        if self.learnt is not None:
            said.append(
                f"The target, predicted from histories: AUROC {number(self.learnt.real, 2)} where real histories were "
                f"learnt from, {number(self.learnt.synthetic, 2)} where synthetic ones were."
            )
        return tuple(said)

    def _lines(self) -> tuple[Cards, ...]:
        shown = self.shown
        if shown is None or not shown.real or not shown.synthetic:
            return ()
        dots = [point for line in (*shown.real, *shown.synthetic) for point in line]
        xs, ys = [x for x, _ in dots], [y for _, y in dots]
        frame = (min(xs), max(xs), min(ys), max(ys))
        cards = tuple(
            Card(
                f"{len(lines)} {kind} histories: {shown.column} over {shown.over}",
                (
                    Legend(((kind, kind),)),
                    charts.lines(lines, frame, kind, f"{len(lines)} {kind} histories of {shown.column}"),
                ),
            )
            for kind, lines in (("real", shown.real), ("synthetic", shown.synthetic))
        )
        return (Cards(cards, "wide-cards"),)


_COURSES = "column|#steps|#chance|#lag, real|*synthetic|#between, real|*synthetic|#first|#last|#ever, real|*synthetic"
_COURSES_NOTE = Text(
    "Steps: distance of the table of a value and the one before. Lag: correlation of the two. Between: the share of the "
    "variance that lies between persons. First, last: distances in first and last rows. Ever: the share of persons who ever "
    "have the level that is furthest off.",
    "soft tight",
)


def _row(course: Course) -> tuple[str, ...]:
    def both(values: Beside | None) -> tuple[str, str]:
        return ("–", "–") if values is None else (number(values.real, 2), number(values.synthetic, 2))

    steps = ("–", "–") if course.steps is None else (number(course.steps.value), number(course.steps.chance))
    ends = number(course.first), number(course.last)
    return (course.column, *steps, *both(course.lag), *both(course.between), *ends, *map(share, course.ever))


@METRICS.register("persons", place=15)
class PersonsMetric(TableMetric[Persons]):
    """Whole persons, where the schema says more of them than whose a row is."""

    cost = 3

    @classmethod
    def suits(cls, schema: Schema) -> bool:
        if schema.person is None or schema.person.max_rows < 2:
            return False
        return schema.person.order is not None or any(each.of == "person" for each in schema.measured.values())

    def compute(self, real: Sample, synthetic: Sample, context: TableContext) -> Persons | None:
        schema, seed = context.schema, context.seed
        if not _has_persons(context.made, schema):
            return None
        ours, theirs = Histories.read(context.table, schema), Histories.read(context.made, schema)
        if not ours.persons or not theirs.persons:
            return None
        courses = comparison.compared(ours, theirs, seed)
        return Persons(
            persons=Beside(ours.persons, theirs.persons),
            mean_rows=Beside(float(ours.counts.mean()), float(theirs.counts.mean())),
            constant=theirs.constant,
            rows_per_person=comparison.rows_per_person(ours, theirs, seed),
            gaps=comparison.gaps(ours, theirs, seed),
            facts=comparison.facts(ours, theirs),
            pairs=comparison.facts_with_rows(ours, theirs),
            courses=courses,
            told_apart=comparison.told_apart(ours, theirs, seed)[0],
            learnt=_learnt(ours, theirs, context),
            shown=_shown(ours, theirs, courses, seed),
            commands=context.commands,
        )

    def notes(self, found: Persons | None, context: TableContext) -> tuple[str, ...]:
        person = context.schema.person
        if not self.suits(context.schema) or person is None or _has_persons(context.made, context.schema):
            return ()
        return (
            f"The synthetic table has no column {person.column!r}: its rows belong to nobody, and histories are not "
            "compared.",
        )


def _has_persons(table: Any, schema: Schema) -> bool:
    return schema.person is not None and schema.person.column in open_source(table).column_names()


def _learnt(real: Histories, synthetic: Histories, context: TableContext) -> Beside | None:
    """Of a target that is a fact of persons: a quarter of the real persons is tested on."""
    target = context.target
    if target is None or all(each.name != target or each.numeric for each in real.facts):
        return None
    tested = np.random.default_rng(context.seed).permutation(real.persons) < real.persons // 4
    if tested.all() or not tested.any():
        return None
    test = real.of_persons(tested)
    scores = [comparison.learnt(each, test, target, context.seed) for each in (real.of_persons(~tested), synthetic)]
    return None if scores[0] is None or scores[1] is None else Beside(scores[0], scores[1])


def _shown(real: Histories, synthetic: Histories, courses: tuple[Course, ...], seed: int) -> Shown | None:
    """Some persons with several rows, in the column that persists most."""
    told = [each for each in courses if each.lag is not None]
    if not told:
        return None
    column = max(told, key=lambda each: abs(each.lag.real) if each.lag else 0.0).column
    order = real.schema.person.order if real.schema.person else None
    return Shown(column, order or "place", *(_some(each, column, order, seed) for each in (real, synthetic)))


def _some(histories: Histories, column: str, order: str | None, seed: int) -> tuple[_Line, ...]:
    values = histories.numbers(histories.sample.level(column))
    places = np.arange(len(values)) - histories.starts[histories.owners]
    times = places.astype(float) if order is None else histories.times
    several = np.flatnonzero(histories.counts > 1)
    chosen = np.random.default_rng(seed).permutation(several)[:_SHOWN]
    lines = []
    for person in chosen:
        rows = slice(histories.starts[person], histories.starts[person] + histories.counts[person])
        known = np.isfinite(values[rows]) & np.isfinite(times[rows])
        pairs = zip(times[rows][known].tolist(), values[rows][known].tolist(), strict=True)
        lines.append(tuple(pairs))
    return tuple(line for line in lines if line)
