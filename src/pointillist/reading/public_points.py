"""Public points: rows that anybody may see, in the form that landmarks are taken from.

They are read by the same code as private rows, so that both mean the same. But they are public: whoever passes a table
here says so, and its rows are copied into the release.
"""

from pathlib import Path
from typing import Any

import numpy as np

from pointillist.errors import DataError
from pointillist.features import Records
from pointillist.reading.encoding import Encoder
from pointillist.reading.tables import open_schema, open_source
from pointillist.schema import Schema
from pointillist.schema.levels import levels_of


def public_points(table: Any, schema: Schema | str | Path) -> Records:
    """The rows of a public table: every column that the schema measures, and nothing else.

    `table` is anything that `pointillist.release` reads; `schema` is the private table's, and its rules hold here too.
    """
    facts = open_schema(schema)
    facts.require_table("public_points")
    source = open_source(table)
    source.require(list(facts.measured))
    levels = levels_of(facts)
    numeric = frozenset(each.name for each in levels if each.numeric)
    encoder = Encoder(levels, frozenset(facts.measured), numeric, source.name)
    parts = [encoder(batch) for batch in source.batches(encoder.columns, facts, lambda fraction: None)]
    rows = sum(part.rows for part in parts)
    if not rows:
        raise DataError(f"{source.name}: has no rows. Name a table with public rows.")
    codes = {name: np.concatenate([part.codes[name] for part in parts]) for name in encoder.code_names}
    units = {name: np.concatenate([part.units[name] for part in parts]) for name in encoder.unit_names}
    return Records(rows, codes, units)
