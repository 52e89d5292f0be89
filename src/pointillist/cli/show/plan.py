"""Show a plan: what will be measured, at which noise, and what error to expect."""

from pointillist.cli.console import out
from pointillist.cli.show.table import Table
from pointillist.plan import Plan
from pointillist.privacy.guarantee import Guarantee, short
from pointillist.schema.levels import BINS


def show_plan(plan: Plan) -> None:
    """What will be measured, at which noise, and what error to expect."""
    schema, guarantee = plan.request.schema, plan.guarantee
    table = Table(f"Plan: {plan.method} on {schema.name}")
    image = schema.image is not None
    before, after = ([], []) if image else (["tables"], ["expected\nraw error"])
    what, unit = ("features", "noise per\nfeature (images)") if image else ("cells\nat most", "noise per\ncell (rows)")
    table.add_column("measured")
    for heading in (*before, what, "share of\nbudget", unit, *after):
        table.add_column(heading, justify="right")
    for number, each in enumerate(plan.rounds):
        for block in each.blocks:
            error = plan.expected_error(number, block)
            shown = "–" if error is None else ("≥ 1" if error >= 1 else f"{error:.3f}")
            table.add_row(
                block.name,
                *([] if image else [f"{block.count:,}"]),
                f"{block.cells:,}",
                f"{each.share * block.part:.0%}",
                f"± {plan.noise_rows(number, block):,.1f}",
                *([] if image else [shown]),
            )
    out.print(table)
    out.print(promise(guarantee))
    if image:
        out.print(_OF_IMAGES)
    elif schema.rows is None:
        out.print("The schema states no number of rows, so errors are shown in rows only.")
    else:
        out.print(
            f"Raw error: expected total variation distance of one table for {schema.rows:,} rows, from noise alone, "
            "before the fit removes most of it.",
        )
    for expected in plan.expected:
        low, high = expected.error / expected.factor, min(expected.error * expected.factor, 1.0)
        out.print(
            f"Synthetic rows: expect an error of about {expected.error:.2g} in {expected.name}, in {BINS} bins "
            f"({low:.2g} to {high:.2g}, as the data will have it)."
        )
    for note in plan.notes:
        out.print(f"Note: {note}", style="yellow")


_OF_IMAGES = (
    "The noise is on sums over all images. Counts: an image adds 1 to one of them. Other features: all that an image adds, "
    "over all features together, has length 1 at most."
)


def promise(guarantee: Guarantee) -> str:
    """The guarantee in figures, on one line."""
    return (
        f"Promise: ε = {guarantee.epsilon:g}, δ = {short(guarantee.delta)}, {guarantee.neighbours}, unit {guarantee.unit}; "
        f"one Gaussian release with σ/Δ = {1 / guarantee.mu:.4f} in all."
    )
