"""Ledger box: what a notebook shows of a ledger."""

from typing import TYPE_CHECKING

from pointillist.errors import PointillistError
from pointillist.pages.notebook import Box, Rows
from pointillist.privacy.guarantee import short

if TYPE_CHECKING:
    from pointillist.privacy.ledger import Ledger, Spend

_HEADINGS = ("data set", "when (UTC)", "who", "for", "ε", "δ", "state", "release")


def ledger_box(ledger: "Ledger") -> Box:
    """Each account's state, then all spends, the latest first. A ledger that cannot be read says why."""
    heading = f"Ledger {ledger.path.name}"
    try:
        accounts = ledger.accounts()
    except PointillistError as error:
        return Box(heading, "cannot be read", [str(error)])
    if not accounts:
        return Box(heading, "nothing has been spent yet")
    lines = [
        f"{each.dataset}: spent together ε = {each.spent:.4g} of {each.cap.epsilon:g} at δ = {short(each.cap.delta)}."
        for each in accounts
    ]
    spends = sorted((spend for each in accounts for spend in each.spends), key=lambda spend: spend.at, reverse=True)
    return Box(heading, f"{len(spends)} spends", lines, [Rows(_HEADINGS, [*map(_row, spends)], numbers=("ε", "δ"))])


def _row(spend: "Spend") -> tuple[str, ...]:
    at = spend.at[:19].replace("T", " ")
    state = "open: counted as spent" if spend.state == "open" else spend.state.value
    amounts = (f"{spend.epsilon:g}", short(spend.delta))
    return (spend.dataset, at, spend.who, spend.purpose, *amounts, state, spend.release[:8])
