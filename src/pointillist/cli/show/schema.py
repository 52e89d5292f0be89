"""Show a schema: what is public about a table, and whom the promise is for."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from pointillist.cli.console import err, out, say
from pointillist.cli.show.table import Table
from pointillist.privacy.guarantee import short
from pointillist.schema import AnyColumn, Schema
from pointillist.schema.purchase import Purchase

if TYPE_CHECKING:
    from pointillist.curator.reviewing import Finding

_MOST_DRAFTED = 20
"""Columns of a draft that are shown: a screenful."""


def show_schema(schema: Schema) -> None:
    """What is public: the columns and their facts, and whom the promise is for."""
    _show_columns(schema, list(schema.columns), read=bool(schema.vouched or schema.paid_for))
    _show_unit(schema)


def show_draft(schema: Schema, file: Path) -> None:
    """A screenful about a new draft: its first columns, and which it leaves out, and why."""
    _show_columns(schema, list(schema.columns)[:_MOST_DRAFTED], read=False)
    if len(schema.columns) > _MOST_DRAFTED:
        say(f"… and {len(schema.columns) - _MOST_DRAFTED:,} more columns: see {file}.")
    reasons: dict[str, list[str]] = {}
    for name, column in schema.columns.items():
        if not column.measured:
            reasons.setdefault(column.description or "ignored", []).append(name)
    for reason, names in reasons.items():
        more = f", … ({len(names)} columns)" if len(names) > 4 else ""
        out.print(f"Left out: {', '.join(names[:4])}{more}: {reason}.")
    _show_unit(schema)
    if schema.purchase is not None:
        _show_purchase(schema, schema.purchase, file)


def _show_purchase(schema: Schema, paid: Purchase, file: Path) -> None:
    """What a draft by budget cost, and what it could not see."""
    say(
        f"Bought for ε = {paid.epsilon:g}, δ = {short(paid.delta)}, booked in the ledger under {schema.name!r}: nobody "
        "has to vouch for these facts, and later releases come on top."
    )
    say(
        f"Not seen: what fewer than about {paid.seen_from:,} rows share (such categories count as other, thin ends of "
        "ranges are moved to the bounds), whether a column has gaps, formulas and orders between columns, and who has "
        "several rows. Taken as public: the names of the columns, and the types in which they are stored."
    )
    say(f"Written to {file}. It can be used as it is; facts that you know better may be put in their place.")


def _show_columns(schema: Schema, names: Sequence[str], *, read: bool) -> None:
    """A line for each column; what does not fit in is cut, but names."""
    table = Table(f"Schema: {schema.name}")
    table.add_column("column", overflow="fold")
    table.add_column("kind")
    table.add_column("outside")
    for heading in ("values", *(["read from the data", *(["bought"] if schema.paid_for else [])] if read else [])):
        table.add_column(heading, no_wrap=True)
    for name in names:
        column = schema.columns[name]
        marks = (column.read_from_data, *([column.bought] if schema.paid_for else [])) if read else ()
        facts = [", ".join(each) or "–" for each in marks]
        table.add_row(name, column.kind, getattr(column, "out_of_domain", "–"), _values(column), *facts)
    out.print(table)


def _show_unit(schema: Schema) -> None:
    for constraint in schema.constraints:
        out.print(Text(f"Constraint: {constraint}."))
    if schema.several_rows:
        names = ", ".join(f"{name} (about {rows:,} rows each)" for name, rows in schema.several_rows.items())
        out.print(
            f"Privacy unit: to be settled. Values of {names} repeat: may a person have several rows?", style="yellow"
        )
    elif schema.person is None:
        out.print(f"Privacy unit: one {'row' if schema.image is None else 'image, with its label'}.")
    else:
        out.print(
            f"Privacy unit: one person, named by {schema.person.column}, at most {schema.person.max_rows} rows each."
        )
    if not schema.reviewed:
        out.print("A draft: review it and set reviewed = true before a release.", style="yellow")


def show_review(schema: Schema, findings: Sequence["Finding"]) -> None:
    """Facts that were read from the data, the most revealing first: a screenful."""
    table = Table(f"To review: {schema.name}")
    for heading in ("column", "fact", "rows"):
        table.add_column(heading)
    table.add_column("what it says", overflow="fold")
    for each in findings[:_MOST_DRAFTED]:
        rows = "" if each.rows is None else f"{each.rows:,}"
        table.add_row(
            each.column or "the table", each.fact, rows, each.text, style="yellow" if each.revealing else None
        )
    out.print(table)
    if len(findings) > _MOST_DRAFTED:
        say(f"… and {len(findings) - _MOST_DRAFTED:,} facts that say less.")
    if schema.paid_for:
        say(f"Paid for, and nothing to vouch for: {schema.paid_for_words()}.")
    few = sum(each.revealing for each in findings)
    if few:
        say(f"{few} facts are shared by few rows: --safer takes what is suggested, or change them by hand.")
    _show_unit(schema)


def show_last_look(schema: Schema) -> None:
    """Facts that were read from the data, with their values: for the owner, before they are published."""
    err.print("These facts were read from the data, and the release will publish them:", style="yellow")
    for name, facts in schema.vouched.items():
        values = {fact: schema.fact(name, fact) for fact in facts}
        shown = "; ".join(f"{fact} = {_listed(value)}" for fact, value in values.items() if value not in (None, ()))
        err.print(f"  {name or 'the table'}: {shown}", soft_wrap=True)


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _values(column: AnyColumn) -> str:
    return column.brief() + (" or missing" if column.measured and column.missing else "")
