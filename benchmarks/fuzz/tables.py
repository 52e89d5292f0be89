"""Tables: CSV, Parquet and Arrow files with odd values, odd types and damage."""

import csv
import gzip
import io
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from benchmarks.fuzz.kind import Attempt, Kind
from benchmarks.fuzz.mutation import NUMBERS, TEXTS, damaged
from benchmarks.fuzz.odd_columns import odd_columns
from benchmarks.fuzz.reading import TABLE, drafted, read
from pointillist.reading.databases import sql
from pointillist.reading.opening import csv as csv_source


def _row(rng: Random) -> dict[str, Any]:
    return {
        "sex": rng.choice(("female", "male", "", "NA")),
        "ward": rng.choice((1, 2, 7, None)),
        "grade": rng.choice(("low", "middle", "high")),
        "member": rng.choice((True, False, None)),
        "age": rng.randint(0, 110),
        "income": round(rng.lognormvariate(7, 1), 2),
        "seen": f"202{rng.randint(0, 5)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}",
        "at": f"1{rng.randint(0, 9)}/0{rng.randint(1, 9)}/2021 1{rng.randint(0, 9)}:30",
    }


def _rows(rng: Random, odd: float) -> list[dict[str, Any]]:
    rows = [_row(rng) for _ in range(rng.choice((0, 1, 2, 20, 60)))]
    for row in rows:
        for name in row:
            if rng.random() < odd:
                row[name] = rng.choice(TEXTS if rng.random() < 0.6 else NUMBERS)
    return rows


def _asked(table: Any, rng: Random) -> Attempt:
    """A draft, a pass over the rows, or a pass by person."""
    choice = rng.random()
    if choice < 0.15:
        return lambda: drafted(table)
    person = "sex" if choice > 0.85 else None
    return lambda: _read(table, person)


def _read(table: Any, person: str | None) -> None:
    if person is None:
        read(table, TABLE)
    else:
        columns = {name: column for name, column in TABLE.columns.items() if name != person}
        read(table, TABLE.model_copy(update={"columns": columns}), person)


def _csv(rng: Random, folder: Path) -> Attempt:
    delimiter = rng.choice(",,,;\t|")
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(_row(rng)), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(_rows(rng, rng.choice((0.0, 0.01, 0.2))))
    content = stream.getvalue().encode("utf-8", "surrogatepass")
    if rng.random() < 0.7:
        content = damaged(content, rng)
    if rng.random() < 0.15:
        zipped = damaged(gzip.compress(content, mtime=0), rng, 2)
        return _asked(_written(folder / "t.csv.gz", zipped), rng)
    path = _written(folder / rng.choice(("t.csv", "t.tsv", "t.txt")), content)
    if rng.random() < 0.05:
        return lambda: _read(sql("SELECT * FROM source", path), None)
    return _asked(csv_source(path, delimiter=delimiter), rng)


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@cache
def _odd() -> dict[str, pa.Array]:
    return odd_columns()


def _table(rng: Random) -> pa.Table:
    """Columns of the schema; some of another type than anybody expects."""
    rows = _rows(rng, 0.0) or [_row(rng)]
    found: dict[str, Any] = {name: pa.array([row[name] for row in rows]) for name in rows[0]}
    for name, column in found.items():
        if rng.random() < 0.12:
            odd = rng.choice(list(_odd().values()))
            found[name] = pa.concat_arrays([odd] * (len(rows) // 4 + 1)).slice(0, len(rows))
        elif rng.random() < 0.2 and pa.types.is_string(column.type):
            found[name] = column.dictionary_encode()
    return pa.table(found)


def _parquet(rng: Random, folder: Path) -> Attempt:
    stream = io.BytesIO()
    try:
        pq.write_table(
            _table(rng), stream,
            compression=rng.choice(("none", "snappy", "gzip", "zstd", "lz4")), use_dictionary=rng.random() < 0.7,
            version=rng.choice(("1.0", "2.6")), data_page_version=rng.choice(("1.0", "2.0")), row_group_size=16,
        )  # fmt: skip
    except (pa.ArrowException, OSError):  # the format has no such type
        stream = io.BytesIO(b"PAR1")
    return _asked(_written(folder / "t.parquet", _perhaps(stream.getvalue(), rng)), rng)


def _arrow(rng: Random, folder: Path) -> Attempt:
    stream, table = io.BytesIO(), _table(rng)
    try:
        if rng.random() < 0.3:
            feather.write_feather(table, stream, compression=rng.choice(("lz4", "zstd", "uncompressed")))
        else:
            with pa.ipc.new_file(stream, table.schema) as writer:
                writer.write_table(table, max_chunksize=16)
    except (pa.ArrowException, OSError):
        pass
    return _asked(_written(folder / rng.choice(("t.arrow", "t.feather")), _perhaps(stream.getvalue(), rng)), rng)


def _perhaps(content: bytes, rng: Random) -> bytes:
    return damaged(content, rng, 2) if rng.random() < 0.8 else content


KINDS = (Kind("csv", _csv, 3), Kind("parquet", _parquet, 3), Kind("arrow", _arrow, 3))
