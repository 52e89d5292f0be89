"""Row-wise queries: SQL in which every row of the result is made from one private row, and from each row one at most.

The promise is for one row of the result. It holds for the private rows too if no row can change, or multiply, what is made
from others. So a query is parsed, and everything in it must be known to work row by row: one SELECT that chooses columns or
computes them, WHERE, ORDER BY; from one table, or from a query of the same kind in its place. All else is refused by name.
"""

import json
from functools import cache
from typing import Any, NoReturn

import duckdb

from pointillist.errors import UsageError
from pointillist.reading.allowed_sql import ALLOWED
from pointillist.reading.where import conditions

_EXPRESSIONS = {
    "BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "FUNCTION", "LAMBDA",
    "LAMBDA_REF", "OPERATOR", "POSITIONAL_REFERENCE", "STAR", "TYPE",
}  # fmt: skip
_TABLES = {"BASE_TABLE", "EMPTY", "EXPRESSION_LIST", "SUBQUERY"}
_POSITIONS = {"rowid", "file_row_number", "file_index"}
"""Columns that DuckDB adds: where a row stands depends on the rows before it."""
_PARTS = """
->> array_extract json_extract json_extract_string list_contains list_element list_extract list_filter list_transform
list_value row struct_extract struct_pack
"""
_TEXTS = "format lpad md5 octet_length overlay regexp_replace replace rpad sha256 string_split"
_CLOCK = "current_date get_current_time get_current_timestamp now timezone today transaction_timestamp"
_CALLED = ALLOWED | frozenset(f"{_PARTS} {_TEXTS} {_CLOCK}".split())
"""What a query may call: what formulas may, parts of a value, longer texts and the clock.

What DuckDB lists as a constant function of its arguments is no measure: json_serialize_plan is, and works out aggregates.
"""
_WORDS = {
    "COLUMN_DATA": "a table of values",
    "CTE_NODE": "WITH of this kind",
    "DISTINCT_MODIFIER": "DISTINCT",
    "JOIN": "a join (also one written with a comma)",
    "LIMIT_MODIFIER": "LIMIT or OFFSET",
    "LIMIT_PERCENT_MODIFIER": "LIMIT",
    "PARAMETER": "a parameter",
    "PIVOT": "PIVOT or UNPIVOT",
    "RECURSIVE_CTE_NODE": "WITH RECURSIVE",
    "SET_OPERATION_NODE": "UNION, EXCEPT or INTERSECT",
    "SHOW_REF": "DESCRIBE or SUMMARIZE",
    "SUBQUERY": "a subquery in an expression",
    "TABLE_FUNCTION": "a table function, such as range, read_csv or unnest",
    "WINDOW": "a window function",
}
_STAR_FACTS = ("exclude_list", "qualified_exclude_list", "replace_list", "rename_list", "columns", "expr")
"""What makes a star more than all columns."""
_CLAUSES = {
    "group_expressions": "GROUP BY",
    "group_sets": "GROUP BY",
    "having": "HAVING",
    "qualify": "QUALIFY",
    "sample": "SAMPLE",
}


class RowWise:
    """A query that works row by row; anything else is refused."""

    def __init__(self, sql: str):
        """Raises duckdb.Error where the text is no SQL."""
        statements = duckdb.extract_statements(sql)
        if not statements:
            raise duckdb.ParserException("there is no statement")
        if len(statements) > 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise UsageError(
                "the query must be one SELECT and nothing else: it reads private rows, and changes nothing."
            )
        self.sql: str = statements[0].query
        self._seen: set[str] = set()
        self._tables: dict[str, tuple[str, str, str]] = {}
        self._named: set[str] = set()
        self._single: set[str] = set()
        self._all = self._star = False
        try:
            parsed = _parsed(self.sql)
            for statement in parsed:
                self._walk(statement, frozenset())
        except RecursionError:
            raise UsageError("the query is nested too deeply to be checked. Write it in a simpler way.") from None
        self.conditions = conditions(parsed[0]["node"])
        """What all rows of its result meet, as far as a server may be told."""

    @property
    def table(self) -> tuple[str, str, str] | None:
        """Catalog, schema and name of the table that it reads; none if it reads none."""
        return next(iter(self._tables.values()), None)

    def needs(self, present: list[str], asked: list[str] | None = None) -> list[str]:
        """The columns of its table that must be read for all columns of its result, or for those that are asked for."""
        wanted = self._named | {name.lower() for name in asked or ()}
        odd = self._single - {name.lower() for name in present}  # an alias, perhaps, or the row as a whole
        every = self._all or odd or (self._star and asked is None)
        return [name for name in present if every or name.lower() in wanted] or present[:1]

    def _walk(self, part: Any, known: frozenset[str]) -> None:
        """Check a part of the syntax tree. What it is shows in the fields that all of its kind have."""
        if isinstance(part, list):
            for each in part:
                self._walk(each, known)
        if not isinstance(part, dict):
            return
        if "cte_map" in part:
            known = self._select(part, known)
        elif "class" in part:
            self._expression(part)
        elif "sample" in part:
            self._table(part, known)
        elif str(part.get("type", "")).endswith("_MODIFIER") and part["type"] != "ORDER_MODIFIER":
            _refuse(part["type"])
        for name, each in part.items():
            if name != "cte_map":
                self._walk(each, known)

    def _select(self, part: dict[str, Any], known: frozenset[str]) -> frozenset[str]:
        """A query; the names that it gives to other queries are known inside it."""
        if part["type"] != "SELECT_NODE":
            _refuse(part["type"])
        for clause, word in _CLAUSES.items():
            if part.get(clause):
                _refuse(word)
        if part.get("aggregate_handling") != "STANDARD_HANDLING":
            _refuse("GROUP BY")
        for named in part["cte_map"]["map"]:
            self._walk(named["value"], known)
            known = known | {named["key"].lower()}
        return known

    def _table(self, part: dict[str, Any], known: frozenset[str]) -> None:
        if part["type"] not in _TABLES:
            _refuse(part["type"])
        if part["sample"] is not None:
            _refuse("TABLESAMPLE")
        if part["type"] != "BASE_TABLE":
            return
        if part.get("at_clause") is not None:
            _refuse("AT")
        names = part["catalog_name"], part["schema_name"], part["table_name"]
        if any(names[:2]) or names[2].lower() not in known:
            self._tables[".".join(names).lower()] = names
        if len(self._tables) > 1:
            _refuse("more than one table")

    def _expression(self, part: dict[str, Any]) -> None:
        if part["class"] not in _EXPRESSIONS:
            _refuse(part["class"])
        if part["class"] == "COLUMN_REF" and part["column_names"][-1].lower() in _POSITIONS:
            _refuse(f"the row's position ({part['column_names'][-1]})")
        if part["class"] == "COLUMN_REF":
            names = [name.lower() for name in part["column_names"]]
            self._named.update(names)
            self._single.update(names if len(names) == 1 else ())
        if part["class"] == "STAR":
            self._star = True
            self._all |= any(part.get(fact) for fact in _STAR_FACTS)
        if part["class"] == "FUNCTION":
            self._call(part["function_name"])
            if part.get("filter") or part.get("distinct") or (part.get("order_bys") or {}).get("orders"):
                _refuse("an aggregate")

    def _call(self, name: str) -> None:
        name = name.lower()
        if name in self._seen:
            return
        self._seen.add(name)
        kinds, macros = built_in().get(name, (set(), []))
        if "aggregate" in kinds:
            _refuse(f"an aggregate ({name})")
        if name not in _CALLED:
            _refuse(f"the function {name}, which is not known to make one value from one row")
        for definition in macros:
            for statement in _parsed(f"SELECT {definition}"):
                self._walk(statement, frozenset())


def _refuse(what: str) -> NoReturn:
    raise UsageError(
        f"the query may not use {_WORDS.get(what, what)}. Each row of its result must be made from one private row, and no "
        "private row may change or multiply what is made from others. Choose rows and columns one by one (SELECT … FROM … "
        "WHERE …). Put what needs more into a table of its own first, with a person column where a person may have several "
        "rows in it, and release that."
    )


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    """DuckDB without data: it reads SQL, and runs none of it."""
    return duckdb.connect(config={"threads": 1, "enable_external_access": "false"})


@cache
def built_in() -> dict[str, tuple[set[str], list[str]]]:
    """DuckDB's own functions by their names in lower case: their kinds, and what macros stand for."""
    rows = (
        _parser()
        .execute("SELECT lower(function_name), function_type, macro_definition FROM duckdb_functions() WHERE internal")
        .fetchall()
    )
    found: dict[str, tuple[set[str], list[str]]] = {}
    for name, kind, macro in rows:
        kinds, macros = found.setdefault(name, (set(), []))
        kinds.add(kind)
        macros += [macro] if kind == "macro" else []
    return found


def _parsed(sql: str) -> list[dict[str, Any]]:
    """The syntax tree of SELECT statements."""
    (text,) = _parser().cursor().execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchone() or ("{}",)
    found = json.loads(text)
    if found.get("error", True):
        raise UsageError("DuckDB does not say how it reads the query, so it cannot be checked. Write it as one SELECT.")
    statements: list[dict[str, Any]] = found["statements"]
    return statements
