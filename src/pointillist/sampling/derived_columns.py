"""Derived columns: what follows from the sampled columns of a row, by the schema's formulas."""

import pyarrow as pa

from pointillist.schema import Derived, Schema


def with_derived(table: pa.Table, schema: Schema) -> pa.Table:
    """A sampled table with the columns that follow from others, in the schema's order."""
    derived = {name: column for name, column in schema.columns.items() if isinstance(column, Derived)}
    if not derived:
        return table
    made = {name: column.of_table(table) for name, column in derived.items()}
    kept = [name for name in schema.columns if name in made or name in table.column_names]
    return pa.table({name: made[name] if name in made else table[name] for name in kept})
