"""Gaps: a value that is missing exactly when something else is so, as the cause of death is missing of the living."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from pointillist.evaluate.advice import STATE, Advice, constraint
from pointillist.evaluate.arrays import Codes
from pointillist.evaluate.tables.rules.base import EVIDENCE, FEW, RULES, Facts, Rule, RuleKind, Values
from pointillist.files.toml_text import written

_LEAST = 30
"""So many real rows have the value, and so many have none."""
_NAMED = 4
"""Of more values than this, the rule does not name them."""


@RULES.register("gap", place=15)
class Gaps(RuleKind):
    """For each column with gaps at most one rule."""

    replaces = ("function", "never together")

    def find(self, facts: Facts) -> Iterable[Rule]:
        sometimes = [each for each in facts.columns if _LEAST <= np.count_nonzero(each.gaps[0]) <= facts.rows - _LEAST]
        together: set[str] = set()
        for column in sometimes:
            share = float(column.gaps[0].mean())
            if share * (1 - share) * facts.rows < EVIDENCE:
                continue
            others = [each for each in facts.columns if each is not column and 2 <= each.distinct <= FEW]
            by_value = min(
                (each for each in others if _decides(each, column, facts)), key=lambda each: each.distinct, default=None
            )
            if by_value is not None:
                yield _by_value(by_value, column, facts)
                continue
            twin = next(
                (each for each in sometimes if each is not column and (each.gaps[0] == column.gaps[0]).all()), None
            )
            if twin is not None and column.name not in together:
                together.add(twin.name)
                yield _with(twin, column)


def _missing_at(source: Values, column: Values) -> Codes:
    """For each value of one column whether the other is missing there; -1 where no real row has it."""
    found = np.full(source.size, -1, dtype=np.int64)
    found[source.real] = column.gaps[0]
    return found


def _decides(source: Values, column: Values, facts: Facts) -> bool:
    if len(np.unique(column.gaps[0][facts.probe])) > 1:
        seen = np.full(source.size, -1, dtype=np.int64)
        seen[source.real[facts.probe]] = column.gaps[0][facts.probe]
        if (seen[source.real[facts.probe]] != column.gaps[0][facts.probe]).any():
            return False
    return bool((_missing_at(source, column)[source.real] == column.gaps[0]).all())


def _by_value(source: Values, column: Values, facts: Facts) -> Rule:
    missing = _missing_at(source, column)
    wanted = missing[source.synthetic]
    broken = float(np.mean((wanted >= 0) & (wanted != column.gaps[1])))
    words = {state: _words(source, np.flatnonzero(missing == state)) for state in (0, 1)}
    if words[1]:
        text = f"{column.name} is missing exactly when {source.name} is {words[1]}"
    elif words[0]:
        text = f"{column.name} is there exactly when {source.name} is {words[0]}"
    else:
        text = f"whether {column.name} is missing follows from {source.name}"
    return Rule("gap", text, (source.name, column.name), broken, _advice(source, column, missing))


def _with(twin: Values, column: Values) -> Rule:
    broken = float(np.mean(twin.gaps[1] != column.gaps[1]))
    text = f"{column.name} is missing exactly when {twin.name} is"
    lines = [
        constraint(f"impossible = {written({one.name: {'missing': True}, other.name: _any(other)})}")
        for one, other in ((twin, column), (column, twin))
    ]
    return Rule("gap", text, (twin.name, column.name), broken, (Advice(STATE, "\n".join(lines), in_schema=True),))


def _label(source: Values, code: int) -> str:
    if not source.level.numeric:
        return source.level.label(code)
    at = int(np.flatnonzero(source.real == code)[0])
    return "missing" if source.gaps[0][at] else f"{source.numbers[0][at]:g}"


def _words(source: Values, codes: Codes) -> str:
    return " or ".join(_label(source, int(code)) for code in codes) if 0 < len(codes) <= _NAMED else ""


def _advice(source: Values, column: Values, missing: Codes) -> tuple[Advice, ...]:
    """Two constraints, where both columns have categories: no gap here, nothing but gaps there."""
    if source.level.numeric:
        return ()
    values = [
        [source.level.categories[code] for code in np.flatnonzero(missing == state) if code < source.level.regular]
        for state in (0, 1)
    ]
    there = _any(column)
    lines = []
    if values[0]:
        lines.append(constraint(f"impossible = {written({source.name: values[0], column.name: {'missing': True}})}"))
    if values[1]:
        lines.append(constraint(f"impossible = {written({source.name: values[1], column.name: there})}"))
    return (Advice(STATE, "\n".join(lines), in_schema=True),)


def _any(column: Values) -> Any:
    """All values of a column, as a constraint has them."""
    return {"min": column.level.column.ends[0]} if column.level.numeric else list(column.level.categories)
