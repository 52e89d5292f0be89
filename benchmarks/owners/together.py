"""Together: a release by three owners, each with a key and a ledger, as files that go to and fro."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

import pointillist as pt


def lenient(schema: pt.Schema) -> pt.Schema:
    """The schema without columns that stop at values outside: a plan of several owners may not have them."""
    columns = {
        name: column.model_copy(update={"out_of_domain": "other" if hasattr(column, "other_label") else "clip"})
        if getattr(column, "out_of_domain", None) == "error"
        else column
        for name, column in schema.columns.items()
    }
    return schema.model_copy(update={"columns": columns})


def release_together(
    tables: Sequence[pa.Table], schema: pt.Schema, *, trust: str, colluding: int | None = None, **options: object
) -> pt.Release:
    """All rounds, from the plan to the release."""
    count = range(1, len(tables) + 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        state: pt.SharedPlan | pt.Release = pt.shared_plan(
            schema,
            owners=len(tables),
            trust=trust,
            colluding=colluding,
            **options,  # type: ignore[arg-type]
        )
        if isinstance(state, pt.SharedPlan) and state.needs_keys:
            joins = [
                pt.join(state, owner, key=folder / f"{owner}.key", output=folder / f"{owner}.join") for owner in count
            ]
            state = pt.merge(joins, state)
        while isinstance(state, pt.SharedPlan):
            plan = state
            parts = [
                pt.contribute(
                    table,
                    plan,
                    owner,
                    output=folder / f"{owner}.part",
                    key=folder / f"{owner}.key" if plan.keys else None,
                    agreed=plan.fingerprint,
                    ledger=folder / f"{owner}.sqlite",
                )
                for owner, table in zip(count, tables, strict=True)
            ]
            state = pt.merge(parts, plan)
        return state
