"""Public points: rows that anybody may see, in the form that landmarks are taken from.

They are read by the same code as private rows, so that both mean the same. But they are public: whoever passes a table
here says so, and its rows are copied into the release.
"""

from pathlib import Path
from typing import Any

from pointillist.errors import DataError
from pointillist.features import Records
from pointillist.reading.opening import open_schema, open_source
from pointillist.reading.rows import read_records
from pointillist.schema import Schema


def public_points(table: Any, schema: Schema | str | Path) -> Records:
    """The rows of a public table: every column that the schema measures, and nothing else.

    `table` is anything that `pointillist.release` reads; `schema` is the private table's, and its rules hold here too.
    """
    facts = open_schema(schema)
    facts.require_table("public_points")
    source = open_source(table)
    records = read_records(source, facts)
    if not records.rows:
        raise DataError(f"{source.name}: has no rows. Name a table with public rows.")
    return records
