"""Orders: a number or date that is never above another, as an admission is never after the discharge."""

from collections.abc import Iterable
from itertools import permutations

import numpy as np

from pointillist.evaluate.advice import STATE, Advice, constraint
from pointillist.evaluate.tables.rules.base import EVIDENCE, RULES, Facts, Rule, RuleKind, Values
from pointillist.files.toml_text import written

_LEAST_SHARE = 0.02
"""Of shuffled rows, at least this share breaks the order: else the columns lie apart, and it says nothing."""
_SHUFFLED = 5_000


@RULES.register("order", place=40)
class Orders(RuleKind):
    """All pairs of numbers that can be compared."""

    def find(self, facts: Facts) -> Iterable[Rule]:
        comparable = [each for each in facts.numeric if each.level.numeric and each.distinct > 2]
        for low, high in permutations(comparable, 2):
            kinds = {each.level.column.compared_as for each in (low, high)}
            if len(kinds) == 1 and None not in kinds and _holds(low, high, facts):
                yield _rule(low, high)


def _above(low: Values, high: Values, table: int, rows: slice | np.ndarray, others: slice | np.ndarray) -> np.ndarray:
    """Where the first is above the second; a gap is never above. Dates and times are compared to the second, as in a
    draft: by the day, a time would be at most the date of its own day, and a rule be found that no draft states."""
    one = low.numbers[table][rows] * low.level.column.tick
    other = high.numbers[table][others] * high.level.column.tick
    with np.errstate(invalid="ignore"):
        return np.asarray(one > other)


def _holds(low: Values, high: Values, facts: Facts) -> bool:
    if _above(low, high, 0, facts.probe, facts.probe).any():
        return False
    some = facts.shuffled[:_SHUFFLED]
    share = float(_above(low, high, 0, some, np.roll(some, 1)).mean())
    if share < _LEAST_SHARE or share * facts.rows < EVIDENCE:
        return False
    return not _above(low, high, 0, slice(None), slice(None)).any()


def _rule(low: Values, high: Values) -> Rule:
    broken = float(_above(low, high, 1, slice(None), slice(None)).mean())
    text = f"{low.name} <= {high.name}"
    stated = constraint(f'columns = {written([low.name, high.name])}\nrule = "<="')
    return Rule("order", text, (low.name, high.name), broken, (Advice(STATE, stated, in_schema=True),))
