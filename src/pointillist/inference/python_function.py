"""Python functions: what a caller asks about as a function of a frame, or as a formula, made one value for each row."""

from collections.abc import Callable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.inference.sql_expression import Expression, Function, as_numbers

Floats = NDArray[np.float64]
ToFrame = Callable[[pa.Table], Any]
"""Rows as the kind of frame that the caller's functions take."""


Written = str | Callable[[Any], Any] | Function
"""A formula as text, a function of a frame that returns a value for each row, or what was made of either."""


def number(written: Written, known: Sequence[str], frame: ToFrame) -> Function:
    """A number for each row; NaN where there is none."""
    if isinstance(written, Function):
        return written
    return Expression.parse(written, known).number if isinstance(written, str) else _python(written, frame)


def event(written: Written, known: Sequence[str], frame: ToFrame) -> Function:
    """1 for every row that meets a condition, 0 for the others."""
    if isinstance(written, Function):
        return written
    if isinstance(written, str):
        return Expression.parse(written, known).event
    found = _python(written, frame)

    def call(table: pa.Table) -> Floats:
        values = np.nan_to_num(found(table), nan=0.0)
        if not np.isin(values, (0.0, 1.0)).all():
            raise UsageError(f"{found.name}: an event is true or false for every row.")
        return values

    return Function(found.name, call, None)


def _python(function: Callable[[Any], Any], frame: ToFrame) -> Function:
    if not callable(function):
        raise UsageError(f"expected a formula or a function of a frame, not {type(function).__name__}.")
    name = getattr(function, "__name__", "function")
    name = "a function" if name == "<lambda>" else name

    def call(table: pa.Table) -> Floats:
        return _per_row(function(frame(table)), table.num_rows, name)

    return Function(name, call, None)


def _per_row(found: Any, rows: int, name: str) -> Floats:
    """What a function returned, as floats."""
    try:
        if isinstance(found, pa.ChunkedArray | pa.Array):
            array = found
        elif isinstance(found, np.ndarray | list | tuple):
            array = pa.array(np.asarray(found), from_pandas=True)
        else:
            array = nw.from_native(found, series_only=True).to_arrow()
    except (TypeError, pa.ArrowException):
        raise UsageError(f"{name}: must return one value for each row, not {type(found).__name__}.") from None
    if len(array) != rows:
        raise UsageError(f"{name}: returned {len(array)} values for {rows} rows. It must return one for each.")
    return as_numbers(array, name)
