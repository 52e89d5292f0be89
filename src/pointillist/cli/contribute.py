"""`pointillist contribute`: one owner's part of a release that several make together."""

from pathlib import Path
from typing import Annotated

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import (
    Data,
    Decimal,
    Delimiter,
    Encoding,
    EngineName,
    ForCollector,
    Json,
    LedgerFile,
    Master,
    Overwrite,
    Owner,
    Quiet,
    SharedPlanFile,
    Sql,
    Threads,
    workers,
)
from pointillist.cli.outputs import free, print_json

KeyFile = Annotated[
    Path | None,
    typer.Option("--key", help="Your key, as `join` made it, where the owners have joined.", show_default=False),
]
Agreed = Annotated[
    str | None,
    typer.Option(
        "--agreed",
        metavar="FINGERPRINT",
        help="With --trust sum, in the first round: the plan's fingerprint as the other owners have it.",
        show_default=False,
    ),
]
AccountName = Annotated[
    str | None,
    typer.Option(
        "--account", help="The account of your ledger to book it to; by default the plan's name.", show_default=False
    ),
]


@app.command(rich_help_panel=Panel.TOGETHER)
def contribute(
    data: Data,
    plan: SharedPlanFile,
    owner: Owner,
    output: ForCollector,
    key: KeyFile = None,
    agreed: Agreed = None,
    account: AccountName = None,
    ledger: LedgerFile = None,
    delimiter: Delimiter = ",",
    decimal: Decimal = None,
    encoding: Encoding = None,
    sql: Sql = None,
    engine: EngineName = None,
    master: Master = None,
    threads: Threads = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> str | None:
    """Measure your private table for a plan of several owners, with noise: a part to send to the collector.

    Spends privacy budget: your ledger books the whole plan with the first part, before its noise is drawn.

    Example: pointillist contribute own.csv --plan people.plan --owner 2 -o 2.part

    Example: pointillist contribute hdfs://data/own --engine spark --plan people.plan --owner 2 -o 2.part
    """
    from pointillist.cli import console
    from pointillist.cli.progress_bars import Steps
    from pointillist.cli.show.plan import promise
    from pointillist.curator.contributing import contribute as make_part
    from pointillist.engines import opened
    from pointillist.owners.shared_plan import SharedPlan

    shared = SharedPlan.load(plan)
    free(output, overwrite, data, plan, key, ledger)
    source, run = opened(
        data, engine, workers(threads), master, delimiter=delimiter, decimal=decimal, encoding=encoding, query=sql
    )
    if not (quiet or as_json):
        console.say(promise(shared.plan.guarantee))
        console.say(shared.owners.sentence())
    with Steps(quiet or as_json).shown() as steps:
        made = make_part(
            source, shared, owner, output=output, key=key, agreed=agreed, account=account, ledger=ledger,
            progress=steps, engine=run,
        )  # fmt: skip
    if as_json:
        print_json(
            {"part": str(output), "plan": made.plan, "owner": made.owner, "round": made.round, "of": shared.rounds}
        )
    elif not quiet:
        console.say(f"Round {made.round} of {shared.rounds}: owner {owner}'s part is written to {output}.")
        return f"the collector, with all parts: pointillist merge *.part --plan {plan} -o FILE"
    return None
