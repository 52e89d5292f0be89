"""Condition values: whether the values that a condition names are there at all.

`sex = 'X'` where there is no X is a slip, not a question whose answer is 0.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pointillist.errors import UsageError
from pointillist.inference.sql_expression import Expression, listed, parts_of

_EQUAL = frozenset({"COMPARE_EQUAL", "COMPARE_NOTEQUAL", "COMPARE_DISTINCT_FROM", "COMPARE_NOT_DISTINCT_FROM"})
_AMONG = frozenset({"COMPARE_IN", "COMPARE_NOT_IN"})


def require_known(expression: Expression, columns: Mapping[str, Any]) -> None:
    """Refuse a text or number that is compared with a column of listed values and is none of them."""
    names = {name.lower(): name for name in columns} | {name: name for name in columns}
    for column, literal in _compared(expression):
        name = names.get(column) or names.get(column.lower())
        values = () if name is None or columns[name].numeric else tuple(columns[name].every_value(0))
        if not values or any(isinstance(each, bool) for each in values):
            continue
        if not any(_same(literal, each) for each in values):
            raise UsageError(
                f"{literal!r} is not a value of column {name!r}, so no row can have it. Its values: "
                f"{listed([repr(each) if isinstance(each, str) else str(each) for each in values])}."
            )


def _compared(expression: Expression) -> Iterator[tuple[str, str]]:
    """Every column that is compared with a constant, and the constant."""
    for each in parts_of(expression):
        if each["type"] in _EQUAL and each["class"] == "COMPARISON":
            sides = [each["left"], each["right"]]
        elif each["type"] in _AMONG:
            sides = each["children"]
        else:
            continue
        columns = [side["column_names"][-1] for side in sides if side["class"] == "COLUMN_REF"]
        constants = [side["literal"] for side in sides if side["class"] == "CONSTANT" and "literal" in side]
        if len(columns) == 1:
            yield from ((columns[0], str(one["text"])) for one in constants if one.get("text") is not None)


def _same(literal: str, value: Any) -> bool:
    if literal == str(value):
        return True
    try:
        return isinstance(value, int) and float(literal) == value
    except ValueError:
        return False
