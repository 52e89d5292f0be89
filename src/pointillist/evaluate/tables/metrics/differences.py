"""Differences: of columns that are told in the same terms and go together, such as the first and the last day of a stay.

Both columns may be right, their order kept and their correlation high, and stays be three times as long all the same:
what lies between the two is compared for itself.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.evaluate.advice import NO_NAMES, Advice, Commands, in_column
from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.metric import Result
from pointillist.evaluate.tables.cells import number_cells
from pointillist.evaluate.tables.metric import DEPENDENCE, METRICS, TableContext, TableMetric
from pointillist.evaluate.tables.metrics.dependence import DependenceMetric
from pointillist.evaluate.tables.metrics.marginals import by_chance
from pointillist.evaluate.tables.rank_correlations import Correlation
from pointillist.evaluate.tables.rules.base import EVIDENCE, LEAST_ROWS
from pointillist.evaluate.tables.sample import Sample
from pointillist.evaluate.verdict import UNCLEAR, Point, grade
from pointillist.files.toml_text import written
from pointillist.pages import number
from pointillist.pages.blocks import Card, Cards, Table, Text
from pointillist.pages.report import Section
from pointillist.schema.formula import quoted
from pointillist.schema.kinds.drafting import rounded_out
from pointillist.schema.kinds.duration import SECONDS, in_words
from pointillist.schema.levels import Levels

_TOGETHER, _IN_ORDER, _BY_CHANCE = 0.5, 0.99, 0.02
"""A pair in order: of such a rank correlation, in such a share of the real rows, where as many shuffled rows are not."""
_CLOSE, _WIDER = 0.9, 2.0
"""A pair without an order: of such a rank correlation, and neither spans more than so many times what the other does."""
_PARTS, _MOST, _SHUFFLED = 16, 30, 5_000
_GOOD, _FAIR = 0.1, 0.25


@dataclass(frozen=True)
class Difference:
    """One pair: how much the second column lies above the first."""

    columns: tuple[str, str]
    """The one that is mostly the lower first."""
    median: tuple[float, float]
    """Real and synthetic; in seconds, of dates and lengths of time."""
    mean: tuple[float, float]
    distance: float
    """Total variation distance, in parts of equal mass among the real rows."""
    chance: float
    """What chance alone would make of two samples of these sizes."""
    level: Levels = field(repr=False)
    """Of the second column."""
    range: tuple[float, float] = (0.0, 0.0)
    """Nearly all real differences lie in it."""

    @property
    def beyond(self) -> float:
        return max(0.0, self.distance - self.chance)

    @property
    def name(self) -> str:
        return f"{self.columns[1]} − {self.columns[0]}"

    def shown(self, value: float) -> str:
        """A difference in words."""
        if self.level.column.compared_as == "a number":
            return str(self.level.column.show(value))
        return in_words(dt.timedelta(seconds=round(value)))

    def to_json(self) -> dict[str, Any]:
        names = ("distance", "chance")
        figures = {"columns": list(self.columns), "median": list(self.median), "mean": list(self.mean)}
        return {**figures, **{name: getattr(self, name) for name in names}}


@dataclass(frozen=True)
class Differences(Result):
    """All pairs, the worst first; at least one."""

    pairs: tuple[Difference, ...]
    commands: Commands = NO_NAMES

    def to_json(self) -> list[dict[str, Any]]:
        return [each.to_json() for each in self.pairs]

    def table(self) -> pa.Table:
        return pa.Table.from_pylist(self.to_json())

    def lines(self) -> tuple[str, ...]:
        shown = "; ".join(f"{each.name} {' → '.join(map(each.shown, each.median))}" for each in self.pairs[:3])
        return (f"Differences of paired columns (median, real → synthetic): {shown}.",)

    def points(self) -> tuple[Point, ...]:
        worst = self.pairs[0]
        hidden = worst.chance > 0.1 and worst.beyond < worst.chance / 2
        found = UNCLEAR if hidden else grade(worst.beyond, _GOOD, _FAIR)
        real, made = map(worst.shown, worst.median)
        return (
            Point(
                "differences of paired columns",
                found,
                f"{worst.distance:.2f}",
                f"The difference that is furthest off is {worst.name}: its median is {made} in place of {real}, and "
                f"{worst.distance:.0%} of the rows would have to change to make it right. Chance alone would give "
                f"{worst.chance:.0%}.",
                "total variation distance, beyond what chance alone gives, of the difference of two columns in the same "
                "terms that are in order or nearly alike, of the worst pair: good up to 0.1, fair up to 0.25; unclear where "
                "chance gives most of it",
                (*_measured(worst), self.commands.larger_epsilon()) if found in ("fair", "poor") else (),
            ),
        )

    def sections(self) -> tuple[Section, ...]:
        rows = [
            (each.name, *map(each.shown, each.median), *map(each.shown, each.mean),
             f"{number(each.distance)} ({number(each.chance)})")
            for each in self.pairs
        ]  # fmt: skip
        table = Table.of("difference|#median|*synthetic|#mean|*synthetic|#distance (by chance)", rows, "Paired columns")
        note = Text(
            "Of columns in the same terms that are in order or nearly alike: a length of stay, a margin.", "soft"
        )
        return (
            DEPENDENCE.saying(blocks=[Cards((Card("Differences of paired columns", (note, table)),), "wide-cards")]),
        )


@METRICS.register("differences", place=32)
class DifferencesMetric(TableMetric[Differences]):
    """What lies between two columns."""

    def compute(self, real: Sample, synthetic: Sample, context: TableContext) -> Differences | None:
        found = context.ask(DependenceMetric)
        return differences(real, synthetic, () if found is None else found.correlations, context.commands)


def differences(
    real: Sample, synthetic: Sample, correlations: Sequence[Correlation], commands: Commands | None = None
) -> Differences | None:
    """Compare the differences of all pairs that go together in the real rows; None if there is no such pair."""
    likely = [each for each in correlations if each.real >= _TOGETHER and _same_terms(*map(real.level, each.columns))]
    likely.sort(key=lambda each: -each.real)
    exact = _Exact(real, synthetic)
    paired = [each.columns for each in likely if _paired(exact, each)]
    found = [each for pair in paired[:_MOST] for each in _compared(exact, pair)]
    found.sort(key=lambda each: (-each.beyond, -each.distance))
    return Differences(tuple(found), commands or NO_NAMES) if found else None


class _Exact:
    """Numbers of both tables in terms that can be subtracted, each column once."""

    def __init__(self, real: Sample, synthetic: Sample) -> None:
        self.samples = real, synthetic
        self._found: dict[str, tuple[Floats, Floats]] = {}

    def of(self, name: str) -> tuple[Floats, Floats]:
        if name not in self._found:
            tick = self.samples[0].level(name).column.tick
            first, second = (sample.as_is(name) * tick for sample in self.samples)
            self._found[name] = first, second
        return self._found[name]


def _same_terms(one: Levels, other: Levels) -> bool:
    """Dates with dates, counts with counts; counts are not compared with rates."""
    if not (one.numeric and other.numeric) or one.column.compared_as is None:
        return False
    kinds = one.column.compared_as == "a number" and one.column.kind != other.column.kind
    return bool(one.column.compared_as == other.column.compared_as and not kinds)


def _paired(exact: _Exact, pair: Correlation) -> bool:
    one, other = (exact.of(name)[0] for name in pair.columns)
    known = ~np.isnan(one) & ~np.isnan(other)
    one, other = one[known], other[known]
    if len(one) < LEAST_ROWS:
        return False
    for low, high in ((one, other), (other, one)):
        if (low <= high).mean() >= _IN_ORDER:
            some = np.random.default_rng(0).permutation(len(low))[:_SHUFFLED]
            broken = float((low[some] > np.roll(high[some], 1)).mean())
            if broken >= _BY_CHANCE and broken * len(low) >= EVIDENCE:
                return True
    if pair.real < _CLOSE:
        return False
    first, second = (np.quantile(values, [0.05, 0.95]) for values in (one, other))
    spans = sorted((float(np.ptp(first)), float(np.ptp(second))))
    return bool(max(first[0], second[0]) < min(first[1], second[1]) and spans[1] <= _WIDER * spans[0])


def _compared(exact: _Exact, pair: tuple[str, str]) -> Iterable[Difference]:
    """The difference, with its sign such that it is mostly positive; nothing where the synthetic table has none."""
    one, other = map(exact.of, pair)
    apart = other[0] - one[0], other[1] - one[1]
    known = [each[~np.isnan(each)] for each in apart]
    if not len(known[1]):
        return
    if np.median(known[0]) < 0:
        pair, known = (pair[1], pair[0]), [-each for each in known]
    cells = number_cells((known[0], known[1]), few=((_PARTS, 10),), parts=_PARTS)
    real, made = (np.bincount(each, minlength=cells.size).astype(np.float64) for each in (cells.real, cells.synthetic))
    rows, others = len(known[0]), len(known[1])
    yield Difference(
        pair,
        (float(np.median(known[0])), float(np.median(known[1]))),
        (float(known[0].mean()), float(known[1].mean())),
        float(np.abs(real / rows - made / others).sum()) / 2,
        by_chance(real + made, rows, others),
        exact.samples[0].level(pair[1]),
        (float(np.quantile(known[0], 0.001)), float(np.quantile(known[0], 0.999))),
    )


def _measured(pair: Difference) -> tuple[Advice, ...]:
    """The difference as a column of its own, and the upper column computed from it."""
    (low, high), column = pair.columns, pair.level.column
    name = f"{high}_minus_{low}"
    least, most = pair.range
    if column.compared_as != "a number":
        if least < 0:
            return ()
        unit = next(unit for unit in ("day", "hour", "second") if most >= SECONDS[unit] or unit == "second")
        longest = dt.timedelta(seconds=max(1.0, rounded_out(most / SECONDS[unit], up=True)) * SECONDS[unit])
        said = (
            f"Measure the difference in place of {high}: add a column {name} to the real table, leave {high} out, and "
            f"compute {high} = {low} + {name} of the synthetic rows. A formula cannot add a length of time to a date."
        )
        lines = 'kind = "duration"', 'min = "0s"', f"max = {written(in_words(longest))}"
        ignored = in_column(high, 'kind = "ignore"')
        return (Advice(said, f"{in_column(name, *lines)}\n\n{ignored}", in_schema=True),)
    span = max(most - least, 1e-300)
    ends = [rounded_out(least, up=False, span=span), rounded_out(most, up=True, span=span)]
    ends = [int(each) if column.whole else float(each) for each in ends]
    if not ends[0] < ends[1]:
        return ()
    digits = () if column.digits is None else (f"decimals = {column.digits}",)
    finer = () if column.whole else digits
    facts = (f"kind = {written(column.kind)}", f"min = {written(ends[0])}", f"max = {written(ends[1])}", *finer)
    said = (
        f"Measure the difference in place of {high}: add a column {name} to the real table, and let {high} follow from "
        "it, so that it is not measured and comes out exact."
    )
    derived = in_column(high, 'kind = "derived"', f"derived = {written(f'{quoted(low)} + {quoted(name)}')}", *digits)
    return (Advice(said, f"{in_column(name, *facts)}\n\n{derived}", in_schema=True),)
