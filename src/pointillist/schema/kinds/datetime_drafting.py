"""Datetime drafting: how the dates and times of a private file are written, so that synthetic ones look alike."""

import datetime as dt
import itertools
import re
from contextlib import suppress

from pointillist.schema.kinds.drafting import Found

# Dates as people write them; where a file fits two of these, the first is drafted, and marked.
_DATES = ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d")
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_FORMATS = tuple("".join(parts) for parts in itertools.product(_DATES, _TIMES))
_ISO = re.compile(r"9999-99-99(?P<gap>[ T])99:99(?P<seconds>:99)?(\.(?P<parts>9{1,9}))?(?P<zone>Z|[+-]99(:?99)?)?")
_ZONES = {None: "", "Z": "Z", "99": "+00", "9999": "%z", "99:99": "%:z"}
PLAIN = "%Y-%m-%d %H:%M:%S"
"""How times are written unless a format is given."""


def other_format(texts: Found) -> str | None:
    """The format, other than ISO 8601, in which all texts of a column are written, if there is one."""
    first = texts.some()
    for form in _FORMATS if first is not None else ():
        if _fits(first, form) and _share(texts, f"try_strptime(trim(x), '{form}') IS NOT NULL") == 1.0:
            return _as_written(texts, form)
    return None


def _fits(text: str, form: str) -> bool:
    """A first look, which is quick: most texts are no dates."""
    with suppress(ValueError):
        return bool(dt.datetime.strptime(text.strip(), form))
    return False


def _as_written(texts: Found, form: str) -> str:
    """The format with or without leading zeros: whichever writes most texts as they are."""
    bare = re.sub("%([dm])", r"%-\1", form)
    ways = dict.fromkeys((form, bare, *(re.sub("%([HI])", r"%-\1", each) for each in (form, bare))))
    return max(ways, key=lambda way: _share(texts, f"strftime(strptime(trim(x), '{form}'), '{way}') = trim(x)"))


def _share(texts: Found, test: str) -> float:
    return float(texts.ask(f"coalesce(sum(n) FILTER ({test}) / sum(n), 0)")[0])


def iso_format(texts: Found) -> str | None:
    """How most times of a column of ISO 8601 texts are written; none if that is how they are written anyway."""
    usual = texts.often(r"regexp_replace(trim(x), '\d', '9', 'g')")
    found = _ISO.fullmatch(usual) if usual is not None else None
    if found is None:
        return None
    parts = f".%{len(found['parts'])}f".replace("%6f", "%f") if found["parts"] else ""
    zone = _ZONES[found["zone"] and found["zone"].lstrip("+-")]
    form = f"%Y-%m-%d{found['gap']}%H:%M{':%S' if found['seconds'] else ''}{parts}{zone}"
    return None if form == PLAIN else form
