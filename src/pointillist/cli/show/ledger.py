"""Show a ledger: what has been spent, on what, when."""

from collections.abc import Sequence

from pointillist.cli.console import out
from pointillist.cli.show.table import Table
from pointillist.privacy.guarantee import short
from pointillist.privacy.ledger import Account, State


def show_accounts(accounts: Sequence[Account]) -> None:
    """What has been spent, on what, when."""
    if not accounts:
        out.print("Nothing has been spent yet.")
    for account in accounts:
        unit = "one row" if account.person is None else f"one person ({account.person.column})"
        relation = account.neighbours or "no release yet"
        table = Table(f"{account.dataset} ({relation}, unit {unit})")
        for heading in ("when (UTC)", "who", "for", "ε", "δ", "state", "release"):
            table.add_column(heading)
        for spend in account.spends:
            state = "open: counted as spent" if spend.state is State.OPEN else spend.state.value
            at = spend.at[:19].replace("T", " ")
            table.add_row(
                at, spend.who, spend.purpose, f"{spend.epsilon:g}", f"{spend.delta:g}", state, spend.release[:8]
            )  # fmt: skip
        out.print(table)
        left = f"spent together: ε = {account.spent:.4g} of {account.cap.epsilon:g} at δ = {short(account.cap.delta)}"
        out.print(f"{left} (exact composition, less than the sum of the ε)\n")
