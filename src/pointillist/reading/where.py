"""Where: the part of a query's WHERE that a server may be told, so that it sends fewer rows.

The query itself is run here, over whatever the server sends. So the server need not be trusted to mean the same: it is
enough that it sends every row that the query would keep. Only conditions of which that is certain are passed on, and only
those that all rows of the result must meet: a column of whole numbers compared with whole numbers, and a column of texts
that equals plain texts. Each looks at one row alone, so leaving rows out on the server is as row-wise as doing it here.
"""

import re
from dataclasses import dataclass
from typing import Any

_SIGNS = {
    "COMPARE_EQUAL": "=",
    "COMPARE_GREATERTHAN": ">",
    "COMPARE_GREATERTHANOREQUALTO": ">=",
    "COMPARE_LESSTHAN": "<",
    "COMPARE_LESSTHANOREQUALTO": "<=",
}
_MIRRORED = {"=": "=", ">": "<", ">=": "<=", "<": ">", "<=": ">="}
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_MOST_VALUES = 1000


@dataclass(frozen=True)
class Condition:
    """A column is one of some values or, where the sign is not =, on one side of a value."""

    column: str
    """In lower case: SQL here tells no other apart."""
    sign: str
    values: tuple[int, ...] | tuple[str, ...]

    @property
    def kind(self) -> str:
        """What the column must hold for it."""
        return "text" if isinstance(self.values[0], str) else "integer"


def conditions(select: dict[str, Any]) -> tuple[Condition, ...]:
    """What every row of a query's result meets, by its syntax tree, where that is sure to mean the same elsewhere."""
    table = select.get("from_table") or {}
    if table.get("type") != "BASE_TABLE" or table.get("column_name_alias") or select["cte_map"]["map"]:
        return ()
    # WHERE may name what SELECT computes, too.
    computed = {str(each.get("alias", "")).lower() for each in select["select_list"]}
    found = [own for part in _all_of(select.get("where_clause")) for own in _condition(part)]
    return tuple(each for each in found if each.column not in computed)


def _all_of(part: Any) -> list[dict[str, Any]]:
    """The parts of a condition that must all be met."""
    if not isinstance(part, dict):
        return []
    if part.get("type") == "CONJUNCTION_AND":
        return [each for child in part["children"] for each in _all_of(child)]
    return [part]


def _condition(part: dict[str, Any]) -> list[Condition]:
    kind = part.get("type")
    if kind in _SIGNS:
        left, right, sign = part["left"], part["right"], _SIGNS[kind]
        return _compared(left, sign, [right]) or _compared(right, _MIRRORED[sign], [left])
    if kind == "COMPARE_BETWEEN":
        return _compared(part["input"], ">=", [part["lower"]]) + _compared(part["input"], "<=", [part["upper"]])
    if kind == "COMPARE_IN":
        column, *listed = part["children"]
        return _compared(column, "=", listed)
    return []


def _compared(column: dict[str, Any], sign: str, listed: list[dict[str, Any]]) -> list[Condition]:
    """A column and constants, if that is what they are."""
    if column.get("class") != "COLUMN_REF" or len(column["column_names"]) != 1 or not 0 < len(listed) <= _MOST_VALUES:
        return []
    name, values = column["column_names"][0].lower(), [_constant(each) for each in listed]
    whole = tuple(each for each in values if isinstance(each, int))
    plain = tuple(each for each in values if isinstance(each, str))
    if len(whole) == len(values):
        return [Condition(name, sign, whole)]
    # How texts are ordered differs between servers; that a text equals itself does not.
    return [Condition(name, sign, plain)] if len(plain) == len(values) and sign == "=" else []


def _constant(part: dict[str, Any]) -> int | str | None:
    """A whole number, or a text that every server writes in the same way; none if it is anything else."""
    if part.get("class") != "CONSTANT":
        return None
    literal, value = part.get("literal"), part.get("value")
    kind, text = "", None
    if isinstance(literal, dict):
        kind, text = str(literal.get("kind")), literal.get("text")
    elif isinstance(value, dict) and not value.get("is_null"):  # as DuckDB wrote it before
        kind, text = str(value.get("type", {}).get("id")), value.get("value")
    if kind in ("INTEGER", "BIGINT", "TINYINT", "SMALLINT") and _WHOLE.fullmatch(str(text)):
        return int(str(text))
    if kind in ("STRING", "VARCHAR") and isinstance(text, str) and text.isascii() and text.isprintable():
        return None if set(text) & set("'\\") else text
    return None
