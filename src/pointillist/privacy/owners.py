"""Owners: those who make a release together without pooling rows, whom they trust, and what noise each of them adds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from pointillist.errors import UsageError
from pointillist.files.facts import text, whole

MOST_OWNERS = 1000


class Trust(StrEnum):
    """Whom the owners of a release that is made together need to trust."""

    NOBODY = "nobody"
    """Every part carries the whole noise, and is private by itself."""
    SUM = "sum"
    """Every part carries a share of the noise, and is masked: only the sum of all parts can be read."""

    @classmethod
    def parse(cls, text: str) -> Self:
        try:
            return cls(text)
        except ValueError:
            raise UsageError(f"trust {text!r} is not known. Choose nobody or sum.") from None


@dataclass(frozen=True)
class Owners:
    """Several owners of one release. Each of them adds independent noise to its part; a promise counts on some of it."""

    count: int
    trust: Trust = Trust.NOBODY
    colluding: int = 0
    """With trust in the sum: so many owners at most may tell others their noise, or add none. It is not counted on."""

    def __post_init__(self) -> None:
        if isinstance(self.count, bool) or not isinstance(self.count, int) or not 2 <= self.count <= MOST_OWNERS:
            raise UsageError(f"owners must be a whole number from 2 to {MOST_OWNERS:,}, not {self.count!r}.")
        most = self.count - 1 if self.trust is Trust.SUM else 0
        if isinstance(self.colluding, bool) or not isinstance(self.colluding, int) or not 0 <= self.colluding <= most:
            raise UsageError(
                f"colluding must be a whole number from 0 to {most}, not {self.colluding!r}: with trust in the sum one "
                "owner at least keeps its noise to itself, and with trust in nobody there is nothing to count on."
            )

    @property
    def shares(self) -> int:
        """How many draws of noise make up what the promise counts on."""
        return 1 if self.trust is Trust.NOBODY else self.count - self.colluding

    @property
    def spread(self) -> float:
        """Standard deviation of all noise in the sum, by that which the promise counts on."""
        return math.sqrt(self.count / self.shares)

    def part_sigma(self, sigma: float) -> float:
        """Standard deviation of the noise that one owner adds, where that of the sum of all parts is `sigma`."""
        # Rounded up by more than the float's own error: a share too small would be a promise too large.
        return sigma / math.sqrt(self.count) * (1 + 1e-12)

    def sentence(self) -> str:
        """Whom the promise holds against."""
        made = f"It is made by {self.count} owners who pool no rows"
        if self.trust is Trust.NOBODY:
            return (
                f"{made} and trust nobody: every owner's part carries the whole noise, so the promise holds against whoever "
                "sees the parts, too."
            )
        known = {
            0: "but not against one of the owners, who knows its own share of the noise",
            1: "also together with any one of the owners",
        }.get(self.colluding, f"also together with any {self.colluding} of the owners")
        return (
            f"{made} and trust their sum, not its collector: every owner's part carries a share of the noise and is masked, "
            f"so the promise holds against whoever sees the parts, too, {known}; and as long as nobody can break X25519 or "
            "ChaCha20."
        )

    @property
    def unless(self) -> str:
        """What nobody may know, for the promise to hold: words that go after "whatever else they know"."""
        if self.trust is Trust.NOBODY:
            return ""
        whose = {0: "any owner", 1: "more than one owner"}.get(self.colluding, f"more than {self.colluding} owners")
        return f", but for the noise that {whose} added"

    def to_json(self) -> dict[str, Any]:
        return {"count": self.count, "trust": self.trust.value, "colluding": self.colluding}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Self:
        """The inverse of `to_json`, for facts from anywhere."""
        count = whole(facts, "count", 2, MOST_OWNERS)
        try:
            return cls(count, Trust(text(facts, "trust")), whole(facts, "colluding", 0, count - 1))
        except UsageError as error:
            raise ValueError(str(error)) from None
