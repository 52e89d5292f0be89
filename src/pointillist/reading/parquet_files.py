"""Parquet and Arrow files: one, or a folder of them, or a dataset that the caller made."""

import itertools
import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow.fs import LocalFileSystem

from pointillist.errors import DataError
from pointillist.reading.arrow_types import odd_family
from pointillist.reading.base import SOURCES, Report, Source, taken_over
from pointillist.reading.batches import rows_at_once, rows_within
from pointillist.schema import Schema

FILE_KINDS = {".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc"}
MOST_FILES = 200_000
"""In the folder of one table."""


@SOURCES.register("parquet", place=30)
class Files(Source):
    """Parquet or Arrow files: one, or a folder of them; or a dataset of the caller's, which may be a part of some."""

    endings = (".parquet", ".arrow", ".feather")

    def __init__(self, dataset: ds.Dataset, name: str, *, whole: bool = False):
        self.dataset, self.name, self.whole = dataset, name, whole
        self._sound = False

    @classmethod
    def suits(cls, table: Any) -> bool:
        if isinstance(table, Path):
            return table.is_dir() or table.suffix.lower() in FILE_KINDS
        return isinstance(table, ds.Dataset)

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> "Files":
        if isinstance(table, ds.Dataset):
            return cls(table, "the dataset")
        if not table.is_dir():
            return cls.at(table, FILE_KINDS[table.suffix.lower()])
        if any((table / "metadata").glob("*.metadata.json")):
            raise DataError(f"{table}: is an Iceberg table. Name it by its catalog: iceberg://catalog/namespace.table.")
        inside = _kinds_inside(table)
        if len(inside) != 1:
            raise DataError(
                f"{table}: a folder must hold Parquet files, or Arrow files, and not both; or a folder of images for each "
                "class."
            )
        return cls.at(table, inside.pop())

    @classmethod
    def at(cls, path: Path, kind: str) -> "Files":
        try:
            return cls(ds.dataset(path, format=kind), str(path), whole=True)
        except FileNotFoundError:
            raise DataError(f"{path}: no such file.") from None
        except (pa.ArrowException, OSError):
            raise DataError(f"{path}: cannot be read as {kind}. Is it whole?") from None

    def stamp(self) -> Hashable:
        """Size and time of every file; none if the dataset is no files."""
        files = getattr(self.dataset, "files", None)
        if not files:
            return None
        found = self.dataset.filesystem.get_file_info(files)
        return tuple((each.path, each.size, each.mtime_ns) for each in found)

    def column_names(self) -> list[str]:
        return list(self.dataset.schema.names)

    def types(self) -> dict[str, pa.DataType]:
        return {field.name: field.type for field in self.dataset.schema}

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        batches = self._parquet(columns, schema) if self._is_parquet() else self._scan(columns, schema)
        total, seen = max(1, self.dataset.count_rows()), 0
        for batch in batches:
            seen += batch.num_rows
            yield batch
            report(seen / total)

    def partitions(self, most: int) -> Sequence[Source]:
        """Row groups of Parquet files, as evenly as they can be dealt out in order."""
        if most <= 1 or not self._is_parquet():
            return (self,)
        groups = [(fragment, group.id) for fragment in self.dataset.get_fragments() for group in fragment.row_groups]
        if not groups:
            return (self,)
        cuts = [round(len(groups) * part / most) for part in range(most + 1)]
        return tuple(self._part(groups[start:end]) for start, end in itertools.pairwise(cuts) if start < end)

    def _part(self, groups: list[tuple[Any, int]]) -> "Files":
        """Some row groups; those of one file stand together."""
        files = [list(each) for _, each in itertools.groupby(groups, key=lambda group: group[0].path)]
        fragments = [each[0][0].subset(row_group_ids=[number for _, number in each]) for each in files]
        dataset = ds.FileSystemDataset(fragments, self.dataset.schema, self.dataset.format, self.dataset.filesystem)
        return Files(dataset, self.name, whole=self.whole)

    def address(self) -> dict[str, Any] | None:
        """Files, each with its row groups; none of a dataset that may be a selection, or is not on a disk."""
        if not self.whole or not isinstance(getattr(self.dataset, "filesystem", None), LocalFileSystem):
            return None
        kind = "parquet" if self._is_parquet() else "ipc"
        files = [
            [fragment.path, [group.id for group in fragment.row_groups] if kind == "parquet" else []]
            for fragment in self.dataset.get_fragments()
        ]
        return {"source": "parquet", "name": self.name, "kind": kind, "files": files}

    @classmethod
    def from_address(cls, facts: Mapping[str, Any]) -> Self:
        form = ds.ParquetFileFormat() if facts["kind"] == "parquet" else ds.IpcFileFormat()
        fragments = []
        for path, groups in facts["files"]:
            fragment = form.make_fragment(path, filesystem=LocalFileSystem())
            fragments.append(fragment.subset(row_group_ids=groups) if facts["kind"] == "parquet" else fragment)
        dataset = ds.FileSystemDataset(fragments, fragments[0].physical_schema, form, LocalFileSystem())
        return cls(dataset, facts["name"], whole=True)

    def _is_parquet(self) -> bool:
        """Whether the files can be read one by one: not if the dataset is in memory, filtered or of another format."""
        try:
            return isinstance(getattr(self.dataset, "format", None), ds.ParquetFileFormat) and any(
                True for _ in self.dataset.get_fragments()
            )
        except ValueError:
            return False

    def _scan(self, columns: list[str], schema: Schema) -> Iterator[pa.RecordBatch]:
        yield from self.dataset.to_batches(
            columns=columns, batch_size=rows_at_once(schema), batch_readahead=2, fragment_readahead=1
        )

    def _parquet(self, columns: list[str], schema: Schema) -> Iterator[pa.RecordBatch]:
        """File by file, with a small buffer: a dataset's scanner would hold many row groups at a time.

        Texts stay in the dictionary that Parquet keeps them in: each distinct one is looked up once per batch.
        """
        texts = [name for name in columns if pa.types.is_dictionary(schema.column(name).csv_type)]
        for fragment in self.dataset.get_fragments():
            folders = ds.get_partition_keys(fragment.partition_expression)
            present = fragment.physical_schema.names
            wanted = [name for name in columns if name not in folders]
            absent = [name for name in wanted if name not in present]
            if absent:
                raise DataError(f"{fragment.path}: column {absent[0]!r} is not in this file of {self.name}.")
            kinds = fragment.physical_schema
            coded = [name for name in texts if name in present and odd_family(kinds.field(name).type) is None]
            with self.dataset.filesystem.open_input_file(fragment.path) as stream:
                file = pq.ParquetFile(stream, read_dictionary=coded, pre_buffer=False, buffer_size=1 << 20)
                groups = [group.id for group in fragment.row_groups]  # a dataset may have some of a file's
                parts = [file.metadata.row_group(number) for number in groups]
                sizes = [(part.num_rows, part.total_byte_size) for part in parts]
                for batch in file.iter_batches(rows_within(schema, sizes), row_groups=groups, columns=wanted):
                    part = batch
                    for name in set(columns) & set(folders):
                        part = part.append_column(name, pa.repeat(pa.scalar(folders[name]), batch.num_rows))
                    yield part

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        if not self._sound:  # DuckDB trusts the buffers that it is given: look at all of them first, once
            for batch in self.dataset.to_batches(batch_readahead=2, fragment_readahead=1):
                batch.validate(full=True)
            self._sound = True
        return taken_over(db, self.dataset, self.name).query("source", sql)


def _kinds_inside(path: Path) -> set[str]:
    """The kinds of tables in a folder and in those below it, up to a number of files that no table has."""
    found: set[str] = set()
    seen = 0
    for _, _, files in os.walk(path):
        seen += len(files)
        if seen > MOST_FILES:
            raise DataError(f"{path}: holds more than {MOST_FILES:,} files. Name the folder of the table itself.")
        found |= {FILE_KINDS.get(os.path.splitext(name)[1], "") for name in files}
    return found - {""}
