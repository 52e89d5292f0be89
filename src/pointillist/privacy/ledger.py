"""Ledger: what has been spent on a data set, by whom, for what.

One SQLite file. A spend is written durably before any noise is drawn, and counts from then on; it is closed when the
release is safely on its way. A process that dies in between leaves an open spend, which keeps counting: a crash may
waste budget, but it never gives any away. No spend is ever taken back.

All spends of one account share one neighbouring relation and one privacy unit, because only then do they add up.
"""

import getpass
import json
import math
import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import platformdirs

from pointillist.errors import BudgetError, LedgerError, PointillistError
from pointillist.privacy.accounting import total_epsilon
from pointillist.privacy.budget import DEFAULT_DELTA, Budget
from pointillist.privacy.guarantee import Guarantee, Neighbours, short
from pointillist.privacy.ledger_file import Identity, LedgerFile, plain
from pointillist.schema import Person

DEFAULT_CAP = Budget(10.0, DEFAULT_DELTA)
"""The cap of an account whose owner has not set one."""


class State(StrEnum):
    OPEN = "open"
    """Recorded; the release has not been seen to finish. Counts as spent."""
    DONE = "done"
    """Recorded, and the release was handed out. Counts as spent."""


@dataclass(frozen=True)
class Spend:
    """One line of the ledger."""

    dataset: str
    release: str
    at: str
    who: str
    purpose: str
    epsilon: float
    delta: float
    mu: float
    epsilon_slack: float
    delta_slack: float
    state: State

    def __post_init__(self) -> None:
        numbers = (self.epsilon, self.delta, self.mu, self.epsilon_slack, self.delta_slack)
        if not all(math.isfinite(each) and each >= 0 for each in numbers):
            raise ValueError("a spend takes nothing back")


@dataclass(frozen=True)
class Account:
    """One data set: its cap, and all of its spends together at the cap's delta."""

    dataset: str
    neighbours: Neighbours | None
    person: Person | None
    cap: Budget
    spent: float
    spends: tuple[Spend, ...]


class Ledger:
    """The ledger in one file, shared by any number of processes."""

    def __init__(self, path: str | Path | None = None):
        self.path = plain(path) if path is not None else default_path()
        self._file = LedgerFile(self.path)

    def _repr_html_(self) -> str:
        from pointillist.privacy.ledger_box import ledger_box

        return ledger_box(self).to_html()

    def record(
        self, dataset: str, guarantee: Guarantee, *, release: str, purpose: str, seen: Identity | None = None
    ) -> None:
        """Write a spend durably, or refuse it. On return it is on disk; of two that race, one waits for the other.

        `seen` is what `check` returned: a ledger that was there then must be there still, and not another one.
        """
        with self._file.transaction(create=True, seen=seen) as db:
            account = self._account(db, dataset)
            if account is None:
                db.execute(
                    "INSERT INTO account VALUES (?, ?, ?, ?, ?)",
                    (dataset, None, None, DEFAULT_CAP.epsilon, DEFAULT_CAP.delta),
                )
                account = Account(dataset, None, None, DEFAULT_CAP, 0.0, ())
            self._check(account, guarantee)
            if db.execute("SELECT 1 FROM spend WHERE release = ?", (release,)).fetchone() is not None:
                raise LedgerError(
                    f"{self.path}: {release} is in the ledger already, and is made once. Nothing was spent."
                )
            person = None if guarantee.person is None else json.dumps(guarantee.person.facts())
            db.execute(
                "UPDATE account SET neighbours = ?, person = ? WHERE dataset = ?",
                (guarantee.neighbours.value, person, dataset),
            )
            db.execute(
                "INSERT INTO spend (dataset, release, at, who, purpose, epsilon, delta, mu, epsilon_slack, "
                "delta_slack, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    dataset,
                    release,
                    datetime.now(UTC).isoformat(timespec="seconds"),
                    _user(),
                    purpose,
                    guarantee.epsilon,
                    guarantee.delta,
                    guarantee.mu,
                    guarantee.epsilon_slack,
                    guarantee.delta_slack,
                    State.OPEN.value,
                ),
            )

    def check(self, dataset: str, guarantee: Guarantee, *after: Guarantee) -> Identity | None:
        """Raise what `record` would raise now, without recording: to fail before a long pass over the data.

        `after` are spends for the same unit that are to come next: the cap must admit all of them together. Returns which
        file the ledger is in, if there is one.
        """
        account, seen = None, self._file.identity()
        if seen is not None:
            with self._file.transaction(seen=seen) as db:
                account = self._account(db, dataset)
        else:
            self._file.require_room()
        self._check(account or Account(dataset, None, None, DEFAULT_CAP, 0.0, ()), guarantee, *after)
        return seen

    def finish(self, release: str, otherwise: str = "The spend was made, and counts.") -> None:
        """Mark a spend as handed out. `otherwise` tells the user what is safe if that fails."""
        with self._file.transaction(otherwise) as db:
            changed = db.execute("UPDATE spend SET state = ? WHERE release = ?", (State.DONE.value, release)).rowcount
            if changed != 1:
                raise LedgerError(
                    f"{self.path}: the ledger does not have the spend that was recorded in it: it was replaced or edited "
                    f"while release {release} was made. {otherwise} Restore the ledger, and take what was spent off its cap."
                )

    def set_cap(self, dataset: str, cap: Budget) -> None:
        """Set the most that may ever be spent on `dataset`."""
        with self._file.transaction(create=True) as db:
            db.execute(
                "INSERT INTO account VALUES (?, NULL, NULL, ?, ?) "
                "ON CONFLICT (dataset) DO UPDATE SET cap_epsilon = excluded.cap_epsilon, cap_delta = excluded.cap_delta",
                (dataset, cap.epsilon, cap.delta),
            )

    def accounts(self) -> tuple[Account, ...]:
        """Every account, by name."""
        if self._file.identity() is None:
            return ()
        with self._file.transaction(write=False) as db:
            names = [row["dataset"] for row in db.execute("SELECT dataset FROM account ORDER BY dataset")]
            return tuple(account for name in names if (account := self._account(db, name)) is not None)

    def find(self, release: str) -> Spend | None:
        """The spend of a release, if it was recorded."""
        spends = (spend for account in self.accounts() for spend in account.spends)
        return next((spend for spend in spends if spend.release == release), None)

    def holds(self, release: str, dataset: str, price: Budget) -> bool:
        """Whether an account has the spend of a release, at this very price."""
        spend = self.find(release)
        if spend is None or spend.dataset != dataset:
            return False
        pairs = ((spend.epsilon, price.epsilon), (spend.delta, price.delta))
        return all(math.isclose(spent, said, rel_tol=1e-12) for spent, said in pairs)

    def _account(self, db: sqlite3.Connection, dataset: str) -> Account | None:
        row = db.execute("SELECT * FROM account WHERE dataset = ?", (dataset,)).fetchone()
        if row is None:
            return None
        columns = "dataset, release, at, who, purpose, epsilon, delta, mu, epsilon_slack, delta_slack, state"
        lines = db.execute(f"SELECT {columns} FROM spend WHERE dataset = ? ORDER BY id", (dataset,)).fetchall()
        try:
            spends = tuple(Spend(**{**dict(line), "state": State(line["state"])}) for line in lines)
            cap = Budget(row["cap_epsilon"], row["cap_delta"])
            neighbours = None if row["neighbours"] is None else Neighbours(row["neighbours"])
            # The unit alone: earlier versions wrote an order of rows beside it, and such accounts go on.
            person = None if row["person"] is None else Person(**json.loads(row["person"])).unit
            return Account(dataset, neighbours, person, cap, _together(spends, cap.delta), spends)
        except (ValueError, TypeError, ArithmeticError, PointillistError):
            raise LedgerError(
                f"{self.path}: the ledger is damaged: the account of {dataset!r} does not make sense. Nothing was spent. "
                "Restore the ledger from a backup."
            ) from None

    def _check(self, account: Account, guarantee: Guarantee, *after: Guarantee) -> None:
        dataset = account.dataset
        if account.neighbours not in (None, guarantee.neighbours):
            raise BudgetError(
                f"{self.path}: the account of {dataset!r} is kept for {account.neighbours} neighbours, and a "
                f"{guarantee.neighbours} release cannot be added to it. Use --neighbours {account.neighbours}."
            )
        if account.neighbours is not None and account.person != guarantee.person:
            raise BudgetError(
                f"{self.path}: the account of {dataset!r} is kept for another privacy unit than the schema states now. "
                "Put the person settings of the schema back as they were."
            )
        total = _together([*account.spends, guarantee, *after], account.cap.delta)
        # A cap equal to the budget must admit it, whatever the last digit of the root finder.
        if total > account.cap.epsilon * (1 + 1e-9):
            raise BudgetError(
                f"{self.path}: {'these spends' if after else 'this release'} would bring {dataset!r} to ε = {total:.4g} at "
                f"δ = {short(account.cap.delta)}, over its cap of ε = {account.cap.epsilon:g} (spent so far: ε = "
                f"{account.spent:.4g}). Choose a smaller epsilon, or raise the cap: "
                f"pointillist ledger cap {dataset} --epsilon E --delta D"
            )


def default_path() -> Path:
    """POINTILLIST_LEDGER, or a file in the user's data folder."""
    named = os.environ.get("POINTILLIST_LEDGER")
    return plain(named) if named else Path(platformdirs.user_data_dir("pointillist", appauthor=False)) / "ledger.sqlite"


def _together(spends: Sequence[Spend | Guarantee], delta: float) -> float:
    """Epsilon of several spends at `delta`: by their mu or, where all of them are pure, by their sum if that is less.

    docs/explanation/privacy.md proves that a cap holds although later spends may be chosen in view of earlier outcomes.
    """
    total = total_epsilon([(s.mu, s.epsilon_slack, s.delta_slack) for s in spends], delta)
    if any(s.delta > 0 for s in spends):
        return total
    return min(total, math.fsum(s.epsilon for s in spends))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a number that has no name
        return "unknown"
