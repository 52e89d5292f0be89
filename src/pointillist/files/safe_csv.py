"""Safe CSV: spreadsheets take a cell that begins with = + - @ or a tab for a formula, and run it."""

import pyarrow as pa
import pyarrow.compute as pc

_FORMULA = r"^[=+\-@\t\r]"


def without_formulas(table: pa.Table) -> pa.Table:
    """The same table with an apostrophe before every text, and every column's name, that a spreadsheet would run."""
    columns = [_harmless(column) for column in table.columns]
    return pa.table(
        columns, names=[f"'{name}" if name[:1] in tuple("=+-@\t\r") else name for name in table.column_names]
    )


def _harmless(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts only: a number that begins with a minus is a number to a spreadsheet, too."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column
    texts = column.cast(pa.string())
    return pc.if_else(pc.match_substring_regex(texts, _FORMULA), pc.binary_join_element_wise("'", texts, ""), texts)
