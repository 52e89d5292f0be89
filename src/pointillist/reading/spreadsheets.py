"""Spreadsheets: the first sheet of an Excel or OpenDocument file, whose first line names the columns."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from pointillist.errors import DataError, UsageError
from pointillist.reading.base import SOURCES
from pointillist.reading.frames import Frame

_ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


@SOURCES.register("spreadsheet", place=25)
class Spreadsheet(Frame):
    """The first sheet of a file. It is held in memory."""

    endings = _ENDINGS
    untyped = True  # a cell has a type, a column has none: one other cell would change how all the rest are read

    def __init__(self, path: Path):
        super().__init__(_read(path))
        self.name, self.whole = str(path), True

    @classmethod
    def suits(cls, table: Any) -> bool:
        return isinstance(table, Path) and table.suffix.lower() in _ENDINGS and not table.is_dir()

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> "Spreadsheet":
        return cls(table)

    def types(self) -> dict[str, pa.DataType]:
        return {}


def _read(path: Path) -> pa.Table:
    try:
        import fastexcel
    except ImportError:
        raise UsageError(f"{path}: fastexcel is needed to read it: pip install 'pointillist[files]'.") from None
    try:
        sheet = fastexcel.read_excel(str(path)).load_sheet(0, dtypes="string")  # cell by cell
        return pa.Table.from_batches([pa.record_batch(sheet)])
    except Exception:  # its message may quote a value
        raise DataError(f"{path}: cannot be read. Is it whole, and of the kind that its name says?") from None
