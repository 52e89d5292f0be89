"""Account statement: what the ledger has under a data set's name, as a card may show it. It names nobody."""

import math
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Self

from pointillist.errors import LedgerError
from pointillist.files.facts import flag, listed, real, table, text
from pointillist.privacy.ledger import Ledger
from pointillist.privacy.trade_off import GaussianTradeOff
from pointillist.release import Release


@dataclass(frozen=True)
class Entry:
    """One spend. Who made it stays in the ledger."""

    at: str
    purpose: str
    epsilon: float
    delta: float
    this: bool
    """Whether it is the release that the card is about."""

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> Self:
        epsilon, delta = real(facts, "epsilon", 0.0), real(facts, "delta", 0.0, 1.0)
        return cls(text(facts, "at"), text(facts, "purpose"), epsilon, delta, flag(facts, "this"))


@dataclass(frozen=True)
class AccountStatement:
    """All spends on a data set together, and its cap."""

    dataset: str
    at: str
    """When the ledger was asked: later spends are not on it."""
    cap_epsilon: float
    delta: float
    """At which the cap and the sum are stated."""
    spent: float
    """Epsilon of all spends together."""
    mu: float
    epsilon_slack: float
    delta_slack: float
    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, ledger: Ledger, release: Release) -> Self:
        """The account that a release is in."""
        accounts = [each for each in ledger.accounts() if any(spend.release == release.id for spend in each.spends)]
        if not accounts:
            raise LedgerError(
                f"{ledger.path}: the ledger has no spend for this release. Name the ledger that it was made with, by "
                "--ledger."
            )
        (account,) = accounts
        return cls(
            dataset=account.dataset,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            cap_epsilon=account.cap.epsilon,
            delta=account.cap.delta,
            spent=account.spent,
            mu=math.sqrt(math.fsum(each.mu**2 for each in account.spends)),
            epsilon_slack=math.fsum(each.epsilon_slack for each in account.spends),
            delta_slack=math.fsum(each.delta_slack for each in account.spends),
            entries=tuple(
                Entry(each.at, each.purpose, each.epsilon, each.delta, each.release == release.id)
                for each in account.spends
            ),
        )

    @property
    def left(self) -> float:
        """What the cap leaves, in epsilon at its delta. Later spends may use a little more than this, as they compose."""
        return max(0.0, self.cap_epsilon - self.spent)

    @property
    def curve(self) -> GaussianTradeOff:
        """What all spends together give away: their mu add in squares, their slacks as they are."""
        return GaussianTradeOff(self.mu, self.epsilon_slack, self.delta_slack)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "entries": [asdict(each) for each in self.entries]}

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> Self:
        """The inverse of `to_json`, for facts from anywhere."""
        numbers = ("cap_epsilon", "delta", "spent", "mu", "epsilon_slack", "delta_slack")
        return cls(
            dataset=text(facts, "dataset"),
            at=text(facts, "at"),
            **{name: real(facts, name, 0.0) for name in numbers},
            entries=tuple(Entry.from_json(each) for each in listed(facts, "entries", table, 1 << 16)),
        )
