"""Trial: one table's walk from a CSV file that nobody prepared to synthetic rows, and what a person sees of it."""

import tempfile
import time
import warnings
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import pointillist as pt
from pointillist.curator.table_drafting import draft
from pointillist.reading.connection import connect
from pointillist.reading.opening import open_source
from pointillist.schema import Schema
from pointillist.schema.kinds import Bounded

from .measures import as_numbers, float_coded, measure

Row = dict[str, Any]


def write_csv(table: pa.Table, path: Path, *, comma: bool = False) -> Path:
    """A CSV file as people send it; `comma`: with semicolons and decimal commas, as half of Europe does."""
    with duckdb.connect() as db:
        db.register("source", table)
        columns = [
            f"replace({_quoted(field.name)}::VARCHAR, '.', ',') AS {_quoted(field.name)}"
            if comma and pa.types.is_floating(field.type)
            else _quoted(field.name)
            for field in table.schema
        ]
        delimiter = ";" if comma else ","
        db.execute(
            f"COPY (SELECT {', '.join(columns)} FROM source) TO '{path}' (HEADER, DELIMITER '{delimiter}', NULLSTR 'NA')"
        )
    return path


def drafted(path: Path) -> tuple[Schema, float, float]:
    """The draft of a file, and CPU seconds: of the draft, and of reading the file alone."""
    start = time.process_time()
    with connect() as db:
        open_source(path).numbered(db).aggregate("count(*)").fetchall()
    read = time.process_time() - start
    start = time.process_time()
    return draft(path, name="table"), time.process_time() - start, read


def signed(schema: Schema) -> Schema:
    """The draft as it is, with the owner's word for all of it."""
    answer = {} if schema.person is not None else {"one_row_per_person": True}
    return Schema.parse({**schema.model_dump(), "reviewed": True, **answer}, origin="the draft")


def bought(path: Path, epsilon: float) -> tuple[Schema, float, float]:
    """A draft by budget, as `drafted` gives one that is read off."""
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        schema = draft(path, name="table", epsilon=epsilon, ledger=Path(folder) / "ledger.sqlite")
    return schema, time.process_time() - start, 0.0


def judged(path: Path, synthetic: pa.Table, schema: Schema) -> dict[str, str]:
    """What the package's own judge says of each question."""
    verdict = pt.evaluate(path, synthetic, signed(schema)).verdict
    return {point.question: point.grade for point in verdict.points}


def try_table(
    source: Path, epsilon: float, *, draft_only: bool = False, buy: float | None = None, judge: bool = False
) -> Row:
    """Draft, or buy a draft, release, sample and measure one table."""
    table = pq.read_table(source)
    with tempfile.TemporaryDirectory() as folder:
        path = write_csv(table, Path(folder) / "table.csv")
        schema, seconds, read = drafted(path) if buy is None else bought(path, buy)
        other, stored = schema, schema
        if buy is None:
            other, *_ = drafted(write_csv(table, Path(folder) / "comma.csv", comma=True))
            stored = draft(source, name="table")
        found: Row = {
            "table": source.stem, "rows": table.num_rows, "columns": table.num_columns,
            "draft_seconds": seconds, "read_seconds": read, "same_schema": facts(schema) == facts(other),
            "floats_missed": floats_missed(table, (schema, stored)), "ignored": left_out(schema),
        }  # fmt: skip
        if draft_only:
            return found
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            release = pt.release(path, signed(schema), epsilon=epsilon, ledger=Path(folder) / "ledger.sqlite")
            synthetic = pt.fit(release).sample(table.num_rows, seed=0, frame="pyarrow")
            found["said"] = list(pt.plan(signed(schema), epsilon=epsilon).coarse_columns())
            found["verdict"] = judged(path, synthetic, schema) if judge else {}
        found["seconds"] = time.process_time() - start
    found["measures"] = [
        asdict(measure(name, schema.columns[name].kind, *pair(table, synthetic, schema, name)))
        for name in table.column_names
    ]
    return found


def pair(table: pa.Table, synthetic: pa.Table, schema: Schema, name: str) -> tuple[pa.Array, pa.Array | None]:
    """A real column and its synthetic one, of comparable types."""
    real, column = table[name].combine_chunks(), schema.columns[name]
    if pa.types.is_dictionary(real.type):
        real = real.dictionary_decode()
    if name not in synthetic.column_names:
        return real, None
    other = synthetic[name].combine_chunks()
    if as_numbers(real) is None and isinstance(column, Bounded):  # texts that the draft found to be numbers or dates
        return tuple(pa.array(column.from_arrow(each).astype(np.float64)) for each in (real, other))
    return real, other


def facts(schema: Schema) -> Mapping[str, Any]:
    """All that a schema says of its columns."""
    return {name: column.facts() for name, column in schema.columns.items()}


def floats_missed(table: pa.Table, schemas: tuple[Schema, ...]) -> list[str]:
    """Whole numbers stored as floats that a draft took for reals."""
    coded = [name for name in table.column_names if float_coded(table[name].combine_chunks())]
    return [name for name in coded if any(schema.columns[name].kind == "real" for schema in schemas)]


def left_out(schema: Schema) -> dict[str, str]:
    """Columns that the draft ignores, with the reason."""
    return {name: column.description for name, column in schema.columns.items() if not column.measured}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
