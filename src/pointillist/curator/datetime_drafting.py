"""Datetime drafting: how the dates and times of a private table are written or stored, so that synthetic ones look alike."""

import datetime as dt
import itertools
import re
from contextlib import suppress
from typing import Any

import duckdb
import pyarrow as pa

from pointillist.schema import Datetime

# Dates as people write them; where a file fits two of these, the first is drafted, and marked.
_DATES = ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d")
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_FORMATS = tuple("".join(parts) for parts in itertools.product(_DATES, _TIMES))
_ISO = re.compile(r"9999-99-99(?P<gap>[ T])99:99(?P<seconds>:99)?(\.(?P<parts>9{1,9}))?(?P<zone>Z|[+-]99(:?99)?)?")
_ZONES = {None: "", "Z": "Z", "99": "+00", "9999": "%z", "99:99": "%:z"}
_PLAIN = "%Y-%m-%d %H:%M:%S"
"""How times are written unless a format is given."""


def other_format(texts: duckdb.DuckDBPyRelation) -> str | None:
    """The format, other than ISO 8601, in which all texts of a column `x` are written, if there is one."""
    first = texts.limit(1).fetchall()
    for form in _FORMATS if first else ():
        if _fits(first[0][0], form) and _share(texts, f"try_strptime(trim(x), '{form}') IS NOT NULL") == 1.0:
            return _as_written(texts, form)
    return None


def _fits(text: str, form: str) -> bool:
    """A first look, which is quick: most texts are no dates."""
    with suppress(ValueError):
        return bool(dt.datetime.strptime(text.strip(), form))
    return False


def _as_written(texts: duckdb.DuckDBPyRelation, form: str) -> str:
    """The format with or without leading zeros: whichever writes most texts as they are."""
    bare = re.sub("%([dm])", r"%-\1", form)
    ways = dict.fromkeys((form, bare, *(re.sub("%([HI])", r"%-\1", each) for each in (form, bare))))
    return max(ways, key=lambda way: _share(texts, f"strftime(strptime(trim(x), '{form}'), '{way}') = trim(x)"))


def _share(texts: duckdb.DuckDBPyRelation, test: str) -> float:
    return float(texts.aggregate(f"coalesce(avg(({test})::INTEGER), 0)").fetchall()[0][0])


def iso_format(texts: duckdb.DuckDBPyRelation) -> str | None:
    """How most times of a column `x` of ISO 8601 texts are written; none if that is how they are written anyway."""
    shapes = texts.project(r"regexp_replace(trim(x), '\d', '9', 'g') AS shape")
    usual = shapes.aggregate("shape, count(*) AS often").order("often DESC, shape").limit(1).fetchall()
    found = _ISO.fullmatch(usual[0][0]) if usual else None
    if found is None:
        return None
    parts = f".%{len(found['parts'])}f".replace("%6f", "%f") if found["parts"] else ""
    zone = _ZONES[found["zone"] and found["zone"].lstrip("+-")]
    form = f"%Y-%m-%d{found['gap']}%H:%M{':%S' if found['seconds'] else ''}{parts}{zone}"
    return None if form == _PLAIN else form


def stored_as(column: Any, kind: pa.DataType | None) -> Any:
    """A drafted column with the type that its dates or times are stored in, where that is not the usual one."""
    if not isinstance(column, Datetime) or kind is None:
        return column
    name = re.sub(r"\[(day|ms)\]$", "", str(kind)) if pa.types.is_date(kind) else str(kind)
    if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)) or name in ("date32", "timestamp[us]"):
        return column
    facts = column.model_dump() | {"stored": name, "read_from_data": (*column.read_from_data, "stored")}
    with suppress(ValueError):  # a zone that is not known here, or years that the type cannot reach
        return Datetime.model_validate(facts)
    return column
