"""Functions that formulas and queries may call: DuckDB has them all, and each makes one value of one row's values."""

import duckdb

from pointillist.reading.allowed_sql import ALLOWED
from pointillist.reading.rowwise import built_in

AGGREGATES = {"aggregate", "table", "table_macro", "pragma"}


def test_are_duckdbs_own_and_none_of_them_adds_up_rows() -> None:
    known = built_in()
    kinds = {name: known[name][0] for name in ALLOWED if name in known}
    assert len(kinds) > 0.9 * len(ALLOWED)  # some are names of operators, or of syntax
    assert not {name for name, found in kinds.items() if found & AGGREGATES}


def test_none_waits_reads_files_or_depends_on_chance() -> None:
    with duckdb.connect() as db:
        rows = db.execute(
            "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE stability = 'VOLATILE'"
        ).fetchall()
    assert not ALLOWED & {name for (name,) in rows}
    assert not ALLOWED & {"read_text", "read_blob", "getenv", "sleep", "repeat", "range", "random", "setseed"}
