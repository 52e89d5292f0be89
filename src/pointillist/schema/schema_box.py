"""Schema box: what a notebook shows of a schema. A draft's facts were read from private rows: they are named, not shown."""

from typing import TYPE_CHECKING, Any

from pointillist.pages.notebook import Box, Rows

if TYPE_CHECKING:
    from pointillist.schema.schema import Schema

_HIDDEN = "read from the data"


def schema_box(schema: "Schema") -> Box:
    """The columns with what they may hold, and whom the promise is for."""
    hidden = not schema.reviewed
    rows = (
        "" if schema.rows is None or (hidden and "rows" in schema.read_from_data) else f", about {schema.rows:,} rows"
    )
    columns = [(name, column.kind, _values(column, hidden), _origin(column)) for name, column in schema.columns.items()]
    constraints = (
        [] if hidden and "constraints" in schema.read_from_data else [str(each) for each in schema.constraints]
    )
    return Box(
        f"Schema of {schema.name}",
        f"{len(schema.measured)} of {len(schema.columns)} columns measured{rows}",
        tables=(Rows(("column", "kind", "values", "known from"), columns),),
        lines=[_unit(schema)],
        notes=[
            *(f"Constraint: {each}." for each in constraints),
            *([] if schema.purchase is None else [schema.purchase.sentence()]),
            *([_DRAFT] if hidden else []),
        ],
    )


_DRAFT = (
    "A draft. What it says of columns was read from private rows, and is not shown here because notebooks keep what they "
    "show: print(schema.to_toml()) shows it. Review it, then set reviewed = true."
)


def _values(column: Any, hidden: bool) -> str:
    if hidden and column.read_from_data:
        return f"{_HIDDEN}: {', '.join(column.read_from_data)}"
    text = column.brief() if column.measured else column.description or "left out"
    return str(text) + (" or missing" if column.measured and column.missing else "")


def _origin(column: Any) -> str:
    return "the data" if column.read_from_data else "noise that was paid for" if column.bought else "the owner"


def _unit(schema: "Schema") -> str:
    if schema.several_rows:
        return f"Privacy unit: to be settled. Values of {', '.join(schema.several_rows)} repeat."
    if schema.person is None:
        return f"Privacy unit: one {'row' if schema.image is None else 'image, with its label'}."
    return f"Privacy unit: one person, named by {schema.person.column}, at most {schema.person.max_rows} rows each."
