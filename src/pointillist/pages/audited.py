"""Audited: what attacks on the pipeline proved, beside what is promised. Only what was computed from made-up rows."""

from dataclasses import asdict, dataclass
from typing import Any, Self

from pointillist.files.facts import real, texts


@dataclass(frozen=True)
class Audited:
    """A lower bound on the true epsilon, from attacks whose findings may be published."""

    epsilon: float
    """The largest that an attack proved."""
    confidence: float
    attacks: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "attacks": list(self.attacks)}

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> Self:
        """The inverse of `to_json`, for facts from anywhere."""
        return cls(real(facts, "epsilon", 0.0), real(facts, "confidence", 0.0, 1.0), texts(facts, "attacks"))
