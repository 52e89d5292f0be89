"""Crosswalk: where a card answers what two standards ask.

NIST SP 800-226 (Guidelines for Evaluating Differential Privacy Guarantees, 2025) is cited by subject, ISO/IEC 27559:2022
(Privacy enhancing data de-identification framework) by clause.
"""

from dataclasses import asdict, dataclass
from typing import Any

NIST, ISO = "NIST SP 800-226", "ISO/IEC 27559"


@dataclass(frozen=True)
class Clause:
    """A subject of a standard, and the part of the card that speaks of it."""

    standard: str
    subject: str
    section: str
    """The anchor of that part; empty where the owner has to answer outside the card."""
    answer: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


CROSSWALK = (
    Clause(NIST, "Privacy parameters ε and δ", "promise", "stated, with μ and a formula to check them by"),
    Clause(NIST, "What ε means for a person", "person", "bounds on every attack, from μ alone"),
    Clause(NIST, "Unit of privacy, bounded or unbounded", "promise", "unit and neighbours, in words"),
    Clause(NIST, "Composition of several releases", "account", "the ledger's account and its cap"),
    Clause(NIST, "Facts taken from the data without noise", "facts", "each fact: stated, vouched for, or bought"),
    Clause(NIST, "Trust model", "promise", "central; where several owners pool nothing, whom they trust"),
    Clause(NIST, "Bounded contributions and sensitivity", "made", "records are clipped, people capped, in integers"),
    Clause(
        NIST, "Floating point and random numbers", "made", "exact integer sums; noise on a grid, cryptographic source"
    ),
    Clause(NIST, "Testing of the implementation", "audit", "lower bound on ε that attacks proved"),
    Clause(NIST, "Utility and bias", "errors", "noise of every table; what not to use it for"),
    Clause(NIST, "Data security, access control, data collection", "", "outside the card: for the owner to answer"),
    Clause(ISO, "6.2 Threat modelling", "person", "any attacker, whatever else they know"),
    Clause(
        ISO, "6.3 Transparency and impact assessment", "released", "what, by whom, to whom, what for; residual risks"
    ),
    Clause(ISO, "7.2 Data features", "columns", "all columns, with the schema's public facts"),
    Clause(ISO, "7.3 Attack modelling", "person", "the worst case for a person, not an average"),
    Clause(
        ISO, "8.2 Assessing identifiability", "person", "singling out, linkage, inference; an audit as adversarial test"
    ),
    Clause(ISO, "8.3 Mitigation", "made", "noise before anyone sees a sum; a generator fitted to it"),
    Clause(
        ISO, "9.2 Before data are made available", "signature", "roles, purpose, signature over hashes of all files"
    ),
    Clause(ISO, "9.3 After data are made available", "account", "later releases count in the same account"),
    Clause(ISO, "9.4 Mitigation in case of incident", "", "outside the card: for the owner to answer"),
)
