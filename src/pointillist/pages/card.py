"""Card: the page that an officer signs, and that may travel with the data.

It comes from the release, which is public, and from what the owner adds: words, the ledger's account, an audit's bound
and hashes of files. Nothing on it comes from the private rows.
"""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from markupsafe import Markup

from pointillist.errors import UsageError
from pointillist.files import container
from pointillist.files.facts import flag, listed, optional, real, table, text, texts, whole
from pointillist.files.hashed_file import HashedFile
from pointillist.generators.gallery.telling import told
from pointillist.pages import part, render
from pointillist.pages.account_statement import AccountStatement
from pointillist.pages.audited import Audited
from pointillist.pages.card_advice import limits, remaining_risks, uses
from pointillist.pages.card_file import KIND, CardFile, Signature
from pointillist.pages.crosswalk import Answers, Clause, crosswalk
from pointillist.pages.deployment import Deployment
from pointillist.pages.fact_words import fact_values, fact_words
from pointillist.pages.measured import Measured, estimated_count, measured, most_units
from pointillist.pages.person_risk import PersonRisk, assumed, explained
from pointillist.privacy.guarantee import Guarantee, Neighbours, short
from pointillist.privacy.trade_off import ApproximateTradeOff, Both, InTurn, TradeOff, promised
from pointillist.release import Release
from pointillist.schema import AnyColumn
from pointillist.schema.fingerprint import fingerprint
from pointillist.schema.purchase import Purchase

FORMATS = {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}


@dataclass(frozen=True)
class Card:
    """What a receiver, or a data-protection officer, needs to know about a release and all that is made from it."""

    name: str
    id: str
    created: str
    method: str
    target: str | None
    guarantee: Guarantee
    rows: float
    """The number of private rows (of people, where all rows of a person count as one), as far as the release tells: with
    noise, unless it is public."""
    rows_exact: bool
    rows_error: float
    """Standard deviation of the noise in that number."""
    most: int
    """Of how many units the bounds for a person are stated: the true number is below it, all but surely."""
    counted: str
    """What the number counts: rows, images or people."""
    measured: tuple[Measured, ...]
    columns: tuple[dict[str, str], ...]
    vouched: dict[str, tuple[str, ...]]
    """Facts of the schema that were read from the data and declared public by the owner."""
    paid_for: dict[str, tuple[str, ...]]
    """Facts of the schema that were found with noise beforehand ..."""
    purchase: Purchase | None
    """... and what they cost."""
    values: dict[str, dict[str, str]]
    """What all these facts are, by column and fact: the schema is public, and so are they."""
    schema: str
    """A hash of the schema, all of which is public."""
    notes: tuple[str, ...]
    deployment: Deployment = field(default_factory=Deployment)
    account: AccountStatement | None = None
    audited: Audited | None = None
    files: tuple[HashedFile, ...] = ()
    """What a signature under the card covers: the release, and synthetic data."""
    signatures: tuple[Signature, ...] = field(default=(), compare=False)
    told: tuple[str, ...] = ()
    """What the release tells of how good its images are, where it was checked."""

    @classmethod
    def of(
        cls,
        release: Release,
        *,
        deployment: Deployment | None = None,
        account: AccountStatement | None = None,
        audited: Audited | None = None,
        files: tuple[HashedFile, ...] = (),
    ) -> Self:
        """The card of a release, with what the owner adds to it."""
        rows, error = estimated_count(release) if release.rows is None else (float(release.rows), 0.0)
        counted = "people" if release.of_histories else f"{release.guarantee.record}s"
        return cls(
            name=release.schema.name,
            id=release.id,
            created=release.created,
            method=release.method,
            target=release.target,
            guarantee=release.guarantee,
            rows=rows,
            rows_exact=release.rows is not None,
            rows_error=error,
            most=most_units(release, rows, error),
            counted=counted,
            measured=tuple(measured(release, max(1.0, rows))),
            columns=tuple(_column(name, column) for name, column in release.schema.measured.items()),
            vouched=release.schema.vouched,
            paid_for=release.schema.paid_for,
            purchase=release.schema.purchase,
            values=fact_values(release.schema),
            schema=fingerprint(release.schema),
            notes=release.plan.notes,
            deployment=deployment or Deployment(),
            account=account,
            audited=audited,
            files=files,
            told=told(release),
        )

    @classmethod
    def from_file(cls, file: CardFile) -> Self:
        """The card that a file states; a `ValueError` or `LookupError` for facts that no card has."""
        facts = file.facts
        rows = table(facts, "rows")
        return cls(
            **{name: text(facts, name) for name in ("name", "id", "created", "method", "schema")},
            target=optional(facts, "target", text),
            guarantee=Guarantee.from_json(table(facts, "guarantee")),
            rows=real(rows, "estimate"),
            rows_exact=flag(rows, "exact"),
            rows_error=real(rows, "error", 0.0),
            most=whole(rows, "at_most", 1, 1 << 62),
            counted=text(rows, "of"),
            measured=tuple(Measured.from_json(each) for each in listed(facts, "measured", table)),
            columns=tuple({name: text(each, name) for name in _COLUMN} for each in listed(facts, "columns", table)),
            vouched=_marks(facts, "read_from_data"),
            paid_for=_marks(facts, "bought_facts"),
            purchase=None if "bought_for" not in facts else Purchase(**table(facts, "bought_for")),
            values={name: _texts(table(facts, "fact_values"), name) for name in table(facts, "fact_values")},
            notes=listed(facts, "notes", text),
            told=listed(facts, "told", text),
            deployment=Deployment.from_json(table(facts, "deployment")),
            account=None if facts["account"] is None else AccountStatement.from_json(table(facts, "account")),
            audited=None if facts["audited"] is None else Audited.from_json(table(facts, "audited")),
            files=tuple(HashedFile.from_json(each) for each in listed(facts, "files", table)),
            signatures=file.signatures,
        )

    @property
    def bought(self) -> str:
        """What facts of the schema cost that were found with noise beforehand; empty if there are none."""
        return "" if self.purchase is None else self.purchase.sentence()

    @property
    def stated(self) -> tuple[str, ...]:
        """Columns of which all facts were stated by the owner, from public knowledge."""
        read = {*self.vouched, *self.paid_for}
        return tuple(each["name"] for each in self.columns if each["name"] not in read)

    def origin(self, column: str) -> str:
        """Where a column's facts came from, in a word."""
        read, bought = column in self.vouched, column in self.paid_for
        return "read from the data" if read else "found with noise" if bought else "stated"

    def read_words(self, letters: int | None = None) -> str:
        """Facts that were read from the data and declared public, with what they are; all, or in about so many letters."""
        return fact_words(self.vouched, self.values, self._whole, letters)

    def bought_words(self, letters: int | None = None) -> str:
        """Facts that were found with noise, with what they are; all, or in about so many letters."""
        return fact_words(self.paid_for, self.values, self._whole, letters)

    @property
    def _whole(self) -> str:
        return "the whole set" if self.images else "the whole table"

    @property
    def curve(self) -> TradeOff:
        """How well a person can be told from the release, and from what was bought for its schema."""
        own = promised(self.guarantee)
        if self.purchase is None:
            return own
        together = InTurn(ApproximateTradeOff(self.purchase.epsilon, self.purchase.delta), own)
        # The account has what was bought, too, or there were no release: what all spends give away bounds what some do.
        return together if self.account is None else Both(together, self.account.curve)

    @property
    def risk(self) -> PersonRisk:
        """What the release means for one person."""
        return PersonRisk.of(self.curve, round(self.rows), self.most)

    @property
    def account_risk(self) -> PersonRisk | None:
        """What all spends on these data together mean for one person, where the ledger's account has several."""
        if self.account is None or len(self.account.entries) < 2:
            return None
        return PersonRisk.of(self.account.curve, round(self.rows), self.most)

    @property
    def assumed(self) -> str:
        """What the bounds for a person assume."""
        return assumed(self.units, self.rows_exact)

    @property
    def explained(self) -> str:
        """How to read the bounds for a person."""
        return explained(self.risk, self.guarantee, self.units, bought=self.purchase is not None)

    @property
    def units(self) -> str:
        """What is protected each by itself, as a word for several of them."""
        return "people" if self.guarantee.person else f"{self.guarantee.record}s"

    @property
    def neighbouring(self) -> str:
        """When two sets of data are neighbours, in words that go after "if"."""
        removed = self.guarantee.neighbours is Neighbours.ADD_REMOVE
        one = "one person’s data" if self.guarantee.person else f"one {self.guarantee.record}"
        return f"one has {one} more than the other" if removed else f"they differ in {one}, replaced by any other"

    @property
    def crosswalk(self) -> tuple[Clause, ...]:
        """What two standards ask, and what this card answers."""
        owners = 1 if self.guarantee.owners is None else self.guarantee.owners.count
        bought = self.purchase is not None
        return crosswalk(
            Answers(self.deployment, self.account, self.audited, bool(self.vouched), bought, owners, len(self.files))
        )

    @property
    def facts(self) -> tuple[str, ...]:
        """The plan's notes without their advice, which is for the owner: the first sentence of each."""
        return tuple(re.split(r"(?<=[.:]) ", note, maxsplit=1)[0].rstrip(":") for note in self.notes)

    @property
    def plainly(self) -> str:
        """The promise for someone who does not know the letters; true word for word."""
        guarantee = self.guarantee
        person = guarantee.person is not None
        record = guarantee.record
        whom, what = ("person", "that person's data") if person else (f"{record}'s owner", f"that {record}")
        removed = guarantee.neighbours is Neighbours.ADD_REMOVE
        other = f"had {what} been left out" if removed else f"had another's stood in {what}'s place"
        several = (
            ""
            if person
            else f" A person who owns several {record}s is protected less: with two {record}s, by twice the ε and more."
        )
        known = "" if guarantee.owners is None else guarantee.owners.unless
        bought = f" {self.bought}" if self.bought else ""
        weak = " By itself, so large a factor promises little." if guarantee.epsilon >= 5 else ""
        return (
            f"In plain words: take any guess about one {whom}, made from these data by anyone, whatever else they "
            f"know{known}, apart from other releases of the same private data. "
            f"Its chance of being right is at most {math.exp(guarantee.epsilon):,.3g} times what it would have been "
            f"{other}, plus {short(guarantee.delta)}.{weak} What the data teach about people in general is not limited, "
            f"even where it is true of that person.{several}{bought}"
        )

    @property
    def check(self) -> str:
        """How a statistician checks the promise."""
        guarantee = self.guarantee
        epsilon, delta = guarantee.epsilon - guarantee.epsilon_slack, guarantee.delta - guarantee.delta_slack
        shared = "" if guarantee.owners is None else " and adding up the owners' noise"
        return (
            f"With μ = {_up(guarantee.mu, 7)} (sensitivity over noise, all rounds together: σ/Δ = {1 / guarantee.mu:.4f}), "
            f"Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) ≤ {short(delta)} at ε = {epsilon:.9g}; rounding to the noise's "
            f"grid{shared} adds at most {_up(guarantee.epsilon_slack, 2)} to ε and {_up(guarantee.delta_slack, 2)} to δ."
        )

    def to_json(self) -> dict[str, Any]:
        """All but the signatures, which cover it."""
        return {
            "kind": KIND,
            "name": self.name,
            "id": self.id,
            "created": self.created,
            "method": self.method,
            "target": self.target,
            "promise": self.guarantee.sentence(),
            "plainly": self.plainly,
            "check": self.check,
            "guarantee": self.guarantee.to_json(),
            "person": self.risk.to_json(),
            "assumed": self.assumed,
            "deployment": self.deployment.to_json(),
            "account": None if self.account is None else self.account.to_json(),
            "account_person": None if self.account_risk is None else self.account_risk.to_json(),
            "audited": None if self.audited is None else self.audited.to_json(),
            "schema": self.schema,
            "files": [each.to_json() for each in self.files],
            "rows": {
                "estimate": round(self.rows),
                "exact": self.rows_exact,
                "error": self.rows_error,
                "at_most": self.most,
                "of": self.counted,
            },
            "measured": [each.to_json() for each in self.measured],
            "columns": list(self.columns),
            "read_from_data": {name: list(facts) for name, facts in self.vouched.items()},
            "bought_facts": {name: list(facts) for name, facts in self.paid_for.items()},
            "fact_values": self.values,
            **({} if self.purchase is None else {"bought": self.bought, "bought_for": self.purchase.model_dump()}),
            "notes": list(self.facts),
            "told": list(self.told),
            "use": list(self.uses),
            "do_not_use": list(self.limits),
            "residual_risks": list(self.residual),
            "crosswalk": [each.to_json() for each in self.crosswalk],
        }

    @property
    def images(self) -> bool:
        """Whether the data are images; otherwise rows of a table."""
        return self.guarantee.record == "image"

    @property
    def residual(self) -> tuple[str, ...]:
        """What remains at risk although the promise holds."""
        return remaining_risks(self.guarantee, bool(self.vouched))

    @property
    def limits(self) -> tuple[str, ...]:
        """What the data should not be used for."""
        return limits(self.images, self.measured)

    @property
    def uses(self) -> tuple[str, ...]:
        """What the data can be used for, given how much noise there is."""
        return uses(self.images, self.measured)

    def promise(self) -> Markup:
        """The privacy statement, as a part of a page."""
        return part("promise_layout.html", "promise", self)

    def to_html(self) -> str:
        return render("card.html", card=self, short=short)

    def to_markdown(self) -> str:
        return render("card.md", card=self, short=short)

    def save(self, path: str | Path) -> None:
        """Write the card as HTML, Markdown or JSON, by the file's ending."""
        match FORMATS.get(Path(path).suffix.lower()):
            case "html":
                text = self.to_html()
            case "md":
                text = self.to_markdown()
            case "json":
                CardFile(self.to_json(), self.signatures).save(path)
                return
            case _:
                raise UsageError(f"{path}: a card is written as .html, .md or .json.")
        container.write(path, text.encode())


_COLUMN = ("name", "kind", "values", "missing", "description")


def _up(value: float, digits: int) -> str:
    """A bound, rounded up: what is printed is never less than what holds."""
    if value <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return short(math.ceil(value / unit) * unit, digits)


def _marks(facts: dict[str, Any], name: str) -> dict[str, tuple[str, ...]]:
    marked = table(facts, name)
    return {each: texts(marked, each) for each in marked}


def _texts(facts: dict[str, Any], name: str) -> dict[str, str]:
    return {each: text(table(facts, name), each) for each in table(facts, name)}


def _column(name: str, column: AnyColumn) -> dict[str, str]:
    return {
        "name": name,
        "kind": column.kind,
        "values": column.describe(),
        "missing": "allowed" if column.missing else "no",
        "description": column.description,
    }
