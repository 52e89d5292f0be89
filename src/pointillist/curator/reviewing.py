"""Reviewing: which facts of a draft say most about few rows, and what would say less. For the owner's eyes.

With the data at hand, rows are counted; these counts are shown to the owner and go into no file. Without it, facts are put
in the order of what they could give away.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pointillist.reading.base import Source
from pointillist.schema import AnyColumn, Derived, Integer, Real, Schema
from pointillist.schema.kinds.bounded import Bounded
from pointillist.schema.kinds.categorical import Named
from pointillist.schema.kinds.drafting import rounded_out

FEW = 10
"""A fact that fewer rows share than this may give them away."""
_END = 0.02
"""The part of a range at either end that a bound speaks for."""
_ORDER = ("categories", "codes", "special", "only", "max", "min", "constraints", "derived", "order", "persons")
"""Facts that could give somebody away, the likeliest first."""


@dataclass(frozen=True)
class Finding:
    """A fact that was read from the data, and what it may give away."""

    column: str
    fact: str
    rows: int | None
    """How many rows share it, if the data were looked at; of a list its rarest entry."""
    text: str
    safer: AnyColumn | None = None
    """The column with a fact that says less, where there is one."""
    rounded: bool = False
    """Whether it is a round number already: whoever reads it cannot tell that some row has it."""

    @property
    def revealing(self) -> bool:
        """Whether few rows share it."""
        return self.rows is not None and self.rows < FEW and not self.rounded


def urgency(fact: str, rows: int | None, rounded: bool) -> tuple[int, int]:
    """What findings are sorted by, the most revealing first."""
    return (FEW if rows is None else max(rows, FEW) if rounded else rows), _ORDER.index(fact)


def review(schema: Schema, source: Source | None = None) -> tuple[Finding, ...]:
    """What was read from the data, the most revealing first."""
    seen = {} if source is None else _counted(schema, source)
    found = [
        finding
        for name, column in schema.columns.items()
        for finding in _of_column(name, column, seen.get(name))
        if finding.fact in column.read_from_data
    ]
    if "constraints" in schema.read_from_data:
        found += [Finding("", "constraints", None, f"{each}: in every row") for each in schema.constraints]
    found += _of_persons(schema)
    return tuple(sorted(found, key=lambda each: urgency(each.fact, each.rows, each.rounded)))


def safer(schema: Schema, findings: tuple[Finding, ...]) -> Schema:
    """The schema with what was suggested in place of facts that few rows share."""
    columns: dict[str, Any] = dict(schema.columns)
    for each in findings:
        if each.revealing and each.safer is not None:
            now = columns[each.column].model_dump() | {each.fact: getattr(each.safer, each.fact)}
            columns[each.column] = type(each.safer).model_validate(now)
    return Schema.parse({**schema.model_dump(), "columns": columns}, origin="the schema")


def _counted(schema: Schema, source: Source) -> dict[str, Any]:
    """Rows of every category, of every special or listed number, and at both ends of every range."""
    names = [name for name, column in schema.measured.items() if isinstance(column, Named | Integer | Real)]
    counts: dict[str, Any] = {}
    for batch in source.batches(names, schema, lambda part: None):
        for name in names:
            found = _counts(schema.columns[name], batch.column(name))
            counts[name] = found + counts[name] if name in counts else found
    return counts


def _counts(column: Any, array: Any) -> Any:
    values = column.from_arrow(array)
    if isinstance(column, Named):
        return np.bincount(values[values >= 0], minlength=len(column.categories))
    special, listed = np.array(column.specials), column.listed
    low, high = column.bounds
    rest = values[~np.isin(values, special)]
    reach = _END * (high - low)
    ends = [(rest <= low + reach).sum(), (rest >= high - reach).sum()]
    return np.array([*ends, *((values == each).sum() for each in (*special, *listed))])


def _of_persons(schema: Schema) -> Iterator[Finding]:
    """What a draft found out about people with several rows."""
    person = schema.person
    if person is None:
        return
    if "order" in schema.read_from_data and person.order is not None:
        yield Finding("", "order", None, f"the rows of a person come in the order of {person.order}")
    if "persons" in schema.read_from_data and person.persons is not None:
        yield Finding("", "persons", None, f"about {person.persons:,} persons, rounded")


def _of_column(name: str, column: AnyColumn, counts: Any) -> Iterator[Finding]:
    if isinstance(column, Named):
        yield _categories(name, column, counts)
    elif isinstance(column, Derived) and column.of is not None:
        yield Finding(name, "codes", None, f"what each {column.of} has: {len(column.codes)} pairs")
    elif isinstance(column, Derived):
        yield Finding(name, "derived", None, f"{name} = {column.derived}: in every row")
    elif isinstance(column, Integer | Real):
        at = 2 + len(column.special)
        ends = (None, None) if counts is None else (int(counts[0]), int(counts[1]))
        if column.special:
            yield _listing(name, column, "special", None if counts is None else counts[2:at])
        if len(column.only):
            yield _listing(name, column, "only", None if counts is None else counts[at:])
        else:
            yield _bound(name, column, "min", ends[0])
            yield _bound(name, column, "max", ends[1])
    elif isinstance(column, Bounded):
        yield Finding(name, "min", None, f"from {column.show_ends()}")


def _categories(name: str, column: Named, counts: Any) -> Finding:
    size = len(column.categories)
    if counts is None:
        return Finding(name, "categories", None, f"{size} categories")
    rare = [each for each, rows in zip(column.categories, counts, strict=True) if rows < FEW]
    kept = tuple(each for each in column.categories if each not in rare)
    mended = column.model_copy(update={"categories": kept}) if rare and kept and column.has_other else None
    shown = ", ".join(map(str, rare[:3])) + (", …" if len(rare) > 3 else "")
    text = f"{_few(len(rare), size, 'categories')} ({shown})" if rare else f"{size} categories"
    return Finding(name, "categories", int(counts.min()), text, mended)


def _few(rare: int, size: int, what: str) -> str:
    return f"{rare} of {size} {what} {'has' if rare == 1 else 'have'} fewer than {FEW} rows"


def _listing(name: str, column: Any, fact: str, counts: Any) -> Finding:
    values = getattr(column, fact)
    if counts is None:
        return Finding(name, fact, None, f"{len(values)} numbers")
    kept = tuple(each for each, rows in zip(values, counts, strict=True) if not 0 < rows < FEW)
    rare = len(values) - len(kept)  # what no row has gives nobody away
    text = _few(rare, len(values), "numbers") if rare else f"{len(values)} numbers"
    mended = column.model_copy(update={fact: kept}) if rare and fact == "special" else None
    return Finding(name, fact, int(counts[counts > 0].min(initial=counts.sum())), text, mended)


def _hides(value: float, fact: str, column: Any, span: float) -> bool:
    """Whether a bound is a round number that the next value inside would have been rounded to as well.

    Then nobody can tell that a row has it. Small counts have no such numbers: 9 is 9. A zero is where counting begins.
    """
    inside = (1 if isinstance(column, Integer) else abs(value) * 1e-6) * (-1 if fact == "max" else 1)
    return value == 0 or {rounded_out(each, up=fact == "max", span=span) for each in (value, value + inside)} == {value}


def _bound(name: str, column: Any, fact: str, rows: int | None) -> Finding:
    value = getattr(column, fact)
    low, high = column.bounds
    round_number = rounded_out(value, up=fact == "max", span=5 * (high - low))  # a tenth of the range at most
    rounded = _hides(value, fact, column, 5 * (high - low))
    text = f"{fact} = {value:g}{', a round number' if rounded else ''}"
    if rows is not None:
        text += f"; {rows:,} {'row is' if rows == 1 else 'rows are'} that {'high' if fact == 'max' else 'low'}"
    mended = None
    if round_number != value and not getattr(column, "clock", False) and (column.scale != "log" or round_number > 0):
        mended = column.model_copy(update={fact: type(value)(round_number)})
        text += f"; {round_number:g} says less" if rows is None or rows < FEW else ""
    return Finding(name, fact, rows, text, mended, rounded)
