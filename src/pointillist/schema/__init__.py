"""Schema: what is public about a table. Columns by kind, levels, constraints, selections."""

from pointillist.schema.schema import (
    MISSING_TEXTS,
    Boolean,
    Categorical,
    Column,
    Datetime,
    Ignore,
    Image,
    Integer,
    Numeric,
    Ordinal,
    Person,
    Real,
    Schema,
)

__all__ = [
    "MISSING_TEXTS",
    "Boolean",
    "Categorical",
    "Column",
    "Datetime",
    "Ignore",
    "Image",
    "Integer",
    "Numeric",
    "Ordinal",
    "Person",
    "Real",
    "Schema",
]
