"""Answer: what a query comes to, a figure with an interval for each aggregate and group."""

import itertools
from dataclasses import dataclass
from typing import Any

from pointillist.errors import UsageError
from pointillist.inference.estimate import Estimate
from pointillist.inference.function import Function, both, event
from pointillist.inference.naming import quoted
from pointillist.inference.query import Aggregate, Query
from pointillist.inference.received import Received
from pointillist.schema.levels import Levels

MOST_VALUES = 100
"""The most values of a column that rows are grouped by."""
MOST_GROUPS = 500


@dataclass(frozen=True)
class Group:
    """The figures of one group of rows."""

    values: tuple[Any, ...]
    """For each column that rows are grouped by its value; None if it is missing."""
    estimates: tuple[Estimate, ...]


@dataclass(frozen=True)
class Answers:
    """Figures with intervals, group by group."""

    query: Query
    groups: tuple[Group, ...]
    notes: tuple[str, ...] = ()

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


def answer(received: Received, text: str) -> Answers:
    """Answer a query, such as `mean(income) where age > 40 group by sex`."""
    query = Query.parse(text, received.columns)
    values = [_values(received.source.require(name)) for name in query.groups]
    if (number := _product(values)) > MOST_GROUPS:
        raise UsageError(f"group by: that makes {number:,} groups; {MOST_GROUPS} at most. Group by fewer columns.")
    groups, empty = [], 0
    for combined in itertools.product(*values):
        condition = _condition(received, query, combined)
        if query.groups and condition is not None and not condition(received.rows).any():
            empty += 1
            continue
        groups.append(Group(combined, tuple(_ask(received, each, condition) for each in query.aggregates)))
    note = f"{empty} group{'s' * (empty > 1)} without a synthetic row {'are' if empty > 1 else 'is'} not shown."
    return Answers(query, tuple(groups), (note,) if empty else ())


def _ask(received: Received, aggregate: Aggregate, where: Function | None) -> Estimate:
    match aggregate.name:
        case "count":
            return received.count(where)
        case "share":
            return received.probability("true" if where is None else where)
        case "mean":
            return received.expect(aggregate.formulas[0], where=where)
        case "sum":
            return received.total(aggregate.formulas[0], where=where)
        case "correlation":
            return received.correlation(aggregate.formulas[0], aggregate.formulas[1], where=where)
        case _:
            assert aggregate.order is not None
            return received.quantile(aggregate.formulas[0], aggregate.order, where=where)


def _condition(received: Received, query: Query, values: tuple[Any, ...]) -> Function | None:
    """The rows of one group."""
    texts = [] if query.where is None else [query.where]
    for name, value in zip(query.groups, values, strict=True):
        texts.append(f"{quoted(name)} is null" if value is None else f"{quoted(name)} = {_literal(value)}")
    found = None
    for text in texts:
        one = event(text, received.columns, lambda table: table)
        found = one if found is None else both(found, one)
    return found


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def _values(levels: Levels) -> list[Any]:
    """Every value of a column, and None if some may be missing."""
    column = levels.column
    values: list[Any] = column.every_value(MOST_VALUES)
    if column.unlisted_is_missing and not levels.has_missing:
        values.append(None)  # what is unlisted is written as a gap
    if not 0 < len(values) <= MOST_VALUES:
        raise UsageError(
            f"group by: column {levels.name!r} is {column.kind} and has no groups. Name a categorical, ordinal, boolean or "
            f"integer column with at most {MOST_VALUES} values, or use where."
        )
    return [*values, *([None] if levels.has_missing else [])]


def _product(values: list[list[Any]]) -> int:
    found = 1
    for each in values:
        found *= len(each)
    return found
