"""Show a release: what is in it, and what it promises."""

from pathlib import Path

from pointillist.cli.console import out, say
from pointillist.cli.outputs import print_json
from pointillist.cli.show.plan import promise
from pointillist.cli.show.table import Table
from pointillist.generators.gallery.telling import told
from pointillist.release import Release
from pointillist.schema import Schema


def tell_release(made: Release, output: Path, quiet: bool, as_json: bool) -> str | None:
    """Say that a release was made; what comes next."""
    if as_json:
        print_json({"release": str(output), "id": made.id, "guarantee": made.guarantee.to_json()})
    elif not quiet:
        say(made.guarantee.sentence())
        for note in told(made):
            say(note)
        say(f"Written to {output}.")
        return f"pointillist fit {output} -o MODEL"
    return None


def show_release(release: Release) -> None:
    """What is in a release, and what it promises."""
    out.print(f"Release {release.id} of {release.schema.name}, made {release.created} by {release.method}")
    out.print(release.guarantee.sentence())
    out.print(promise(release.guarantee))
    if release.target is not None:
        out.print(f"Target: {release.target}")
    if release.rows is not None:
        record = release.guarantee.record
        out.print(f"{record.capitalize()}s: {release.rows:,} (public, because neighbours replace one {record})")
    image = release.schema.image is not None
    what, unit = ("features", "noise per feature (images)") if image else ("cells at most", "noise per cell (rows)")
    table = Table("Measured")
    for heading in ("what", *([] if image else ["tables"]), what, unit):
        table.add_column(heading)
    for each in release.plan.rounds:
        for block in each.blocks:
            tables = [] if image else [f"{block.count:,}"]
            table.add_row(block.name, *tables, f"{block.cells:,}", f"± {block.noise_rows:,.1f}")
    out.print(table)
    for note in told(release):
        out.print(note)
    _show_vouched(release.schema)


def _show_vouched(schema: Schema) -> None:
    if schema.vouched:
        facts = schema.vouched_words()
        out.print(f"Facts first read from the data, which the owner reviewed and declared public: {facts}.")
    if schema.purchase is not None:
        out.print(schema.purchase.sentence())
