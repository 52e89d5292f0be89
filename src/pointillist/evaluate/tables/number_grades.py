"""Number grades: what the verdict says of means, spreads and quantiles of numbers. Each is graded by its worst column."""

from dataclasses import dataclass

from pointillist.evaluate.advice import Advice, Commands, in_column
from pointillist.evaluate.tables.moments import Moments
from pointillist.evaluate.tables.quantiles import SHARES, Quantiles
from pointillist.evaluate.verdict import UNCLEAR, Point, grade
from pointillist.files.toml_text import written
from pointillist.schema.levels import Levels

_FAR = 8.0
"""A log scale that ends at so many times the 95 % quantile has much room for noise."""


@dataclass(frozen=True)
class NumberColumn:
    """What the grades need to know of a numeric column."""

    name: str
    summary: dict[str, tuple[str, str]]
    """Mean and spread in words, real and synthetic."""
    moments: Moments
    quantiles: Quantiles | None = None
    level: Levels | None = None
    by_value: bool = False
    """Whether it has so few values that each is compared by itself."""
    mend: tuple[Advice, ...] = ()
    """What has to be done before anything else is of use: the schema cuts off much of the column."""

    def shown(self, value: float) -> str:
        """A value in words."""
        return f"{value:g}" if self.level is None else self.level.column.show(value)

    def advice(self, commands: Commands) -> tuple[Advice, ...]:
        """Bounds that cut values off; or reach far beyond them, or a long tail on a plain scale; else noise."""
        if self.mend:
            return self.mend
        return (*_levels(self), *_bounds(self), *_far_end(self), *_scale(self), commands.larger_epsilon())


def number_points(columns: list[NumberColumn], commands: Commands) -> tuple[Point, ...]:
    """The questions about numbers; none where there are no numbers."""
    if not columns:
        return ()
    placed = [(each, each.quantiles) for each in columns if each.quantiles is not None]
    return (
        _means(columns, commands),
        _spreads(columns, commands),
        *((_quantiles(placed, commands),) if placed else ()),
    )


def _means(columns: list[NumberColumn], commands: Commands) -> Point:
    worst = max(columns, key=lambda each: each.moments.shift)
    moments, mean = worst.moments, worst.summary["mean"]
    beyond = max(0.0, moments.shift - 2 * moments.chance)
    found = UNCLEAR if moments.chance > 0.1 else grade(beyond, 0.05, 0.2)
    return Point(
        "means of numbers",
        found,
        f"{moments.shift:.2f}",
        f"The mean that is furthest off is that of {worst.name}: {mean[1]} in place of {mean[0]}, by "
        f"{moments.shift:.2f} of the real spread.",
        "largest shift of a mean beyond chance, in spreads: good up to 0.05, fair up to 0.2",
        worst.advice(commands) if found in ("fair", "poor") else (),
    )


def _spreads(columns: list[NumberColumn], commands: Commands) -> Point:
    def beyond(moments: Moments) -> float:
        return max(0.0, moments.stretch - 2 * moments.stretch_chance)

    worst = max(columns, key=lambda each: (beyond(each.moments), each.moments.stretch))
    moments, spread = worst.moments, worst.summary["spread"]
    found = UNCLEAR if moments.stretch_chance > 0.2 else grade(beyond(moments), 0.1, 0.3)
    return Point(
        "spreads of numbers",
        found,
        f"{moments.stretch:.0%}",
        f"The spread (standard deviation) that is furthest off is that of {worst.name}: {spread[1]} in place of "
        f"{spread[0]}.",
        "largest part by which a spread is off beyond chance: good up to 10 %, fair up to 30 %; unclear where chance alone "
        "gives over 20 %",
        worst.advice(commands) if found in ("fair", "poor") else (),
    )


def _quantiles(columns: list[tuple[NumberColumn, Quantiles]], commands: Commands) -> Point:
    worst, facts = max(columns, key=lambda each: max(each[1].shifts))
    shift, at = max(facts.shifts), facts.worst
    found = UNCLEAR if facts.chance > 0.1 else grade(shift, 0.1, 0.3)
    where = "median" if SHARES[at] == 0.5 else f"{SHARES[at]:.0%} quantile".replace("%", " %")
    return Point(
        "quantiles of numbers",
        found,
        f"{shift:.2f}",
        f"The quantile that is furthest off is the {where} of {worst.name}: {worst.shown(facts.synthetic[at])} in place of "
        f"{worst.shown(facts.real[at])}."
        if shift > 0
        else "The 5 %, 25 %, 50 %, 75 % and 95 % quantiles of all numbers lie where chance may put them.",
        "largest shift of a 5, 25, 50, 75 or 95 % quantile, in spreads, beyond chance and 2 % of the rows: good up to 0.1, "
        "fair up to 0.3",
        worst.advice(commands) if found in ("fair", "poor") else (),
    )


def _levels(column: NumberColumn) -> tuple[Advice, ...]:
    """Few values, measured in bins that mix them: what is in a bin comes out anywhere within it."""
    level = column.level
    if level is None or not column.by_value or len(level.values) or level.column.compared_as != "a number":
        return ()
    said = (
        f"{column.name} has few different values, and the schema measures it in bins that mix them. Leave out bins and "
        "scale, so that each value has a level of its own, or list the values as categories."
    )
    return (Advice(said, in_column(column.name, 'scale = "linear"'), in_schema=True),)


def _bounds(column: NumberColumn) -> tuple[Advice, ...]:
    """Where most of the public range is empty, levels are wasted on it and noise spreads over it."""
    if column.level is None or column.quantiles is None or column.level.column.compared_as != "a number":
        return ()
    low, high = column.level.bounds
    real = column.quantiles.real
    room = real[-1] - real[0]
    if room <= 0 or high - low < 4 * room or column.level.column.scale != "linear":
        return ()
    ends = [real[0] - room / 2, real[-1] + room / 2]
    ends = [max(low, ends[0]), min(high, ends[1])]
    whole = [int(each) for each in ends] if column.level.whole else [float(f"{each:.2g}") for each in ends]
    lines = in_column(column.name, f"min = {written(whole[0])}", f"max = {written(whole[1])}")
    said = (
        f"Most of the range that the schema gives {column.name} ({column.level.column.show_ends()}) is empty: nine tenths "
        "of the real values lie in less than a quarter of it. Set tighter bounds."
    )
    return (Advice(said, lines, in_schema=True),)


def _far_end(column: NumberColumn) -> tuple[Advice, ...]:
    """On a log scale the last bins are wide: where nearly nobody is, noise alone puts rows far out."""
    facts, level = column.quantiles, column.level
    if facts is None or level is None or level.column.compared_as != "a number" or level.column.scale != "log":
        return ()
    if facts.real[-1] <= 0 or level.bounds[1] < _FAR * facts.real[-1]:
        return ()
    end = float(f"{_FAR / 2 * facts.real[-1]:.1g}")
    lines = in_column(column.name, f"max = {written(int(end) if level.whole else end)}")
    said = (
        f"The range of {column.name} ends at {level.column.show(level.bounds[1])}, and 95 % of the real values lie below "
        f"{column.shown(facts.real[-1])}: noise alone puts rows far out. Set a lower max; values above it count as the max."
    )
    return (Advice(said, lines, in_schema=True),)


def _scale(column: NumberColumn) -> tuple[Advice, ...]:
    """A long tail on one side, measured in equal parts."""
    facts, level = column.quantiles, column.level
    if facts is None or level is None or level.column.scale != "linear" or level.column.compared_as != "a number":
        return ()
    below, above = facts.real[2] - facts.real[0], facts.real[-1] - facts.real[2]
    if len(level.values) or above < 3 * below or facts.real[0] <= 0:
        return ()
    lines = in_column(column.name, 'scale = "log"', *(() if level.bounds[0] > 0 else ("min = 1",)))
    return (Advice(f"{column.name} has a long tail: measure it on a log scale.", lines, in_schema=True),)
