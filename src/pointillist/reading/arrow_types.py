"""Arrow types: which of them hold one plain value a row, and what to call the others."""

from collections.abc import Callable

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

_FAMILIES: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_map, "maps"),
    (pa.types.is_struct, "structs"),
    (pa.types.is_union, "unions"),
    (pa.types.is_nested, "lists"),
    (lambda kind: "binary" in str(kind), "bytes"),
    (lambda kind: "interval" in str(kind), "intervals"),
)


def odd_family(kind: pa.DataType) -> str | None:
    """What a column holds that is not one plain value a row, such as "lists"; none if it is plain."""
    while True:  # what is inside dictionaries, runs and extensions counts
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kind = kind.value_type
        else:
            return next((name for test, name in _FAMILIES if test(kind)), None)


def without_runs(array: pa.Array) -> pa.Array:
    """The same values one by one, if they are stored as runs."""
    return pc.run_end_decode(array) if pa.types.is_run_end_encoded(array.type) else array


def unknown_to_duckdb(kinds: pa.Schema) -> list[str]:
    """The columns that DuckDB cannot take over."""
    return [field.name for field in kinds if not _known(field)]


def _known(field: pa.Field) -> bool:
    with duckdb.connect(":memory:") as db:
        try:
            db.from_arrow(pa.schema([field]).empty_table()).fetchall()
        except duckdb.Error:
            return False
    return True
