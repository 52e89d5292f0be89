"""Schemas: any columns, rows within and outside their bounds, and neighbours of any kind, for hypothesis."""

import datetime as dt
import math
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

import pointillist as pt
from pointillist.schema.texts import MISSING_TEXTS
from recording.cases import METHODS, Case, Pair
from recording.tables import KEPT, SELECTED, SOURCES, Row

Draw = st.DrawFn
Values = st.SearchStrategy[Any]

_NONE = st.none()
_WORDS = ("a", "b", "Ä", "?", "1", "2", "7", "yes", "with, comma", 'a "quote"', "=1+1", " a")


@dataclass(frozen=True)
class Described:
    """A column, how it is written, and what may stand in it."""

    column: Any
    values: Values
    written: str
    """typed, texts or mixed"""


@st.composite
def _named(draw: Draw) -> Described:
    """Categories: listed, unlisted, missing, and spelt almost like another one."""
    kind = draw(st.sampled_from([pt.Categorical, pt.Ordinal]))
    missing, other = draw(st.booleans()), draw(st.sampled_from(["other", "error"]))
    named = draw(st.sampled_from(["texts", "numbers", "texts of numbers"]))
    if named == "texts of numbers":  # where a gap turns a frame's whole numbers into floats, 7 is still 7
        listed: list[Any] = ["1", "2", "7"]
        values: Values = st.sampled_from([1, 2, 7, *([3, 2.5] if other == "other" else [])])
    elif named == "texts":
        listed = draw(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=4, unique=True))
        values = st.sampled_from(listed)
        if other == "other":
            values |= st.sampled_from(["zz", "A", "", "other"])
        values = values if missing else values.filter(lambda text: text in listed or text not in MISSING_TEXTS)
    else:
        listed = draw(st.lists(st.integers(-3, 9), min_size=1, max_size=4, unique=True))
        values = st.sampled_from(listed) | st.sampled_from([float(each) for each in listed])
        if other == "other":
            values |= st.sampled_from([77, -0.0, 2.5])
    column = kind(categories=tuple(listed), missing=missing, out_of_domain=other)
    return Described(column, values | _NONE if missing else values, draw(st.sampled_from(["typed", "texts", "mixed"])))


@st.composite
def _boolean(draw: Draw) -> Described:
    missing = draw(st.booleans())
    written = draw(st.sampled_from(["typed", "texts", "mixed"]))
    typed = draw(st.sampled_from([st.booleans(), st.integers(0, 1)]))
    values: Values = typed if written == "typed" else st.sampled_from([True, False, "YES", " f ", "1", "n", 0])
    return Described(pt.Boolean(missing=missing), values | _NONE if missing else values, written)


@st.composite
def _number(draw: Draw) -> Described:
    """Integers and reals, with atoms: in and out of bounds, infinite, not numbers, and as texts."""
    low, width = draw(st.integers(-20, 20)), draw(st.integers(1, 40))
    log = draw(st.booleans())
    low = max(1, low) if log else low
    missing, whole = draw(st.booleans()), draw(st.booleans())
    special = draw(st.lists(st.integers(-2, 3), max_size=2, unique=True))
    facts: dict[str, Any] = {
        "min": low if whole else float(low),
        "max": low + width if whole else low + width + 0.5,
        "special": tuple(special) if whole else tuple(map(float, special)),
        "scale": "log" if log else "linear",
        "bins": draw(st.integers(2, 9)),
        "missing": missing,
    }
    values: Values = st.integers(low - 3, low + width + 3) | st.floats(low - 3, low + width + 3)
    values |= st.sampled_from([*special, 0, -0.0, 5e-324, 1e300, -1e300, math.inf, -math.inf, 10**15])
    if missing:
        values |= st.none() | st.just(math.nan)
    written = draw(st.sampled_from(["typed", "texts", "mixed"]))
    if written != "typed":
        values |= st.sampled_from(["3", "3.0", "1e1", "-7", " 4 ", "1E300", *(["NA", "?", "nan"] if missing else [])])
    return Described((pt.Integer if whole else pt.Real)(**facts), values, written)


@st.composite
def _moment(draw: Draw) -> Described:
    """Days and seconds, in and out of bounds, before 1970, and beyond what pandas holds in nanoseconds."""
    missing, day = draw(st.booleans()), draw(st.booleans())
    column = pt.Datetime(
        min="1969-12-30", max="1970-03-01", resolution="day" if day else "second", missing=missing,
        bins=draw(st.integers(2, 9)), format=draw(st.sampled_from([None, "%d/%m/%Y"])),
    )  # fmt: skip
    near = st.datetimes(dt.datetime(1969, 12, 1), dt.datetime(1970, 4, 1)).map(lambda when: when.replace(microsecond=0))
    far = st.sampled_from([dt.datetime(1, 1, 2), dt.datetime(1677, 1, 1), dt.datetime(9999, 12, 30)])
    values: Values = (near | far).map(lambda when: when.date()) if day else near | far
    written = draw(st.sampled_from(["typed", "texts"]))
    if written == "texts" and column.format is not None:
        values |= st.just("05/02/1970")
    return Described(column, values | _NONE if missing else values, written)


_NOTES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
_IGNORED = st.just(Described(pt.Ignore(), _NONE | _NOTES, "texts"))
_COLUMNS = _named() | _boolean() | _number() | _moment() | _IGNORED


@st.composite
def cases(draw: Draw) -> tuple[Case, Pair]:
    """A release of any method, from any source, and neighbours."""
    described = draw(st.lists(_COLUMNS, min_size=1, max_size=4).filter(lambda all_: any(_measured(d) for d in all_)))
    columns = {f"c {number}": each for number, each in enumerate(described)}
    most = draw(st.sampled_from([None, 1, 3]))
    source = draw(st.sampled_from([*SOURCES]))
    neighbours = draw(st.sampled_from(["add-remove", "replace-one"]))
    schema = pt.Schema(
        name="drawn",
        rows=draw(st.sampled_from([None, 10, 1000])),
        columns={name: each.column for name, each in columns.items()},
        person=None if most is None else pt.Person(column="who", max_rows=most),
    )
    case = Case(
        schema,
        (*columns, "who", KEPT),
        source,
        draw(st.sampled_from([*METHODS])),
        neighbours,
        draw(st.sampled_from([0.1, 1.0, 8.0])),
        draw(st.none() | st.sampled_from([name for name, each in columns.items() if _measured(each)])),
        frozenset(name for name, each in columns.items() if each.written == "texts"),
        frozenset(name for name, each in columns.items() if each.written == "mixed"),
    )
    row = st.fixed_dictionaries(
        {name: each.values for name, each in columns.items()}
        | {KEPT: st.booleans() if source in SELECTED else st.just(True)}
    )
    return case, draw(_pairs(row, most, neighbours))


def _measured(described: Described) -> bool:
    return described.column.kind != "ignore"


@st.composite
def _pairs(draw: Draw, row: st.SearchStrategy[Row], most: int | None, neighbours: str) -> Pair:
    """Neighbours among no, few or some rows; the person's rows may be copies of the others'."""
    name = draw(st.sampled_from([lambda n: f"p{n}", lambda n: n]))  # texts, or numbers
    somebody = st.integers(0, 5).map(name)
    # Rows that name nobody count for nobody.
    others = row if most is None else st.builds(lambda r, who: r | {"who": who}, row, somebody | _NONE)
    rest = tuple(r if "who" in r else r | {"who": name(0)} for r in draw(st.lists(others, max_size=12)))
    any_row = row if not rest else row | st.sampled_from(rest)

    def own(who: Any) -> st.SearchStrategy[tuple[Row, ...]]:
        size = {"min_size": 1, "max_size": 1 if most is None else most + 2}
        return st.lists(any_row, **size).map(lambda rows: tuple(r | {"who": who} for r in rows))

    nobody: tuple[Row, ...] = ()
    first = draw(own(name(8)))
    # In someone's place comes another, or she herself with other rows.
    second = draw(own(draw(st.sampled_from([name(8), name(9)])))) if neighbours == "replace-one" else nobody
    if draw(st.booleans()):
        first, second = second, first
    return Pair(rest, first, second, draw(st.integers(0, len(rest))))
