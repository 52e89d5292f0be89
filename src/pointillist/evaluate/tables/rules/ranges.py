"""Ranges: numbers that no real row has, below the lowest, above the highest, or between values of which there are few."""

from collections.abc import Iterable

import numpy as np

from pointillist.evaluate.advice import Advice, in_column
from pointillist.evaluate.tables.rules.base import RULES, Facts, Rule, RuleKind, Values
from pointillist.files.toml_text import written

_FEW, _REPEATS = 30, 20
"""A number has few values if there are no more than so many, and the real rows have each of them so often on average."""
_LISTED = 12


@RULES.register("range", place=70)
class Ranges(RuleKind):
    """One rule for each number."""

    def find(self, facts: Facts) -> Iterable[Rule]:
        for column in facts.columns:
            if column.level.numeric and not column.gaps[0].all():
                yield _of(column)


def _of(column: Values) -> Rule:
    known, made = column.numbers[0][~column.gaps[0]], column.numbers[1][~column.gaps[1]]
    low, high = float(known.min()), float(known.max())
    show = "{:.6g}".format if column.level.column.compared_as == "a number" else column.level.column.show
    distinct, often = np.unique(known, return_counts=True)
    once = int(np.count_nonzero(often == 1))
    chance = 5 / len(known)  # beyond either end there lies one further row in as many, by chance a few
    rows = max(1, len(column.synthetic))
    if len(distinct) <= min(_FEW, len(known) / _REPEATS) and column.level.column.scale != "log":
        broken = np.count_nonzero(~np.isin(made, distinct)) / rows
        chance += (once + 3 * once**0.5) / len(known)  # the share of what is not seen yet, by Good and Turing
        listed = len(distinct) <= _LISTED and (np.diff(distinct) != 1).any()
        values = f"one of {len(distinct)} values, {show(low)} to {show(high)}"
        if listed:
            values = f"one of {', '.join(map(show, distinct))}"
    else:
        broken = np.count_nonzero((made < low) | (made > high)) / rows
        values = f"between {show(low)} and {show(high)}"
    return Rule(
        "range", f"{column.name} is {values}", (column.name,), float(broken), _advice(column, low, high), chance
    )


def _advice(column: Values, low: float, high: float) -> tuple[Advice, ...]:
    ends = column.level.bounds
    if column.level.column.compared_as != "a number" or not low < high or (low <= ends[0] and high >= ends[1]):
        return ()
    found = [int(each) for each in (low, high)] if column.level.whole else [low, high]
    lines = in_column(column.name, f"min = {written(found[0])}", f"max = {written(found[1])}")
    return (Advice("Set tighter bounds, if they are known without these rows.", lines, in_schema=True),)
