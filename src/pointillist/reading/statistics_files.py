"""Statistics files: tables of Stata, SAS and SPSS, with the labels that their code book gives to values."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from pointillist.errors import DataError, UsageError
from pointillist.reading.base import SOURCES
from pointillist.reading.frames import Frame

_READERS = {
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
}
_STANDING_IN = {int(digit * length) for digit in "789" for length in range(1, 7)}
"""Numbers that stand for no number in many code books: 9, 99, 999, …"""


@SOURCES.register("statistics", place=24)
class StatisticsFile(Frame):
    """A file of Stata, SAS or SPSS. It is held in memory."""

    endings = tuple(_READERS)

    def __init__(self, path: Path):
        super().__init__(_read(path))
        self.name, self.whole = str(path), True

    @classmethod
    def suits(cls, table: Any) -> bool:
        return isinstance(table, Path) and table.suffix.lower() in _READERS and not table.is_dir()

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> "StatisticsFile":
        return cls(table)


def _read(path: Path) -> pa.Table:
    try:
        import pyreadstat
    except ImportError:
        raise UsageError(f"{path}: pyreadstat is needed to read it: pip install 'pointillist[files]'.") from None
    try:
        values, facts = getattr(pyreadstat, _READERS[path.suffix.lower()])(str(path), output_format="dict")
        columns = {name: _column(each, facts.variable_value_labels.get(name, {})) for name, each in values.items()}
        return pa.table(columns)
    except Exception:  # its message, or Arrow's, may quote a value
        raise DataError(f"{path}: cannot be read. Is it whole, and of the kind that its name says?") from None


def _column(values: list[Any], labels: Mapping[Any, str]) -> pa.Array:
    """A column by what the code book says: labels in the place of codes, unless only stand-ins have one."""
    if not labelled(labels):
        return pa.array(values)
    return pa.array([None if each is None else labels.get(each, _plain(each)) for each in values], pa.string())


def labelled(labels: Mapping[Any, str]) -> bool:
    """Whether labels name the values of a column, and not only what stands for a missing one: -9 for "refused"."""
    numbers = [each for each in labels if isinstance(each, int | float)]
    standing_in = [each for each in numbers if each < 0 or (each in _STANDING_IN and len(labels) < 7)]
    return len(labels) - len(standing_in) >= 2


def _plain(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
