"""Constraint: a combination of values that cannot be, stated in a schema. Public, like everything in a schema.

Three kinds: a number or date that is never above another (`Order`), values of several columns that never occur together
(`Impossible`, a structural zero), and a value that is missing exactly when another column is so (`Gap`). Synthetic rows keep
to them. Private rows are not held against them: to say
that a row breaks a constraint would tell about that row.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Tag, field_validator, model_validator

from pointillist.schema.given_syntax import plain, select


class Order(BaseModel):
    """One column is never above another: `Order(columns=("admitted", "discharged"), rule="<=")`.

    A missing value satisfies it. Dates are compared with times by the day.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    columns: tuple[str, str]
    """The lower one first."""
    rule: Literal["<=", "<"] = "<="

    @model_validator(mode="before")
    @classmethod
    def _spelled_out(cls, facts: Any) -> Any:
        """`rule = "admitted <= discharged"` says it all."""
        if not isinstance(facts, dict):
            return facts
        facts = dict(facts)
        rule = facts.get("rule")
        if isinstance(rule, str) and rule not in ("<=", "<"):
            sides = re.split(r"\s(<=|<)\s", rule.strip())
            if len(sides) != 3:
                raise ValueError(f'{rule!r} is not of the form "a <= b" or "a < b"; or give columns and rule apart')
            facts["rule"] = sides[1]
            if list(facts.setdefault("columns", (sides[0], sides[2]))) != [sides[0], sides[2]]:
                raise ValueError(f"rule {rule!r} names other columns than columns does")
        if isinstance(facts.get("columns"), list):
            facts["columns"] = tuple(facts["columns"])
        return facts

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it is about."""
        return self.columns

    def __str__(self) -> str:
        return f" {self.rule} ".join(self.columns)

    def check(self, measured: Mapping[str, Any]) -> None:
        """Refuse a constraint that makes no sense for these columns, with a ValueError."""
        _require(self.names, measured)
        low, high = self.columns
        if low == high:
            raise ValueError("it compares a column with itself")
        kinds = [measured[name].compared_as for name in self.columns]
        for name, kind in zip(self.columns, kinds, strict=True):
            if kind is None:
                raise ValueError(f"column {name!r} is {measured[name].kind}: only numbers and dates have an order here")
        if kinds[0] != kinds[1]:
            raise ValueError(f"column {low!r} is {kinds[0]} and column {high!r} {kinds[1]}: they cannot be compared")


class Impossible(BaseModel):
    """Values that never occur together: `Impossible(impossible={"sex": "male", "pregnant": True})`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    impossible: dict[str, Any]
    """For each of two or more columns a value, a list of values, a range, or "missing"."""

    @field_validator("impossible", mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return {name: plain(each) for name, each in value.items()} if isinstance(value, dict) else value

    @model_validator(mode="after")
    def _several(self) -> Self:
        if len(self.impossible) < 2:
            raise ValueError(
                "impossible names fewer than two columns: what a single column cannot hold belongs in its own facts"
            )
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it is about."""
        return tuple(self.impossible)

    def __str__(self) -> str:
        return " and ".join(f"{name} = {_shown(each)}" for name, each in self.impossible.items()) + " is impossible"

    def check(self, measured: Mapping[str, Any]) -> None:
        """Refuse a constraint that makes no sense for these columns, with a ValueError."""
        _require(self.names, measured)
        for name, written in self.impossible.items():
            select(name, measured[name], written)


class Gap(BaseModel):
    """A value is missing exactly when another column is so: `Gap(missing="cause", exactly_when={"alive": True})`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    missing: str
    """The column that has gaps."""
    exactly_when: dict[str, Any]
    """Of one other column a value, a list of values, a range, or "missing"."""

    @field_validator("exactly_when", mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return {name: plain(each) for name, each in value.items()} if isinstance(value, dict) else value

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.exactly_when) != 1 or self.missing in self.exactly_when:
            raise ValueError("exactly_when names one column, another than the one that is missing")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it is about."""
        return (self.missing, *self.exactly_when)

    @property
    def other(self) -> str:
        """The column that decides."""
        return next(iter(self.exactly_when))

    def __str__(self) -> str:
        return f"{self.missing} is missing exactly when {self.other} is {_shown(self.exactly_when[self.other])}"

    def check(self, measured: Mapping[str, Any]) -> None:
        """Refuse a constraint that makes no sense for these columns, with a ValueError."""
        _require(self.names, measured)
        if not measured[self.missing].missing:
            raise ValueError(f"column {self.missing!r} has no gaps (missing = false)")
        select(self.other, measured[self.other], self.exactly_when[self.other])


_BY_FACT = {"impossible": Impossible, "missing": Gap}


def _kind(facts: Any) -> str:
    """Which kind of constraint some facts are."""
    for fact, kind in _BY_FACT.items():
        if fact in facts if isinstance(facts, dict) else isinstance(facts, kind):
            return fact
    return "order"


Constraint = Annotated[
    Annotated[Order, Tag("order")] | Annotated[Impossible, Tag("impossible")] | Annotated[Gap, Tag("missing")],
    Discriminator(_kind),
]


def _require(names: tuple[str, ...], measured: Mapping[str, Any]) -> None:
    for name in names:
        if name not in measured:
            raise ValueError(f"column {name!r} is not a measured column. Measured columns: {', '.join(measured)}")


def _shown(written: Any) -> str:
    if isinstance(written, list):
        return f"({' or '.join(map(_shown, written))})"
    if isinstance(written, dict):
        return "missing" if "missing" in written else f"{written.get('min', '')}..{written.get('max', '')}"
    return str(written)
