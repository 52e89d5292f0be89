"""Real questions: what somebody would ask of a table, made by rule, with the answers of the private rows.

Eight kinds: means, shares, quantiles, sums, ratios, correlations, regression coefficients, means of groups. Of each kind a
few for every table, drawn by a seed; of pairs of numbers half are those that depend most on each other, because those are
what people ask about. The answer is that of the table as it is measured: values outside the schema's bounds are at them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.intervals.real_tables import RealTable
from pointillist.inference.estimate import Estimate
from pointillist.inference.received import Received
from pointillist.inference.sql_expression import quoted
from pointillist.schema.levels import Levels, levels_of

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

EACH = 6
"""So many questions of a kind, or fewer where a table has no more columns."""
FEWEST = 30
"""Groups and conditions hold at least so many private rows."""
STATISTICS = ("mean", "share", "quantile", "sum", "ratio", "correlation", "coefficient", "group mean")


@dataclass(frozen=True, eq=False)
class RealQuestion:
    """One question, and its answer."""

    statistic: str
    """One of `STATISTICS`."""
    text: str
    ask: Callable[[Received], Estimate]
    truth: float
    whole: float
    """The width of an interval that says nothing: the range of the column, 1 for a share, 2 for a correlation."""


@dataclass(frozen=True, eq=False)
class _Private:
    """The private columns, as numbers and as values."""

    table: RealTable

    @cached_property
    def levels(self) -> dict[str, Levels]:
        return {each.name: each for each in levels_of(self.table.schema)}

    @cached_property
    def numbers(self) -> dict[str, Floats]:
        """Columns that count in numbers and have some, each moved into its bounds; NaN where missing."""
        found = {}
        for name, levels in self.levels.items():
            if not levels.numeric or levels.column.unit != "number":
                continue
            values = np.array(
                [np.nan if each is None else float(each) for each in self.table.rows[name].to_pylist()],
                dtype=np.float64,
            )
            inside = np.clip(values, *levels.bounds)
            for special in levels.specials:
                inside[values == special] = special
            if np.unique(inside[~np.isnan(inside)]).size > 2:
                found[name] = inside
        return found

    @cached_property
    def groups(self) -> list[tuple[str, Any, Mask]]:
        """Values of columns with few, each with its rows."""
        found = []
        for name, levels in self.levels.items():
            if levels.numeric:
                continue
            private = self.table.rows[name].to_pylist()
            for value in levels.column.every_value(20)[:20]:
                rows = np.array([each == value or str(each) == value for each in private])
                if FEWEST <= rows.sum() < len(rows):
                    found.append((name, value, rows))
        return found

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of numbers that some rows have both of, the strongest first."""
        strength = {}
        for pair in combinations(self.numbers, 2):
            first, second = self.both(*pair)
            if len(first) >= FEWEST and first.std() > 0 and second.std() > 0:
                strength[pair] = abs(float(np.corrcoef(first, second)[0, 1]))
        return sorted(strength, key=lambda pair: -strength[pair])

    def both(self, *names: str) -> list[Floats]:
        """Columns over the rows that have all of them."""
        there = ~np.isnan(np.stack([self.numbers[name] for name in names])).any(axis=0)
        return [self.numbers[name][there] for name in names]


def real_questions(table: RealTable, seed: int = 0) -> list[RealQuestion]:
    """All questions about a table."""
    private, rng = _Private(table), np.random.default_rng(seed)
    makers = (_of_columns, _of_shares, _of_ratios, _of_correlations, _of_coefficients, _of_groups)
    return [each for maker in makers for each in maker(private, rng) if np.isfinite(each.truth) and each.whole > 0]


def _drawn(rng: np.random.Generator, every: list[Any], most: int = EACH) -> list[Any]:
    return [every[place] for place in sorted(rng.permutation(len(every))[:most])]


def _of_columns(private: _Private, rng: np.random.Generator) -> Iterator[RealQuestion]:
    """Means, sums and quantiles."""
    for name in _drawn(rng, list(private.numbers)):
        (values,) = private.both(name)
        whole, shown = float(np.ptp(values)), quoted(name)
        order = float(rng.choice([0.1, 0.25, 0.5, 0.75, 0.9]))
        yield RealQuestion("mean", f"mean({name})", _asked("expect", shown), float(values.mean()), whole)
        total = float(values.sum())
        yield RealQuestion("sum", f"sum({name})", _asked("total", shown), total, whole * len(values))
        quantile = float(np.quantile(values, order, method="inverted_cdf"))
        yield RealQuestion("quantile", f"quantile({name}, {order})", _asked("quantile", shown, order), quantile, whole)
    for name, (column, value, rows) in zip(private.numbers, _drawn(rng, private.groups, 3), strict=False):
        inside = private.numbers[name][rows & ~np.isnan(private.numbers[name])]
        if len(inside) >= FEWEST:
            where, whole = _is(column, value), float(np.ptp(private.both(name)[0]))
            median = float(np.quantile(inside, 0.5, method="inverted_cdf"))
            ask = _asked("quantile", quoted(name), 0.5, where=where)
            yield RealQuestion("quantile", f"median({name}) where {where}", ask, median, whole)
            ask = _asked("total", quoted(name), where=where)
            yield RealQuestion("sum", f"sum({name}) where {where}", ask, float(inside.sum()), whole * len(inside))


def _of_shares(private: _Private, rng: np.random.Generator) -> Iterator[RealQuestion]:
    """Of one value; of numbers above a round place; of both at once; of two values and a number."""
    groups, numbers = _drawn(rng, private.groups), _drawn(rng, list(private.numbers))
    for name, value, rows in groups[: EACH // 3]:
        yield _share(_is(name, value), rows)
    above = []
    for name in numbers[: EACH // 3]:
        (values,) = private.both(name)
        place = float(f"{np.quantile(values, rng.uniform(0.2, 0.8)):.2g}")
        with np.errstate(invalid="ignore"):
            above.append((f"{quoted(name)} > {place!r}", private.numbers[name] > place))
        yield _share(*above[-1])
    for (name, value, rows), (event, high) in zip(groups, above, strict=False):
        yield _share(f"{_is(name, value)} and {event}", rows & high)
    for first, second, (event, high) in zip(groups, groups[len(groups) // 2 :], above, strict=False):
        if first[0] != second[0]:
            both = first[2] & second[2] & high
            yield _share(f"{_is(*first[:2])} and {_is(*second[:2])} and {event}", both)


def _share(event: str, rows: Mask) -> RealQuestion:
    return RealQuestion("share", f"share where {event}", _asked("probability", event), float(rows.mean()), 1.0)


def _of_ratios(private: _Private, rng: np.random.Generator) -> Iterator[RealQuestion]:
    """The mean of one number by another that is above 0 wherever it is not 0."""
    every = [
        (over, under)
        for first, second in private.pairs
        for over, under in ((first, second), (second, first))
        if private.levels[under].column.extremes[0] >= 0
    ]
    for over, under in _drawn(rng, every):
        first, second = private.both(over, under)
        ratios = first[second > 0] / second[second > 0]
        text = f"{quoted(over)} / nullif({quoted(under)}, 0)"
        if len(ratios) >= FEWEST:
            yield RealQuestion(
                "ratio", f"mean({text})", _asked("expect", text), float(ratios.mean()), float(np.ptp(ratios))
            )


def _half_strong(private: _Private, rng: np.random.Generator) -> list[tuple[str, str]]:
    strong = private.pairs[: EACH // 2]
    return [*strong, *_drawn(rng, private.pairs[EACH // 2 :], EACH - EACH // 2)]


def _of_correlations(private: _Private, rng: np.random.Generator) -> Iterator[RealQuestion]:
    for first, second in _half_strong(private, rng):
        one, other = private.both(first, second)
        truth = float(np.corrcoef(one, other)[0, 1])
        ask = _asked("correlation", quoted(first), quoted(second))
        yield RealQuestion("correlation", f"correlation({first}, {second})", ask, truth, 2.0)


def _of_coefficients(private: _Private, rng: np.random.Generator) -> Iterator[RealQuestion]:
    """The slope of one number on another, and beside a third one."""
    for place, (outcome, given) in enumerate(_half_strong(private, rng)):
        others = [name for name in private.numbers if name not in (outcome, given)]
        names = [given, *(_drawn(rng, others, 1) if place % 2 else [])]
        y, *inputs = private.both(outcome, *names)
        design = np.column_stack([np.ones(len(y)), *inputs])
        if (
            len(y) < FEWEST
            or np.linalg.matrix_rank(design / np.maximum(np.abs(design).max(axis=0), 1e-300)) < len(names) + 1
        ):
            continue
        truth = float(np.linalg.lstsq(design, y, rcond=None)[0][1])
        whole = 2 * float(y.std() / inputs[0].std())
        text = f"regression({outcome} on {', '.join(names)}): {given}"
        yield RealQuestion("coefficient", text, _slope(outcome, names), truth, whole)


def _of_groups(private: _Private, rng: np.random.Generator) -> Iterator[RealQuestion]:
    """In one value's rows; a few in those of two."""
    every = [(name, (group,)) for name in private.numbers for group in private.groups]
    pairs = [(a, b) for a, b in combinations(_drawn(rng, private.groups), 2) if a[0] != b[0]]
    crossed = [(name, pair) for name in private.numbers for pair in pairs]
    for name, groups in [*_drawn(rng, every, 2 * EACH), *_drawn(rng, crossed, 3)]:
        rows = np.logical_and.reduce([rows for _, _, rows in groups])
        values = private.numbers[name][rows & ~np.isnan(private.numbers[name])]
        if len(values) >= FEWEST:
            where = " and ".join(_is(*each[:2]) for each in groups)
            ask = _asked("expect", quoted(name), where=where)
            whole = float(np.ptp(private.both(name)[0]))
            yield RealQuestion("group mean", f"mean({name}) where {where}", ask, float(values.mean()), whole)


def _is(name: str, value: Any) -> str:
    """A condition in SQL."""
    if isinstance(value, str):
        return f"{quoted(name)} = '" + value.replace("'", "''") + "'"
    return f"{quoted(name)} = {str(value).lower()}"


def _asked(method: str, *arguments: Any, **options: Any) -> Callable[[Received], Estimate]:
    def ask(received: Received) -> Estimate:
        found: Estimate = getattr(received, method)(*arguments, **options)
        return found

    return ask


def _slope(outcome: str, names: list[str]) -> Callable[[Received], Estimate]:
    return lambda received: received.regression(quoted(outcome), [quoted(name) for name in names])[names[0]]
