"""Cut off: how many real rows a column's schema moves to a bound, joins to "other" or takes for missing.

No synthetic row can have what is cut off here, whatever was spent: so it is counted, graded and told for itself.
"""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pointillist.evaluate.advice import Advice, in_column
from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.tables.sample import Sample
from pointillist.evaluate.verdict import GRADES, Point, grade
from pointillist.files.toml_text import written
from pointillist.pages import count, share
from pointillist.schema.kinds.datetime import moment
from pointillist.schema.kinds.drafting import rounded_out
from pointillist.schema.kinds.duration import in_words
from pointillist.schema.levels import Levels

_GOOD, _FAIR = 0.01, 0.05
"""Of rows that are moved to a bound or taken for missing, or that have one and the same unlisted value."""
_OTHER_GOOD, _OTHER_FAIR = 0.05, 0.3
"""Of rows under "other", where no single value of them is common: a draft leaves so many there itself."""
_KEPT = 0.001
"""Advised bounds leave about this share of the rows outside at either end: the outermost are single persons'."""
_LEAST_ROWS = 10
"""A value that fewer real rows have is not advised as a category."""
_MOST_LISTED, _ADVISED = 200, 3
RULE = (
    "real rows beyond a column's bounds, or unlisted and taken for missing: good up to 1 %, fair up to 5 %; under "
    '"other": good up to 5 % (and 1 % of one value), fair up to 30 % (and 5 %)'
)


@dataclass(frozen=True)
class CutOff:
    """Of one column: the real rows that its schema has no place for."""

    name: str
    rows: int
    """All real rows."""
    below: int = 0
    above: int = 0
    unlisted: int = 0
    commonest: int = 0
    """Of the unlisted: rows with the value that most of them have."""
    missing: bool = False
    """Whether unlisted values are taken for missing, and not joined to "other"."""
    advice: tuple[Advice, ...] = field(default=(), repr=False)

    @property
    def share(self) -> float:
        """Of all real rows."""
        return (self.below + self.above + self.unlisted) / self.rows

    @property
    def grade(self) -> str:
        if not self.unlisted or self.missing:
            return grade(self.share, _GOOD, _FAIR)
        one = grade(self.commonest / self.rows, _GOOD, _FAIR)
        return max(grade(self.share, _OTHER_GOOD, _OTHER_FAIR), one, key=GRADES.index)

    def to_json(self) -> dict[str, Any]:
        """The unlisted rows under what becomes of them."""
        other, gone = (0, self.unlisted) if self.missing else (self.unlisted, 0)
        figures = {"below": self.below, "above": self.above, "other": other, "read_as_missing": gone}
        return {**figures, "share": self.share, "grade": self.grade, "advice": [each.to_json() for each in self.advice]}

    def told(self) -> str:
        """In words, such as "4.1 % (1,230) above max"."""
        fate = "unlisted, read as missing" if self.missing else 'unlisted, joined to "other"'
        parts = ((self.below, "below min"), (self.above, "above max"), (self.unlisted, fate))
        return ", ".join(f"{share(rows / self.rows)} ({count(rows)}) {where}" for rows, where in parts if rows)


def cut_off(real: Sample, level: Levels) -> CutOff | None:
    """What is cut off of a column; None if nothing is."""
    values = real.outside.get(level.name)
    if values is None:
        return None
    if not level.numeric:
        found = Counter(value for value in values.tolist() if value is not None)
        if not found:
            return None
        most, missing = found.most_common(1)[0][1], level.column.unlisted_is_missing
        advice = _categories(level, found, real.rows)
        return CutOff(level.name, real.rows, 0, 0, found.total(), most, missing, advice)
    beyond = values[~np.isnan(values)]
    if not len(beyond):
        return None
    below = int(np.count_nonzero(beyond < level.bounds[0]))
    advice = _bounds(level, real.as_is(level.name), beyond)
    return CutOff(level.name, real.rows, below, len(beyond) - below, advice=advice)


def cut_points(found: Sequence[CutOff]) -> tuple[Point, ...]:
    """The question that they answer, by its worst column; none where nothing is cut off."""
    if not found:
        return ()
    ranked = sorted(found, key=lambda each: (-GRADES.index(each.grade), -each.share))
    worst, bad = ranked[0], [each for each in ranked if each.grade != "good"]
    more = f" {len(bad) - 1} more column{'s' * (len(bad) > 2)}: see their cards." if len(bad) > 1 else ""
    return (
        Point(
            "values that the schema cuts off",
            worst.grade,
            share(worst.share),
            f"The schema cuts off most in {worst.name}: of the real rows, {worst.told()}. No synthetic row can have these "
            f"values.{more}",
            RULE,
            tuple(advice for each in bad[:_ADVISED] for advice in each.advice),
        ),
    )


def _bounds(level: Levels, values: Floats, beyond: Floats) -> tuple[Advice, ...]:
    """Wider bounds; or an atom, where most of what is beyond them is one value."""
    column, (low, high) = level.column, level.bounds
    one, often = np.unique(beyond[np.isfinite(beyond)], return_counts=True)
    if not len(one):
        return (Advice(f"{level.name} has infinite values: no bounds reach them. Correct the data."),)
    if column.compared_as == "a number" and often.max() > len(beyond) / 2 and len(beyond) > _GOOD * len(values):
        value = int(one[often.argmax()]) if level.whole else float(one[often.argmax()])
        said = f"Most rows of {level.name} beyond its bounds have the same value: list it as a special value."
        return (Advice(said, in_column(level.name, f"special = {written([*column.atoms, value])}"), in_schema=True),)
    if len(column.listed):
        return (
            Advice(f"{level.name} has more values than the schema lists: widen min, max and only, or leave only out."),
        )
    known = values[~np.isnan(values)]
    span = float(np.ptp(known))
    least, most = (float(each) for each in np.quantile(known, [_KEPT, 1 - _KEPT], method="inverted_cdf"))
    lines = []
    if least < low:
        lines.append(f"min = {_end(level, least, up=False, span=span)}")
        if column.scale == "log" and least <= 0:
            lines = ['scale = "asinh"', lines[0]]
    if most > high:
        lines.append(f"max = {_end(level, most, up=True, span=span)}")
    if not lines:
        return ()
    said = f"Widen the bounds of {level.name} ({column.show_ends()}), so that nearly all of its values lie within them."
    return (Advice(said, in_column(level.name, *lines), in_schema=True),)


def _end(level: Levels, value: float, *, up: bool, span: float) -> str:
    """A bound as a schema has it, rounded away from the values."""
    column = level.column
    if column.kind == "datetime":
        year = moment(value, column.resolution).year
        return written(dt.date(year, 12, 31) if up else dt.date(year, 1, 1))
    if column.kind == "duration":
        return written(in_words(column.length(max(0.0, rounded_out(value, up=up)))))
    end = rounded_out(value, up=up, span=span)
    return written(int(end) if level.whole else float(end))


def _categories(level: Levels, found: Counter[str], rows: int) -> tuple[Advice, ...]:
    """The commonest unlisted values, as many as it takes to be graded good, and none that few rows have."""
    column, left = level.column, found.total()
    names: list[Any] = []
    enough = _GOOD if column.unlisted_is_missing else _OTHER_GOOD
    for text, often in found.most_common():
        small = left <= enough * rows and (column.unlisted_is_missing or often <= _GOOD * rows)
        if small or often < _LEAST_ROWS or len(names) >= _MOST_LISTED:
            break
        number = text.removesuffix(".0")
        if not column.whole or number.lstrip("+-").isdecimal():
            names.append(int(number) if column.whole else text)
            left -= often
    if not names:
        return (
            Advice(
                f"{level.name} has many values that few rows have each: group them before the release, or leave it out."
            ),
        )
    names.sort()  # not by how many rows have them: that is nobody's to know
    listed = [*column.categories, *names]
    said = f"List more categories of {level.name}, if they are known without these rows."
    if len(listed) > _MOST_LISTED:
        shown = ", ".join(map(str, names[:_MOST_LISTED]))
        return (Advice(f"{said} The commonest that are not listed: {shown}.", in_schema=True),)
    return (Advice(said, in_column(level.name, f"categories = {written(listed)}"), in_schema=True),)
