"""Guarantee: what a release promises, in numbers and in one sentence."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Self

from pointillist.errors import UsageError
from pointillist.files.facts import real, table, text
from pointillist.privacy.budget import DEFAULT_DELTA, Budget
from pointillist.privacy.owners import Owners
from pointillist.schema import Person


class Neighbours(StrEnum):
    """Which pairs of data sets must be hard to tell apart. One relation holds for a whole ledger account."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"

    @classmethod
    def parse(cls, text: str) -> Self:
        try:
            return cls(text)
        except ValueError:
            raise UsageError(f"neighbours {text!r} is not known. Choose add-remove or replace-one.") from None


@dataclass(frozen=True)
class Guarantee:
    """The promise of a release, in numbers that anyone can check again."""

    epsilon: float
    delta: float
    neighbours: Neighbours
    person: Person | None
    mu: float
    """All rounds together are at least as private as one Gaussian with sensitivity / sigma = mu ..."""
    epsilon_slack: float
    """... after moving epsilon by this much for the noise's grid ..."""
    delta_slack: float
    """... and delta by this much. See docs/explanation/privacy.md."""
    record: Literal["row", "image"] = "row"
    """What a record is called."""
    owners: Owners | None = None
    """Those who made it together; none: one owner alone."""

    def __post_init__(self) -> None:
        """Whom it is for and nothing else of the person: promises for the same unit are equal, whoever makes them."""
        if self.person is not None:
            object.__setattr__(self, "person", self.person.unit)

    @property
    def unit(self) -> str:
        if self.person is None:
            return f"one {self.record}"
        rows = "row" if self.person.max_rows == 1 else "rows"
        return f"one person (column {self.person.column!r}, at most {self.person.max_rows} {rows} each)" + (
            "" if self.owners is None else " at one owner"
        )

    def sentence(self) -> str:
        """The promise in one sentence that can be quoted and checked."""
        change = "added or removed" if self.neighbours is Neighbours.ADD_REMOVE else "replaced by any other"
        besides = f", but for an additive {short(self.delta)}" if self.delta else ""
        return (
            f"This release is (ε = {self.epsilon:g}, δ = {short(self.delta)})-differentially private: if {self.unit} were "
            f"{change}, the probability of any outcome would change by a factor of at most e^{self.epsilon:g}{besides}."
            + ("" if self.owners is None else f" {self.owners.sentence()}")
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbours": self.neighbours.value,
            "person": None if self.person is None else self.person.facts(),
            "mu": self.mu,
            "epsilon_slack": self.epsilon_slack,
            "delta_slack": self.delta_slack,
            **({} if self.record == "row" else {"record": self.record}),
            **({} if self.owners is None else {"owners": self.owners.to_json()}),
        }

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> Self:
        """The inverse of `to_json`, for facts from anywhere. Whether noise backs them is another matter: see `promise`."""
        unknown = set(facts) - set(cls.__dataclass_fields__)
        if unknown:
            raise ValueError(f"a guarantee has no {sorted(unknown)[0]!r}")
        # A delta of 0 is no budget for noise, but a choice among candidates keeps it.
        budget = Budget(real(facts, "epsilon"), real(facts, "delta") or DEFAULT_DELTA)
        person, record = facts["person"], facts.get("record", "row")
        if record not in ("row", "image"):
            raise ValueError("a record must be a row or an image")
        return cls(
            epsilon=budget.epsilon,
            delta=real(facts, "delta"),
            neighbours=Neighbours(text(facts, "neighbours")),
            person=None if person is None else Person(**table(facts, "person")),
            mu=real(facts, "mu", 0.0),
            epsilon_slack=real(facts, "epsilon_slack", 0.0),
            delta_slack=real(facts, "delta_slack", 0.0, 1.0),
            record=record,
            owners=Owners.from_json(table(facts, "owners")) if "owners" in facts else None,
        )


def short(value: float, digits: int = 6) -> str:
    """A small number as people write it: 1e-5, not 1e-05."""
    return re.sub(r"e([+-])0+", r"e\1", f"{value:.{digits}g}")
