"""Crosswalk: where a card answers what two standards ask, and where it does not.

NIST SP 800-226 (Guidelines for Evaluating Differential Privacy Guarantees, 2025) is cited by subject, ISO/IEC 27559:2022
(Privacy enhancing data de-identification framework) by clause.
"""

from dataclasses import asdict, dataclass
from typing import Any

from pointillist.pages.account_statement import AccountStatement
from pointillist.pages.audited import Audited
from pointillist.pages.deployment import Deployment

NIST, ISO = "NIST SP 800-226", "ISO/IEC 27559"
_OWNER = "outside the card: for the owner to answer"


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


@dataclass(frozen=True)
class Answers:
    """What a card has, and so what it can answer."""

    deployment: Deployment
    account: AccountStatement | None
    audited: Audited | None
    vouched: bool
    bought: bool
    owners: int
    """How many made the release together; 1: one alone."""
    files: int
    """How many files the card states hashes of. (Signatures come later, and cover these answers.)"""


def crosswalk(has: Answers) -> tuple[Clause, ...]:
    """Every subject with the answer that this very card gives."""
    return (*_nist(has), *_iso(has))


def _nist(has: Answers) -> tuple[Clause, ...]:
    answers = {
        "Privacy parameters ε and δ": ("promise", "stated, with μ and a formula to check them by"),
        "What ε means for a person": ("person", "bounds on every attack, from μ and the number of people"),
        "Unit of privacy, bounded or unbounded": ("promise", "unit and neighbours, in words"),
        "Composition of several releases": ("account", _account(has)),
        "Facts taken from the data without noise": ("facts", _facts(has)),
        "Trust model": ("promise", "central: the owner sees the data" if has.owners == 1 else _several(has.owners)),
        "Bounded contributions and sensitivity": ("made", "records are clipped, people capped, in integers"),
        "Floating point and random numbers": ("made", "exact integer sums; noise on a grid, cryptographic source"),
        "Testing of the implementation": ("audit", _audit(has)),
        "Utility and bias": ("errors", "noise of every table; what not to use it for"),
        "Data security, access control, data collection": ("", _OWNER),
    }
    return tuple(Clause(NIST, subject, *answer) for subject, answer in answers.items())


def _iso(has: Answers) -> tuple[Clause, ...]:
    later = "no account attached: later releases are not seen here" if has.account is None else _later(has.account)
    answers = {
        "6.2 Threat modelling": ("person", "any attacker who knows all but one person’s part; assumptions stated"),
        "6.3 Transparency and impact assessment": ("released", f"{_stated(has.deployment)}; residual risks listed"),
        "7.2 Data features": ("columns", "all columns, with the schema’s public facts"),
        "7.3 Attack modelling": ("person", "the worst case for a person, not an average"),
        "8.2 Assessing identifiability": ("person", f"singling out, linkage, inference bounded; {_audit(has)}"),
        "8.3 Mitigation": ("made", "noise before anyone sees a sum; a generator fitted to it"),
        "9.2 Before data are made available": ("signature", _signed(has)),
        "9.3 After data are made available": ("account", later),
        "9.4 Mitigation in case of incident": ("", _OWNER),
    }
    return tuple(Clause(ISO, subject, *answer) for subject, answer in answers.items())


def _several(owners: int) -> str:
    return f"{owners} owners who pool no rows; whom they trust is stated"


def _audit(has: Answers) -> str:
    if has.audited is None:
        return "no audit attached: no lower bound on ε"
    return f"attacks proved ε ≥ {has.audited.epsilon:.3g} on made-up data"


def _account(has: Answers) -> str:
    if has.account is None:
        return "no account attached: other releases are not stated"
    count = len(has.account.entries)
    return f"the ledger’s account: {count} spend{'' if count == 1 else 's'} and the cap"


def _later(account: AccountStatement) -> str:
    return f"later releases count in the same account; as of {account.at[:10]}, ε = {account.left:.3g} is left under its cap"


def _facts(has: Answers) -> str:
    if has.vouched:
        return "each fact that was read from the data is named, with who vouched for it"
    return "none; facts found with noise are named, with their price" if has.bought else "none"


def _stated(stated: Deployment) -> str:
    words = {"by whom": stated.by, "to whom": stated.to, "what for": stated.purpose}
    said, missing = ([name for name, value in words.items() if bool(value) is there] for there in (True, False))
    told = f"stated: {', '.join(['what', *said])}"
    return told + (f"; not stated: {', '.join(missing)}" if missing else "")


def _signed(has: Answers) -> str:
    files = f"{has.files} file{'' if has.files == 1 else 's'}" if has.files else "no file"
    return f"a place to sign; a signature covers the hashes of the schema and of {files}"
