"""Finding: what one attack found. Audit: all findings, beside the promise."""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from pointillist.errors import ArtefactError, UsageError
from pointillist.files.jsonable import finite
from pointillist.pages.audited import Audited
from pointillist.release import Release
from pointillist.schema.fingerprint import fingerprint

ALARM = 1e-6
"""A promise is called violated only where the chance that it was kept after all is below this."""

NOTE = (
    "An audit attacks the code that is installed now, with these settings. It opens no release file: one that other code "
    "made is not covered. None of the releases made by this audit is published, so none is in the ledger. An audit can "
    "show that a promise is broken; it cannot prove that it is kept."
)
PRIVATE = "Findings marked private were computed from private rows, exactly: keep them to yourself."


@dataclass(frozen=True)
class Finding:
    """What one attack found."""

    attack: str
    epsilon: float
    """Lower bound on the true epsilon at the promised delta; infinite where neighbours are told apart with certainty."""
    confidence: float
    """How sure the lower bound is."""
    violated: bool
    """Whether what was promised (the bound, the noise, or facts that depend on no row) is refuted at 1 - `ALARM`."""
    sentence: str
    """The verdict, in words."""
    measures: dict[str, Any]
    """What was measured, as JSON values by name."""
    private: bool
    """Whether it was computed from private rows, and so must not be published."""

    def to_json(self) -> dict[str, Any]:
        """What is infinite is written as null: JSON knows no infinity."""
        facts: dict[str, Any] = finite(asdict(self))
        return facts

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> Self:
        return cls(**{**facts, "epsilon": math.inf if facts["epsilon"] is None else float(facts["epsilon"])})


@dataclass(frozen=True)
class Audit:
    """Attacks on the real pipeline, and how much of the promise each of them saw used up."""

    dataset: str
    schema: str
    """A hash of the schema that was audited."""
    target: str | None
    method: str
    neighbours: str
    unit: str
    epsilon: float
    """Promised."""
    delta: float
    mu: float
    """Promised: all rounds together are at least as private as one Gaussian with sensitivity / sigma = mu."""
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether no attack broke the promise."""
        return not any(finding.violated for finding in self.findings)

    @property
    def private(self) -> bool:
        """Whether a finding was computed from private rows: then the audit must not be published."""
        return any(finding.private for finding in self.findings)

    def sentence(self) -> str:
        """The whole verdict, in words."""
        if not self.passed:
            broken = ", ".join(finding.attack for finding in self.findings if finding.violated)
            return f"VIOLATED: the promise of ε = {self.epsilon:g} is broken ({broken})."
        largest = max((finding.epsilon for finding in self.findings), default=0.0)
        promised = f"where ε = {self.epsilon:g} is promised"
        verdict = f"Passed: no attack showed more than ε = {largest:.3g} {promised}."
        if largest > self.epsilon:
            verdict = f"Passed: an attack showed ε ≥ {largest:.4g} {promised}, which is within chance."
        if largest < 0.5 * self.epsilon:
            return verdict
        return (
            f"{verdict} That is no near miss: the noise is no larger than the promise needs, so the strongest attacker, who "
            "knows everything but the noise, has to come close."
        )

    def __repr__(self) -> str:  # notebooks keep it beside the box
        return f"<Audit of {self.method} on {self.dataset!r}: {'passed' if self.passed else 'VIOLATED'}>"

    def _repr_html_(self) -> str:
        from pointillist.pages.notebook import Box, Rows

        rows = [
            (
                each.attack,
                f"{each.epsilon:.3g}".replace("inf", "∞"),
                f"{self.epsilon:g}",
                f"{each.confidence:.0%}",
                "the owner" if each.private else "anyone",
            )
            for each in self.findings
        ]
        headings = ("attack", "ε is at least", "promised ε", "confidence", "for")
        return Box(
            f"Audit of {self.method} on {self.dataset}",
            "passed" if self.passed else "VIOLATED",
            [self.sentence()],
            [Rows(headings, rows, numbers=headings[1:4])],
            private=PRIVATE if self.private else "",
        ).to_html()

    def matches(self, release: Release) -> bool:
        """Whether the audit was made with the settings of a release, so that the two may be shown side by side."""
        promise = release.guarantee
        return (
            self.schema == fingerprint(release.schema)
            and (self.target, self.method) == (release.target, release.method)
            and self.neighbours == promise.neighbours.value
            and math.isclose(self.epsilon, promise.epsilon)
            and math.isclose(self.delta, promise.delta)
        )

    def table(self) -> pa.Table:
        """One row for each finding."""
        names = ("attack", "epsilon", "confidence", "violated", "private", "sentence")
        return pa.table({
            "attack": [each.attack for each in self.findings],
            "promised": [self.epsilon] * len(self.findings),
            **{name: [getattr(each, name) for each in self.findings] for name in names[1:]},
        })  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        findings = [finding.to_json() for finding in self.findings]
        flags = {"passed": self.passed, "private": self.private}
        return {**asdict(self), "findings": findings, "notes": list(self.notes), **flags}

    def published(self) -> Audited:
        """What a card may say of it: findings on private rows are left out."""
        if not self.passed:
            raise UsageError(f"no card is made of this: {self.sentence()}")
        open_to_all = [finding for finding in self.findings if not finding.private]
        if not open_to_all:
            raise UsageError(
                "this audit attacked private rows alone, and its findings may not be published. Audit made-up rows for the "
                "card: pointillist audit --release RELEASE -o audit.json"
            )
        return Audited(
            max(finding.epsilon for finding in open_to_all),
            min(finding.confidence for finding in open_to_all),
            tuple(finding.attack for finding in open_to_all),
        )

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `pointillist audit` wrote."""
        try:
            return cls.from_json(json.loads(Path(path).read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise ArtefactError(f"{path}: no such file. Write one with: pointillist audit … -o {path}") from None
        except (OSError, ValueError, KeyError, TypeError, ArtefactError):
            raise ArtefactError(
                f"{path}: not what an audit writes. Make one with: pointillist audit … -o audit.json"
            ) from None

    @classmethod
    def from_json(cls, facts: dict[str, Any], *, origin: str = "audit") -> Self:
        """Read what `to_json` wrote; `origin` names it in messages."""
        try:
            known = {name: facts[name] for name in cls.__dataclass_fields__}
            findings = tuple(Finding.from_json(each) for each in facts["findings"])
            return cls(**{**known, "findings": findings, "notes": tuple(facts["notes"])})
        except (KeyError, TypeError, ValueError):
            raise ArtefactError(f"{origin}: not a saved audit. Write one with: pointillist audit") from None
