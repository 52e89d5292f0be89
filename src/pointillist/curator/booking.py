"""Booking: what an owner's ledger says of a plan that several follow. Every round is a line, and is there once."""

from dataclasses import replace
from pathlib import Path

from pointillist.errors import LedgerError, UsageError
from pointillist.owners.part import Part
from pointillist.owners.shared_plan import SharedPlan
from pointillist.privacy.guarantee import short
from pointillist.privacy.ledger import Ledger
from pointillist.privacy.ledger_file import Identity


class Booking:
    """The lines of an owner's ledger for a plan: its whole promise with round 1, and nothing more with the others."""

    def __init__(self, book: Ledger, plan: SharedPlan, owner: int, account: str | None):
        self._book, self._plan = book, plan
        # By its terms, and not by its id alone: a second round of other terms was not paid for by the first.
        self._names = [f"{plan.fingerprint} owner {owner} round {each}" for each in range(1, plan.rounds + 1)]
        self._guarantee = plan.plan.guarantee
        self._account = account or plan.plan.request.schema.name
        if account is None and plan.round == 1:
            self._require_known()
        if plan.round > 1:
            first = self._first()
            if account not in (None, first):
                raise UsageError(f"round 1 of this plan was booked to {first!r}, and this is the same plan.")
            self._account = first
            self._guarantee = replace(
                self._guarantee, epsilon=0.0, delta=0.0, mu=0.0, epsilon_slack=0.0, delta_slack=0.0
            )
        self._name = self._names[plan.round - 1]
        self._purpose = (
            f"{plan.plan.method}, plan {plan.id[:8]}, owner {owner} of {plan.owners.count}, round {plan.round} of "
            f"{plan.rounds}"
        )
        if book.find(self._name) is not None:
            raise LedgerError(
                f"{book.path}: owner {owner} has contributed to round {plan.round} of this plan already, and a second part "
                "would be a second look at the rows. Nothing was spent. Send the part that was written; if it is lost, the "
                "owners need a new plan."
            )
        self._seen: Identity | None = book.check(self._account, self._guarantee)

    def _require_known(self) -> None:
        """The schema's name is the collector's: under a new one the same rows would be spent on without a cap."""
        known = [each.dataset for each in self._book.accounts()]
        if known and self._account not in known:
            raise UsageError(
                f"{self._book.path}: has no account {self._account!r}, the name that this plan's schema has for the data. "
                f"Which account do these rows belong to? Name it with --account: {', '.join(map(repr, known[:5]))}"
                f"{', …' if len(known) > 5 else ''}, or a new name if none of them holds these rows. Nothing was spent."
            )

    def _first(self) -> str:
        found = self._book.find(self._names[0])
        if found is None:
            raise LedgerError(
                f"{self._book.path}: has no record of round 1 of this plan, with which all of it is booked: it is another "
                "ledger, or a plan of other terms. Nothing was spent. Name the ledger of round 1 with --ledger."
            )
        return found.dataset

    def record(self) -> None:
        """Durably, or not at all."""
        self._book.record(self._account, self._guarantee, release=self._name, purpose=self._purpose, seen=self._seen)

    def finish(self, made: Part, output: str | Path) -> None:
        """Close the spend: the part is safe whatever comes of that."""
        promise = self._plan.plan.guarantee
        spent = f"ε = {promise.epsilon:g}, δ = {short(promise.delta)} was spent on {self._account!r}, and counts"
        try:
            self._book.finish(self._name, f"The part was made before that, and is safe in {output}; {spent}.")
        except LedgerError as error:
            error.made = made
            raise
