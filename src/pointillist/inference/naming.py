"""Naming: how columns are written in formulas and queries.

A name may always stand in double quotes or in back-ticks. It needs neither where it cannot be taken for anything else: so a
column may be called `lambda` or `flc.grp`, but one called `and` or `my col` is quoted.
"""

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_MOST_SHOWN = 12
_SYNTAX = {
    "all", "and", "any", "array", "as", "between", "case", "cast", "collate", "distinct", "else", "end", "false", "for",
    "from", "glob", "ilike", "in", "interval", "is", "isnull", "like", "not", "notnull", "null", "or", "similar", "some",
    "then", "to", "true", "try_cast", "when",
}  # fmt: skip
"""Words that formulas are made of: they stand for columns only in quotes."""
_TOKEN = re.compile(
    r"""
    (?P<whole>[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | \$\$.*?\$\$ | --[^\n]* | /\*.*?\*/)
    | `(?P<ticked>(?:[^`]|``)*)`
    | (?P<run>[\w.]+)(?P<call>\s*\()?
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Sql:
    """A formula as the database reads it."""

    text: str
    places: tuple[int, ...]
    """For each sign of it, and for its end, where that stands in what the user wrote."""

    def place(self, position: int) -> int:
        """Where a position of the SQL stands in what the user wrote."""
        return self.places[min(max(position, 0), len(self.text))]


def as_sql(text: str, known: Sequence[str], plain: Callable[[str], bool]) -> Sql:
    """A formula with the names of columns in double quotes wherever `plain` names alone would not be understood."""
    names = {each.lower(): each for each in known}
    written, places, begun = "", [], 0
    for token in _TOKEN.finditer(text):
        name = token["ticked"].replace("``", "`") if token["ticked"] is not None else None
        if token["run"] and not token["call"] and not _number(token["run"]):
            run = token["run"].lower()
            if run in names and run not in _SYNTAX and not plain(token["run"]):
                name = token["run"]
        if name is not None:
            end = token.end("run") if token["run"] else token.end()
            written += text[begun : token.start()] + quoted(name)
            places += [*range(begun, token.start()), *[token.start()] * len(quoted(name))]
            begun = end
    return Sql(written + text[begun:], (*places, *range(begun, len(text) + 1)))


def quoted(name: str) -> str:
    """A column's name as it is written in a formula."""
    return '"' + name.replace('"', '""') + '"'


def unquoted(written: str) -> str:
    """A name without the quotes or back-ticks that it may stand in."""
    sign = written[:1]
    if len(written) > 1 and sign in ('"', "`") and written[-1] == sign:
        return written[1:-1].replace(sign * 2, sign)
    return written


def listed(names: Sequence[str]) -> str:
    """Names for a message: the first few of many."""
    more = f", ... ({len(names)})" if len(names) > _MOST_SHOWN else ""
    return ", ".join(names[:_MOST_SHOWN]) + more


def column_of(name: str, known: Sequence[str]) -> str | None:
    """The column that a name stands for; upper and lower case are the same unless both are there."""
    fits = [each for each in known if each == name] or [each for each in known if each.lower() == name.lower()]
    return fits[0] if fits else None


def meant(text: str, name: str, known: Sequence[str]) -> str:
    """A hint at the column that was probably meant by a name within a text, if there is one."""
    if name in known:  # in parts, each in quotes of its own
        return f"Write {quoted(name)}, with one pair of quotes. "
    bare = _TOKEN.sub(lambda token: token[0] if token["run"] else " ", text)
    for each in sorted(known, key=len, reverse=True):
        needs = each.lower() in _SYNTAX or not re.fullmatch(r"[\w.]+", each)
        if needs and re.search(rf"(?<!\w){re.escape(each)}(?!\w)", bare, re.IGNORECASE):
            return f"Did you mean {quoted(each)}? Such a name goes in double quotes or back-ticks. "
    near = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {near[0]!r}? " if near else ""


def _number(run: str) -> bool:
    return run[0] in ".0123456789" and re.fullmatch(r"(\d+\.?\d*|\.\d+)(e\d*)?", run, re.IGNORECASE) is not None
