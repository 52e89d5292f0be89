"""Repetition: which columns may name people who have several rows each. The draft's judgement, for the owner to answer.

A column's name says little, so its values are judged. They must be many and repeat a few times each, none of them far
more often than the rest. That holds for ages and prices as well, so one more sign is needed:
- all values come equally often, as in a study with a fixed number of visits;
- another column never changes within a value, though it does from one value to the next: a person's sex does, what was
  measured does not. A column that rises or falls with the values says the same in other words, and does not count;
- texts within which another column changes far less than between them;
- a name that is usual for people's numbers, then also with more rows each.
An identifier that is different in every row takes away the weaker signs: each row is then likely to be a unit.
"""

import math
import re
from collections.abc import Container, Mapping
from dataclasses import dataclass

import duckdb

from pointillist.schema.kinds import AnyColumn
from pointillist.schema.texts import MISSING_TEXTS

_FEWEST, _REPEATED, _MOST_ROWS, _MOST_NAMED, _MOST_SHARE = 40, 20, 100, 500, 0.02
"""Values and repetitions at least; rows of a value on average, also where the name speaks for it, and the largest share
of one value, at most."""
_TEXTS = 60
"""Texts at most that are categories rather than names."""
_FACTS, _FACT_VALUES, _SUSPECTS, _ROWS = 20, 200, 20, 40_000
"""Columns looked at beside a suspect, values of each, suspects, rows: at most, to keep a draft quick."""
_EQUAL, _CONSTANT, _APART, _ALIKE, _MONOTONE = 0.9, 0.98, 0.25, 0.3, 0.8
_PERSONAL = re.compile(
    r"(^|_)(id|ids|nr|mrn|ssn|key|uuid|patient|person|subject|customer|client|member|user|account)(_|$)|(number|Id|ID)$"
)
_TIME = re.compile(r"(^|_|\b)(year|yr|date|month|week|day|hour|time|period|wave|quarter|season|round)s?(_|\b|$)", re.I)
_YEARS = 1800, 2100
"""Names of columns that say when, and whole numbers that do: what repeats in them is a calendar."""


@dataclass(frozen=True)
class _Values:
    """How the values of one column repeat."""

    name: str
    column: str
    """Its name in the relation."""
    text: bool
    filled: int
    distinct: int
    largest: int
    """Rows of the most frequent value."""
    equal: float
    """The share of values that come as often as most do."""
    usual: int
    """How often most values come."""
    years: bool
    """Whether they are whole numbers that may be years."""
    gapless: bool
    """Whether they are whole numbers without a gap: of rows, if each comes once."""

    @property
    def each(self) -> float:
        return self.filled / max(1, self.distinct)

    @property
    def named(self) -> bool:
        return (
            _PERSONAL.search(self.name) is not None
            and _TEXTS < self.distinct < self.filled <= _MOST_NAMED * self.distinct
        )

    @property
    def suspicious(self) -> bool:
        return self.named or (
            not self.years
            and _TIME.search(self.name) is None
            and self.distinct >= _FEWEST
            and self.filled - self.distinct >= _REPEATED
            and self.each <= _MOST_ROWS
            and self.largest <= max(_MOST_SHARE * self.filled, 3 * self.each)
        )


def repeating(
    rows: duckdb.DuckDBPyRelation, columns: Mapping[str, AnyColumn], count: int, without: Container[str] = ()
) -> dict[str, int]:
    """Columns that may name people, the likeliest first, and about how many rows each of their values has.

    `without`: columns that follow from others, so that it says nothing that they do not change.
    """
    found = [
        _values(rows, f"c{number}", name, drafted)
        for number, (name, drafted) in enumerate(columns.items())
        if name not in without and drafted.room_for_people() >= _FEWEST  # by what the draft knows of it already
    ]
    identified = any(each.distinct == count and not each.gapless for each in found)
    suspects = sorted((each for each in found if each.suspicious), key=lambda each: -each.distinct)
    balanced = next((each for each in suspects if each.equal >= _EQUAL and each.usual > 1), None)
    suspects.sort(key=lambda each: (not each.named, each is not balanced, not each.text))  # the likeliest, if too many
    likely: dict[str, tuple[int, int]] = {}
    for each in suspects[:_SUSPECTS]:
        constant, alike = _facts(rows, each, columns, without)
        weaker = each is balanced or (each.text and each.distinct > _TEXTS and alike)
        if each.named or constant or (weaker and not identified):
            likely[each.name] = (-(2 * each.named + constant), round(each.each))
    return {name: each for name, (_, each) in sorted(likely.items(), key=lambda item: item[1])}


def _values(rows: duckdb.DuckDBPyRelation, column: str, name: str, drafted: AnyColumn) -> _Values:
    whole = "TRY_CAST(x::VARCHAR AS BIGINT)"
    missing = ", ".join(f"'{text}'" for text in MISSING_TEXTS)
    times = rows.aggregate(f"{column} AS x, count(*) AS times", column)
    times = times.filter(f"x IS NOT NULL AND trim(x::VARCHAR) NOT IN ({missing})")  # the values are fewer than the rows
    # So many values come so often: a short list, whatever the table.
    often = times.aggregate(f"times, count(*), count({whole}), min({whole}), max({whole})", "times").fetchall()
    distinct, numbers = (sum(line[place] for line in often) for place in (1, 2))
    usual, most = max(((line[0], line[1]) for line in often), key=lambda line: line[1], default=(0, 0))
    low, high = (
        each([line[at] for line in often if line[at] is not None], default=0) for each, at in ((min, 3), (max, 4))
    )
    return _Values(
        name=name,
        column=column,
        text=not drafted.numeric and numbers < distinct,
        filled=sum(line[0] * line[1] for line in often),
        distinct=distinct,
        largest=max((line[0] for line in often), default=0),
        equal=most / max(1, distinct),
        usual=usual,
        years=numbers == distinct > 0 and _YEARS[0] <= low and high <= _YEARS[1],
        gapless=numbers == distinct == high - low + 1,
    )


def _facts(
    rows: duckdb.DuckDBPyRelation, values: _Values, columns: Mapping[str, AnyColumn], without: Container[str]
) -> tuple[bool, bool]:
    """Whether another column never changes within a value, and whether one changes far less than between values.

    Rows are put in the values' order, and each is compared with the one before: so what changes slowly along with a
    measurement agrees between neighbouring values as well.
    """
    x = values.column
    kept = _filled(rows, x)
    if values.filled > _ROWS:  # whole values, so that none is torn apart
        kept = kept.filter(f"hash({x}) % {math.ceil(values.filled / _ROWS)} = 0")
    others = [f"c{number}" for number, name in enumerate(columns) if name != values.name and name not in without]
    sizes = kept.aggregate(", ".join(f"approx_count_distinct({y})" for y in others)).fetchall()[0] if others else ()
    few = min(_FACT_VALUES, values.distinct // 2)
    facts = sorted((size, y) for size, y in zip(sizes, others, strict=True) if 2 <= size <= few)[-_FACTS:]
    if not facts:
        return False, False
    before = f"OVER (ORDER BY TRY_CAST({x}::VARCHAR AS DOUBLE), {x})"
    pairs = kept.project(
        f"{x} = lag({x}) {before} AS same, "
        + ", ".join(f"({y} IS NOT DISTINCT FROM lag({y}) {before})::INTEGER AS {y}" for _, y in facts)
    )
    agree = pairs.aggregate(
        ", ".join(f"avg({y}) FILTER (WHERE same), avg({y}) FILTER (WHERE NOT same)" for _, y in facts)
    ).fetchall()[0]
    within_between = [(y, agree[2 * k] or 0.0, agree[2 * k + 1] or 0.0) for k, (_, y) in enumerate(facts)]
    constant = any(
        within >= _CONSTANT and within - between >= _APART and not _rises(kept, x, y)
        for y, within, between in within_between
    )
    return constant, any(within - between >= _ALIKE * (1 - between) for _, within, between in within_between)


def _rises(rows: duckdb.DuckDBPyRelation, x: str, y: str) -> bool:
    """Whether one number rises or falls with another."""
    means = rows.aggregate(
        f"TRY_CAST({x}::VARCHAR AS DOUBLE) AS x, avg(TRY_CAST({y}::VARCHAR AS DOUBLE)) AS y",
        f"TRY_CAST({x}::VARCHAR AS DOUBLE)",
    )
    ranks = means.filter("x IS NOT NULL AND y IS NOT NULL").project(
        "rank() OVER (ORDER BY x) AS x, rank() OVER (ORDER BY y) AS y"
    )
    found = ranks.aggregate("corr(x, y)").fetchall()[0][0]
    return found is not None and abs(found) >= _MONOTONE


def _filled(rows: duckdb.DuckDBPyRelation, column: str) -> duckdb.DuckDBPyRelation:
    missing = ", ".join(f"'{text}'" for text in MISSING_TEXTS)
    return rows.filter(f"{column} IS NOT NULL AND trim({column}::VARCHAR) NOT IN ({missing})")
