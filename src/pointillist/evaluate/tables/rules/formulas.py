"""Formulas: a number that is computed from one other (hour = time // 100) or is the sum of two."""

from collections.abc import Callable, Iterable
from itertools import combinations

import numpy as np

from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.tables.rules.base import EVIDENCE, RULES, Facts, Flags, Rule, RuleKind, Values
from pointillist.evaluate.tables.rules.functions import advice
from pointillist.schema.kinds.datetime import SECONDS

_PARTS = (7, 10, 12, 24, 60, 100, 1_000, 3_600, 10_000)
_LEAST_VALUES = 3
_LEAST_ROWS = 100
"""So many real rows must have all the values that a formula is about."""
_PROBE_SUM = 64
_MOST_SUMMED = 80
"""Sums are looked for among so many numbers: beyond, there are too many triples."""
Formula = Callable[[Floats], Floats]


@RULES.register("formula", place=10)
class Formulas(RuleKind):
    """For each number at most one rule."""

    replaces = ("function", "order", "never together")

    def find(self, facts: Facts) -> Iterable[Rule]:
        done: set[str] = set()
        numbers = facts.numeric
        for decided in numbers:
            if decided.distinct < _LEAST_VALUES:
                continue
            for source in numbers:
                if source is decided or source.name in done or source.distinct < decided.distinct:
                    continue
                found = _of_one(source, decided, facts)
                if found is not None:
                    done.add(decided.name)
                    yield found
                    break
        yield from _sums([each for each in numbers if each.name not in done][:_MOST_SUMMED], facts)


def _of_one(source: Values, decided: Values, facts: Facts) -> Rule | None:
    known = _known(source, decided, table=0)
    rows = np.flatnonzero(known)
    if len(rows) < _LEAST_ROWS or len(rows) * decided.variety < EVIDENCE:
        return None
    probe = rows[:200]
    for text, formula in _candidates(source, decided, probe):
        if not _same(formula(source.numbers[0][probe]), decided.numbers[0][probe]).all():
            continue
        if _same(formula(source.numbers[0][rows]), decided.numbers[0][rows]).all():
            both = _known(source, decided, table=1)
            wrong = ~_same(formula(source.numbers[1]), decided.numbers[1])
            said = f"{decided.name} = {text}"
            broken = float(np.mean(both & wrong))
            return Rule(
                "formula",
                said,
                (source.name, decided.name),
                broken,
                advice(decided.name, said, _derived(text, source.name) if decided.whole else ""),
            )
    return None


def _candidates(source: Values, decided: Values, probe: np.ndarray) -> Iterable[tuple[str, Formula]]:
    """Formulas that may be worth a look, simple ones first."""
    name, kinds = source.name, [each.level.column.compared_as for each in (source, decided)]
    first, second = source.numbers[0][probe], decided.numbers[0][probe]
    if kinds[0] == "a date":
        if kinds[1] != "a date":
            yield from _parts_of_dates(source)
        return
    if kinds[1] == "a date":
        return
    apart = float(second[0] - first[0])
    yield _plus(name, apart), lambda values: values + apart
    if first[0] and second[0] and abs(second[0] / first[0]) not in (0.0, 1.0):
        ratio = float(f"{second[0] / first[0]:.6g}")
        yield f"{name} × {ratio:g}", lambda values: values * ratio
    if source.whole and decided.whole:
        for part in _PARTS:
            yield f"{name} // {part}", lambda values, part=part: values // part  # type: ignore[misc]
            yield f"{name} % {part}", lambda values, part=part: values % part  # type: ignore[misc]


def _plus(name: str, apart: float) -> str:
    return name if apart == 0 else f"{name} {'+' if apart > 0 else '−'} {abs(apart):.6g}"


def _parts_of_dates(source: Values) -> Iterable[tuple[str, Formula]]:
    """Year, month and so on of a date, which is counted in days or seconds from 1970."""
    seconds = SECONDS[source.level.column.resolution]

    def days(values: Floats) -> np.ndarray:
        return np.floor(np.nan_to_num(values) * seconds / 86_400).astype(np.int64).astype("datetime64[D]")

    def months(values: Floats) -> np.ndarray:
        return days(values).astype("datetime64[M]").astype(np.int64)

    yield f"year of {source.name}", lambda values: 1970.0 + months(values) // 12
    yield f"month of {source.name}", lambda values: 1.0 + months(values) % 12
    yield (
        f"day of {source.name}",
        lambda values: (
            1.0 + (days(values) - days(values).astype("datetime64[M]").astype("datetime64[D]")).astype(float)
        ),
    )
    if seconds < 86_400:
        yield f"hour of {source.name}", lambda values: np.floor(values * seconds % 86_400 / 3_600)
        yield f"minute of {source.name}", lambda values: np.floor(values * seconds % 3_600 / 60)


def _sums(columns: list[Values], facts: Facts) -> Iterable[Rule]:
    """Totals of two columns, each of which says something of its own."""
    usable = [
        each for each in columns
        if each.distinct > _LEAST_VALUES and each.level.column.compared_as != "a date"
        and np.count_nonzero(np.nan_to_num(each.numbers[0])) > facts.rows / 10
    ]  # fmt: skip
    if len(usable) < 3:
        return
    table = np.stack([each.numbers[0][:_PROBE_SUM] for each in usable])
    done: set[int] = set()
    for i, j in combinations(range(len(usable)), 2):
        sums = table[i] + table[j]
        close = (_same(table, sums) | np.isnan(table) | np.isnan(sums)).all(axis=1)
        for total in np.flatnonzero(close):
            if total in (i, j) or total in done:
                continue
            rule = _total(usable[total], usable[i], usable[j])
            if rule is not None:
                done.add(int(total))
                yield rule


def _total(total: Values, first: Values, second: Values) -> Rule | None:
    known = [_known(total, first, table=table) & ~second.gaps[table] for table in (0, 1)]
    if np.count_nonzero(known[0]) < _LEAST_ROWS:
        return None
    wrong = [~_same(first.numbers[t] + second.numbers[t], total.numbers[t]) for t in (0, 1)]
    if (known[0] & wrong[0]).any():
        return None
    said = f"{total.name} = {first.name} + {second.name}"
    broken = float(np.mean(known[1] & wrong[1]))
    return Rule(
        "formula",
        said,
        (first.name, second.name, total.name),
        broken,
        advice(total.name, said, f"{_quoted(first.name)} + {_quoted(second.name)}" if total.whole else ""),
    )


def _known(first: Values, second: Values, table: int) -> Flags:
    return ~first.gaps[table] & ~second.gaps[table]


def _same(first: Floats, second: Floats) -> Flags:
    """But for rounding, also that of decimals."""
    return np.asarray(np.abs(first - second) <= 1e-6 * np.maximum(1.0, np.abs(second)))


def _derived(text: str, name: str) -> str:
    """A formula as a schema has it; none if a schema cannot say it."""
    part, of, _ = text.partition(f" of {name}")
    if of:
        return f"{part}({_quoted(name)})" if part != "minute" else ""
    return _quoted(name) + text.removeprefix(name).replace("×", "*").replace("−", "-")


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f"`{name}`"
