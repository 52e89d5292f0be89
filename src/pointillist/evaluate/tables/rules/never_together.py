"""Never together: values of two columns of which each is common, and which no real row has both."""

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from pointillist.evaluate.advice import STATE, Advice, constraint
from pointillist.evaluate.arrays import Codes
from pointillist.evaluate.tables.rules.base import FEW, RULES, Facts, Rule, RuleKind, Values
from pointillist.files.toml_text import written

_EXPECTED = 20.0
"""So many real rows would have both values if the columns were independent: none has them by a chance of 1 in 10⁸."""
_STATED = 3
"""So many constraints are written out."""


@RULES.register("never together", place=50)
class NeverTogether(RuleKind):
    """All pairs of columns with few categories."""

    def find(self, facts: Facts) -> Iterable[Rule]:
        few = [each for each in facts.columns if not each.level.numeric and 2 <= each.distinct <= 4 * FEW]
        for first, second in combinations(few, 2):
            rule = _of(first, second, facts)
            if rule is not None:
                yield rule


def _of(first: Values, second: Values, facts: Facts) -> Rule | None:
    expected = np.outer(first.counts, second.counts) / facts.rows
    likely = expected >= _EXPECTED
    for column, axis in ((first, 0), (second, 1)):  # gaps and unlisted values have rules of their own
        np.moveaxis(likely, axis, 0)[column.level.regular :] = False
    if not likely.any():
        return None
    counts = _counts(first.real, second.real, first.size, second.size)
    never = likely & (counts == 0)
    if not never.any():
        return None
    made = _counts(first.synthetic, second.synthetic, first.size, second.size)[never]
    places = np.argwhere(never)[np.lexsort((-expected[never], -made))]  # what is broken most, then what is likeliest
    named = [(first.level.categories[i], second.level.categories[j]) for i, j in places]
    text = f"{first.name} = {named[0][0]} is never with {second.name} = {named[0][1]}"
    more = len(named) - 1
    if more:
        text += f" (and {more} more such {'pair' if more == 1 else 'pairs'} of values)"
    stated = "\n".join(
        constraint(f"impossible = {written({first.name: one, second.name: other})}") for one, other in named[:_STATED]
    )
    return Rule(
        "never together",
        text,
        (first.name, second.name),
        float(made.sum()) / facts.others,
        (Advice(STATE, stated, in_schema=True),),
    )


def _counts(first: Codes, second: Codes, size: int, other: int) -> Codes:
    return np.bincount(first * other + second, minlength=size * other).reshape(size, other)
