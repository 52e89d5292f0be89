"""`pointillist ledger`: what has been spent, on what, when; and caps."""

from typing import Annotated

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import Delta, Epsilon, Json, LedgerFile, Quiet
from pointillist.cli.outputs import print_json

ledger_app = typer.Typer(invoke_without_command=True)
app.add_typer(ledger_app, name="ledger", rich_help_panel=Panel.KEEP)


@ledger_app.callback()
def ledger_show(context: typer.Context, ledger: LedgerFile = None, as_json: Json = False) -> None:
    """Show what has been spent, on what, when; set caps.

    Example: pointillist ledger
    """
    context.obj = ledger
    if context.invoked_subcommand is not None:
        return

    from dataclasses import asdict

    from pointillist.cli import console
    from pointillist.cli.show.ledger import show_accounts
    from pointillist.privacy.ledger import Ledger

    book = Ledger(ledger)
    accounts = book.accounts()
    if as_json:
        print_json([{**asdict(each), "person": each.person and each.person.facts()} for each in accounts])
    else:
        console.say(f"Ledger: {book.path}")
        show_accounts(accounts)


@ledger_app.command("cap")
def ledger_cap(
    context: typer.Context,
    dataset: Annotated[str, typer.Argument(help="The data set's name, as in its schema.", show_default=False)],
    epsilon: Epsilon,
    delta: Delta = 1e-5,
    quiet: Quiet = False,
) -> None:
    """Set the most that may ever be spent on a data set, over all of its releases.

    Example: pointillist ledger cap people --epsilon 3 --delta 1e-5
    """
    from pointillist.cli import console
    from pointillist.privacy.budget import Budget
    from pointillist.privacy.guarantee import short
    from pointillist.privacy.ledger import Ledger

    book = Ledger(context.obj)
    known = {account.dataset for account in book.accounts()}
    book.set_cap(dataset, Budget(epsilon, delta))
    spent = next(account.spent for account in book.accounts() if account.dataset == dataset)
    if not quiet and dataset not in known:
        others = f" This ledger also has {', '.join(sorted(known))}." if known else ""
        console.say(f"A new account: nothing has been spent on a data set of that name.{others}", style="yellow")
    if not quiet and spent > epsilon:
        console.say(f"ε = {spent:.4g} was spent already, so no release fits under this cap.", style="yellow")
    if not quiet:
        console.say(f"The cap of {dataset} is now ε = {epsilon:g} at δ = {short(delta)}.")
