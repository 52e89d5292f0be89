"""Deployment: who hands out what to whom, and what for. The owner's own words, which nothing here can check."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from pointillist.errors import UsageError
from pointillist.files.facts import text

LONGEST = 2_000
_KINDS = ("Government", "Industry", "Nonprofit")
_SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")


@dataclass(frozen=True)
class Deployment:
    """What the owner states about a release; empty where nothing was stated."""

    by: str = ""
    """Who hands the data out."""
    to: str = ""
    """Who gets them."""
    purpose: str = ""
    """What they may be used for."""
    vouched_by: str = ""
    """Who declared facts public that were read from the data."""
    kind: str = ""
    """What kind of owner it is, as the registry of deployments has them."""
    region: str = ""
    """Which region the data describe, or whose law applies."""
    sector: str = ""
    """As the registry of deployments has them."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if len(value) > LONGEST:
                raise UsageError(f"--{name.replace('_', '-')} has more than {LONGEST:,} letters.")
        for name, value, known in (("kind", self.kind, _KINDS), ("sector", self.sector, _SECTORS)):
            if value and value not in known:
                raise UsageError(f"--{name} {value!r} is not known to the registry. Choose one of {', '.join(known)}.")

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> Self:
        """The inverse of `to_json`, for facts from anywhere."""
        try:
            return cls(**{each.name: text(facts, each.name, LONGEST) for each in fields(cls)})
        except UsageError as error:
            raise ValueError(str(error)) from None
