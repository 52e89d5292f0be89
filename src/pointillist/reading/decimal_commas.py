"""Decimal commas: numbers such as 1,5 and 1.234,50 in files of text. Each value is looked at by itself.

A comma is never anything else in a column of numbers, so a value without one is read as it is. `grouped` says that dots are
between thousands even where there is no comma: 1.234 is then a thousand and more.
"""

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from pointillist.schema import MISSING_TEXTS

_COMMA = r"^\s*[+-]?([0-9]{1,3}([. ][0-9]{3})+|[0-9]*),[0-9]*([eE][+-]?[0-9]+)?\s*$"
_GROUPED = r"^\s*[+-]?[0-9]{1,3}(\.[0-9]{3})+\s*$"


def read(batch: pa.RecordBatch, columns: list[str], *, grouped: bool) -> pa.RecordBatch:
    """The batch with decimal points in some columns of texts."""
    for name in columns:
        place = batch.schema.get_field_index(name)
        texts = batch.column(place)
        found = pc.match_substring_regex(texts, f"{_COMMA}|{_GROUPED}" if grouped else _COMMA)
        plain = pc.replace_substring(pc.replace_substring_regex(texts, "[. ]", ""), ",", ".")
        batch = batch.set_column(place, name, pc.if_else(found, plain, texts))
    return batch


def one_in_sql(text: str, *, grouped: bool) -> str:
    """SQL for a text with a decimal point, if it is a number with a comma: it is looked at by itself."""
    comma = f"{_COMMA}|{_GROUPED}" if grouped else _COMMA
    plain = f"replace(regexp_replace({text}, '[. ]', '', 'g'), ',', '.')"
    return f"CASE WHEN regexp_matches({text}, '{comma}') THEN {plain} ELSE {text} END"


def in_sql(rows: duckdb.DuckDBPyRelation, columns: list[str], *, grouped: bool) -> str:
    """A projection that has decimal points in those columns of texts that hold numbers with commas, and nothing else."""
    return ", ".join(
        f"{one_in_sql(x, grouped=grouped)} AS {x}" if number else x
        for x, number in zip(columns, with_commas(rows, columns, grouped=grouped), strict=True)
    )


def with_commas(rows: duckdb.DuckDBPyRelation, columns: list[str], *, grouped: bool) -> list[bool]:
    """Which columns of texts hold numbers with commas, and nothing else."""
    number = r"^\s*[+-]?[0-9]*\.?[0-9]*([eE][+-]?[0-9]+)?\s*$"
    comma = f"{_COMMA}|{_GROUPED}" if grouped else _COMMA
    missing = ", ".join(f"'{text}'" for text in MISSING_TEXTS)
    tests = [
        f"coalesce(bool_or(regexp_matches({x}, '{comma}')) AND bool_and({x} IS NULL OR trim({x}) IN ({missing}) OR "
        f"regexp_matches({x}, '{comma}|{number}')), false)"
        for x in columns
    ]
    return [bool(each) for each in rows.aggregate(", ".join(tests)).fetchall()[0]]
