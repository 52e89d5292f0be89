"""Plan box: what a notebook shows of a plan, and of a release, which keeps the plan that it was made by."""

from pointillist.pages.notebook import Box, Rows
from pointillist.plan import PublishedPlan
from pointillist.privacy.guarantee import Guarantee
from pointillist.schema import Schema


def plan_box(plan: PublishedPlan, schema: Schema, guarantee: Guarantee, *, release: str = "", made: str = "") -> Box:
    """What is measured at which noise, what it promises, and what to expect. `release` and `made` once it is one."""
    image = schema.image is not None
    noise = "noise per feature (images)" if image else "noise per cell (rows)"
    headings = ("measured", *(() if image else ("tables",)), "features" if image else "cells at most", "budget", noise)
    rows = [
        (
            block.name,
            *(() if image else (f"{block.count:,}",)),
            f"{block.cells:,}",
            f"{each.share * block.part:.0%}",
            f"± {block.noise_rows:,.1f}",
        )
        for each in plan.rounds
        for block in each.blocks
    ]
    target = [f"Target: {', '.join(plan.targets)}."] if plan.targets else []
    expected = [f"Expect an error of about {each.error:.2g} in {each.name}." for each in plan.expected]
    vouched = [f"Facts read from the data, on the owner's word: {schema.vouched_words()}."] if schema.vouched else []
    bought = [] if schema.purchase is None else [schema.purchase.sentence()]
    title, beside, lines, notes = (
        (
            f"Release of {schema.name}",
            f"{plan.method}, {release[:8]}, {made}",
            [guarantee.sentence()],
            [*vouched, *bought],
        )
        if release
        else (f"Plan for {schema.name}", plan.method, [_promise(guarantee)], list(plan.notes))
    )
    table = Rows(headings, rows, numbers=headings[1:])
    return Box(title, beside, [*lines, *target, *expected], [table], notes)


def _promise(guarantee: Guarantee) -> str:
    return guarantee.sentence().replace("This release is", "The release will be", 1) + " Nothing is spent yet."
