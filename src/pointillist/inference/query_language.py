"""The query language: a question in words, such as `mean(income), count() where age > 40 group by sex`.

    aggregates       count()  share()  mean(x)  sum(x)  median(x)  quantile(x, 0.9)  correlation(x, y)
    where ...        a condition in SQL over columns: and, or, not, in, between, is null
    group by a, b    columns with few values

Inside mean, sum, median, quantile and correlation any formula over columns may stand. Column names with spaces go in double
quotes or back-ticks, texts in single quotes.

A question is parsed once, before anything is fitted; its answers are figures with an interval, for each aggregate and group.
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from pointillist.errors import UsageError
from pointillist.inference.condition_values import require_known
from pointillist.inference.estimate import Estimate
from pointillist.inference.received import Received, receive
from pointillist.inference.sql_expression import (
    ALL_ROWS,
    Expression,
    Function,
    column_of,
    listed,
    meant,
    quoted,
    unquoted,
)
from pointillist.inference.statistic import Correlation, Count, Mean, Quantile, Share, Statistic, Total
from pointillist.model import Model
from pointillist.progress import Progress, silent
from pointillist.release import Release
from pointillist.schema.levels import Levels
from pointillist.watching import watched

ARGUMENTS = {"count": 0, "share": 0, "mean": 1, "sum": 1, "median": 1, "quantile": 2, "correlation": 2}
"""The aggregates, and how many arguments each has."""
_FORMS = "count(), share(), mean(x), sum(x), median(x), quantile(x, 0.9), correlation(x, y)"
_CALL = re.compile(r"\s*([A-Za-z_]\w*)\s*\(", re.ASCII)
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_GROUP = re.compile(r"group\s+by\b", re.IGNORECASE)
_MOST_VALUES = 100
"""The most values of a column that rows are grouped by."""
_MOST_GROUPS = 500


@dataclass(frozen=True)
class Aggregate:
    """One figure that is asked for."""

    name: str
    """One of `ARGUMENTS`."""
    formulas: tuple[Expression, ...] = ()
    order: float | None = None
    """Of a quantile."""

    def __str__(self) -> str:
        order = () if self.order is None or self.name == "median" else (f"{self.order:g}",)
        return f"{self.name}({', '.join((*(each.text for each in self.formulas), *order))})"

    def statistic(self, where: Function, received: Received) -> Statistic:
        """What it asks about the rows that meet a condition."""
        numbers = [received.as_column(each.number) for each in self.formulas]
        match self.name:
            case "count":
                return Count(where)
            case "share":
                return Share(where if where.name else replace(where, name="true"))
            case "mean":
                return Mean(numbers[0], where)
            case "sum":
                return Total(numbers[0], where)
            case "correlation":
                return Correlation(numbers[0], numbers[1], where)
            case _:
                assert self.order is not None
                return Quantile(numbers[0], self.order, where)


@dataclass(frozen=True)
class Group:
    """The figures of one group of rows."""

    values: tuple[Any, ...]
    """For each column that rows are grouped by its value; None if it is missing."""
    estimates: tuple[Estimate, ...]


@dataclass(frozen=True)
class Answers:
    """Figures with intervals, group by group."""

    query: "Query"
    groups: tuple[Group, ...]
    notes: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        from pointillist.pages.notebook import Box, Rows, interval

        estimates = [each for group in self.groups for each in group.estimates]
        sure = f"private ({estimates[0].confidence:.0%})" if estimates else "private"
        ends = [
            [end for each in asked if each.known for end in (each.low, each.high, each.value)]
            for asked in zip(*(group.estimates for group in self.groups), strict=True)
        ]
        rows = [
            (
                *("missing" if value is None else value for value in group.values),
                aggregate,
                each.shown(each.value),
                each.interval,
                interval(each.value, each.low, each.high, *ends[number]) if each.known else "",
                each.basis,
            )
            for group in self.groups
            for number, (aggregate, each) in enumerate(zip(self.query.aggregates, group.estimates, strict=True))
        ]
        headings = (*self.query.groups, "figure", "synthetic", sure, "", "from")
        note = "Each interval holds by itself, not all of them together."
        table = Rows(headings, rows, numbers=("synthetic", sure))
        return Box("Answers", f"{len(rows)} figures", tables=[table], notes=[*self.notes, note]).to_html()

    def to_json(self) -> list[dict[str, Any]]:
        """One entry for each figure."""
        return [
            {
                "group": dict(zip(self.query.groups, group.values, strict=True)),
                "aggregate": str(aggregate),
                **estimate.to_json(),
            }
            for group in self.groups
            for aggregate, estimate in zip(self.query.aggregates, group.estimates, strict=True)
        ]


@dataclass(frozen=True)
class Query:
    """A question that was understood."""

    aggregates: tuple[Aggregate, ...]
    where: Expression | None
    groups: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, known: Sequence[str]) -> Self:
        """Understand a question about known columns."""
        head, where, groups = _parts(text)
        aggregates = tuple(_aggregate(text, part, known) for part in _split(text, head))
        return cls(
            aggregates,
            None if where is None else Expression.parse(text[where], known, within=text, offset=where.start),
            () if groups is None else tuple(_group(text, part, known) for part in _split(text, groups)),
        )

    def require_known(self, columns: Mapping[str, Any]) -> None:
        """Refuse values in the condition and in formulas that no row can have."""
        formulas = [formula for each in self.aggregates for formula in each.formulas]
        for expression in [*formulas, *([] if self.where is None else [self.where])]:
            require_known(expression, columns)

    def answer(self, received: Received) -> Answers:
        """Ask it of a release. Groups that no synthetic row is in are left out, and counted in a note."""
        self.require_known(received.release.schema.measured)
        choices = [_choices(received.levels[name], received.columns) for name in self.groups]
        if (number := math.prod(map(len, choices))) > _MOST_GROUPS:
            raise UsageError(f"group by: that makes {number:,} groups; {_MOST_GROUPS} at most. Group by fewer columns.")
        groups, empty = [], 0
        for chosen in itertools.product(*choices):
            where = ALL_ROWS if self.where is None else self.where.event
            for _, member in chosen:
                where = member if where is ALL_ROWS else where.both(member)
            if chosen and not where(received.rows).any():
                empty += 1
                continue
            figures = (received.ask(each.statistic(where, received)) for each in self.aggregates)
            groups.append(Group(tuple(value for value, _ in chosen), tuple(figures)))
        notes = [f"{empty} group{'s' * (empty > 1)} without a synthetic row {'are' if empty > 1 else 'is'} not shown."]
        told = dict.fromkeys(each.note for group in groups for each in group.estimates if each.note)
        return Answers(self, tuple(groups), (*(notes if empty else ()), *told))


def answer(received: Received, text: str) -> Answers:
    """Answer a query, such as `mean(income) where age > 40 group by sex`."""
    return Query.parse(text, received.columns).answer(received)


@watched
def ask(
    release: Release,
    text: str,
    *,
    model: Model | str | Path | None = None,
    confidence: float = 0.95,
    refits: int = 0,
    seed: int = 0,
    progress: Progress = silent,
) -> Answers:
    """Answer a query from a release alone. A slip in it is told before the fit, not after; options are as in `receive`."""
    release.schema.require_table("query")
    known = release.recorded.measured
    query = Query.parse(text, list(known))
    query.require_known(known)
    received = receive(release, model=model, confidence=confidence, refits=refits, seed=seed, progress=progress)
    return query.answer(received)


def _parts(text: str) -> tuple[slice, slice | None, slice | None]:
    """Where the aggregates stand, the condition, and the columns to group by."""
    where = group = None
    for place, depth in _open(text):
        word = (
            _WORD.match(text, place)
            if place == 0 or not (text[place - 1].isalnum() or text[place - 1] in "_.")
            else None
        )
        if depth or word is None:
            continue
        if word.group().lower() == "where" and where is None and group is None:
            where = word
        elif word.group().lower() == "where":
            raise UsageError(f"a second 'where'{_at(text, place)}: one comes after the aggregates, before 'group by'.")
        elif group is None:
            group = _GROUP.match(text, place)
    first = min(each.start() for each in (where, group) if each is not None) if where or group else len(text)
    return (
        slice(0, first),
        None if where is None else slice(where.end(), group.start() if group else len(text)),
        None if group is None else slice(group.end(), len(text)),
    )


def _open(text: str) -> Iterator[tuple[int, int]]:
    """Every place that is not inside quotes, and how many brackets are open there."""
    depth, quote, begun = 0, "", 0
    for place, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"`":
            quote, begun = sign, place
        else:
            depth -= sign in ")]"
            if depth < 0:
                raise UsageError(f"a bracket is closed that was never opened{_at(text, place)}.")
            yield place, depth
            depth += sign in "(["
    if quote:
        raise UsageError(f"a quote is opened and never closed{_at(text, begun)}.")
    if depth:
        raise UsageError("a bracket is opened and never closed. Close it with ')'.")


def _split(text: str, part: slice) -> list[slice]:
    """A part of the text at its commas."""
    commas = [place for place, depth in _open(text[part]) if text[part][place] == "," and not depth]
    ends = [part.start, *(part.start + place + 1 for place in commas)]
    return [slice(begin, end) for begin, end in zip(ends, [*(each - 1 for each in ends[1:]), part.stop], strict=True)]


def _aggregate(text: str, part: slice, known: Sequence[str]) -> Aggregate:
    written = text[part]
    call = _CALL.match(written)
    if not written.strip():
        raise UsageError(f"an aggregate is missing{_at(text, part.start)}. Ask for {_FORMS}.")
    if call is None or not written.rstrip().endswith(")"):
        raise UsageError(f"{written.strip()!r} is not an aggregate{_at(text, _begin(text, part))}. Ask for {_FORMS}.")
    name = call.group(1).lower()
    if name not in ARGUMENTS:
        raise UsageError(f"{name!r} is not an aggregate{_at(text, _begin(text, part))}. Known are {_FORMS}.")
    inner = slice(part.start + call.end(), part.start + len(written.rstrip()) - 1)
    parts = _split(text, inner) if text[inner].strip() else []
    if len(parts) != ARGUMENTS[name]:
        form = next(each for each in _FORMS.split("), ") if each.startswith(name)).rstrip(")") + ")"
        raise UsageError(
            f"{name} takes {ARGUMENTS[name] or 'no'} argument{'s' * (ARGUMENTS[name] != 1)}, not {len(parts)}"
            f"{_at(text, _begin(text, part))}. Write {form}."
        )
    order = {"median": 0.5}.get(name)
    if name == "quantile":
        order = _order(text, parts.pop())
    formulas = (Expression.parse(text[each], known, within=text, offset=each.start) for each in parts)
    return Aggregate(name, tuple(formulas), order)


def _order(text: str, part: slice) -> float:
    try:
        found = float(text[part])
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        raise UsageError(
            f"the order of a quantile is a number from 0 to 1, not {text[part].strip()!r}{_at(text, _begin(text, part))}."
        )
    return found


def _group(text: str, part: slice, known: Sequence[str]) -> str:
    name = unquoted(text[part].strip())
    column = column_of(name, known)
    if column is None:
        hint = meant(text[part], name, known)
        raise UsageError(
            f"group by: {name!r} is not a column{_at(text, _begin(text, part))}. {hint}Columns: {listed(known)}."
        )
    return column


def _begin(text: str, part: slice) -> int:
    """Where the words of a part begin."""
    return part.start + len(text[part]) - len(text[part].lstrip())


def _at(text: str, place: int) -> str:
    rest = text[place:].strip()
    return f" at position {place + 1}" + (f" (before {rest[:20]!r})" if rest else " (the end)")


def _choices(levels: Levels, known: Sequence[str]) -> list[tuple[Any, Function]]:
    """Every value of a column that rows are grouped by, and the condition that a row has it."""
    found = []
    for value in _values(levels):
        condition = f"{quoted(levels.name)} is null" if value is None else f"{quoted(levels.name)} = {_literal(value)}"
        found.append((value, Expression.parse(condition, known).event))
    return found


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def _values(levels: Levels) -> list[Any]:
    """Every value of a column, and None if some may be missing."""
    values = levels.column.every_value(_MOST_VALUES)
    if not 0 < len(values) <= _MOST_VALUES:
        raise UsageError(
            f"group by: column {levels.name!r} is {levels.column.kind} and has no groups. Name a categorical, ordinal, "
            f"boolean or integer column with at most {_MOST_VALUES} values, or use where."
        )
    gaps = levels.has_missing or levels.column.unlisted_is_missing
    return [*values, None] if gaps else values
