"""Functions: a column whose value follows from that of one other, as the name of a place follows from its code."""

from collections.abc import Iterable

import numpy as np

from pointillist.evaluate.advice import Advice, in_column
from pointillist.evaluate.arrays import Codes
from pointillist.evaluate.tables.rules.base import EVIDENCE, RULES, Facts, Rule, RuleKind, Values
from pointillist.files.toml_text import written

_LEAST_REPEATS = 4
"""Each value of the column that decides is there this often, on average: else every column is a function of it."""


@RULES.register("function", place=20)
class Functions(RuleKind):
    """For each column at most one rule: by the column with the fewest values that decides it."""

    replaces = ("never together",)

    def find(self, facts: Facts) -> Iterable[Rule]:
        deciding = sorted(
            (each for each in facts.columns if 2 <= each.distinct * _LEAST_REPEATS <= facts.rows),
            key=lambda each: each.distinct,
        )
        mutual: set[tuple[str, str]] = set()
        for decided in facts.columns:
            for source in deciding:
                if source is decided or source.distinct < decided.distinct or (decided.name, source.name) in mutual:
                    continue
                if not _decides(source, decided, facts):
                    continue
                mutual.add((source.name, decided.name))
                yield _rule(source, decided, facts)
                break


def mapping(source: Values, decided: Values) -> Codes:
    """For each value of one column that of the other in some real row; -1 where no real row has it."""
    found = np.full(source.size, -1, dtype=np.int64)
    found[source.real] = decided.real
    return found


def advice(decided: str, formula: str, derived: str = "") -> tuple[Advice, ...]:
    """A column that follows from others need not be measured; `derived` is its formula as a schema has it."""
    if derived:
        lines = in_column(decided, 'kind = "derived"', f"derived = {written(derived)}", "decimals = 0")
        return (
            Advice(f"Declare {decided} as derived: it then costs nothing, and comes out exact.", lines, in_schema=True),
        )
    said = (
        f"Leave {decided} out of the release, which then costs nothing and spends its share on the others, and compute it "
        f"in the synthetic table: {formula}."
    )
    return (Advice(said, in_column(decided, 'kind = "ignore"'), in_schema=True),)


def _decides(source: Values, decided: Values, facts: Facts) -> bool:
    if decided.distinct < 2 or (facts.rows - source.distinct) * decided.variety < EVIDENCE:
        return False
    seen = np.full(source.size, -1, dtype=np.int64)
    seen[source.real[facts.probe]] = decided.real[facts.probe]
    if (seen[source.real[facts.probe]] != decided.real[facts.probe]).any():
        return False
    return bool((mapping(source, decided)[source.real] == decided.real).all())


def _rule(source: Values, decided: Values, facts: Facts) -> Rule:
    wanted = mapping(source, decided)[source.synthetic]
    broken = float(np.mean((wanted >= 0) & (wanted != decided.synthetic)))
    both = source.distinct == decided.distinct
    text = (
        f"{source.name} and {decided.name} go together one to one"
        if both
        else f"{decided.name} follows from {source.name}"
    )
    return Rule(
        "function", text, (source.name, decided.name), broken, advice(decided.name, f"one value for each {source.name}")
    )
