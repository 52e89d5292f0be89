"""Card: the page that may travel with the data. Everything on it comes from the release alone, which is public."""

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from markupsafe import Markup

from pointillist.errors import UsageError
from pointillist.files import container
from pointillist.fitting.class_shares import record_count
from pointillist.fitting.evidence import Table, estimated_rows, measured_blocks, raw_error
from pointillist.pages import part, render
from pointillist.plan import PublishedBlock, PublishedRound
from pointillist.privacy.guarantee import Guarantee, Neighbours, short
from pointillist.release import Release
from pointillist.schema import AnyColumn

FORMATS = {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}


@dataclass(frozen=True)
class Measured:
    """Tables of one kind, as they were measured."""

    name: str
    tables: int
    cells: int
    budget: float
    """Part of the privacy budget (of mu²) that went into them."""
    noise: float
    """Standard deviation of the noise on one cell, in rows."""
    error: float | None
    """Expected total variation distance of one raw table, from noise alone; 1 or more where the noise drowns it. None for
    features that are not counts."""

    @property
    def smallest(self) -> int:
        """Three standard deviations of the noise on one cell, in rows."""
        return math.ceil(3 * self.noise)

    @property
    def error_said(self) -> str:
        return "–" if self.error is None else "≥ 1" if self.error >= 1 else f"{self.error:.3f}"


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
    """The number of private rows, as far as the release tells: with noise, unless it is public."""
    rows_exact: bool
    rows_error: float
    """Standard deviation of the noise in that number."""
    measured: tuple[Measured, ...]
    columns: tuple[dict[str, str], ...]
    vouched: dict[str, tuple[str, ...]]
    """Facts of the schema that were read from the data and declared public by the owner."""
    bought: str
    """What facts of the schema cost that were found with noise beforehand; empty if there are none."""
    notes: tuple[str, ...]

    @classmethod
    def of(cls, release: Release) -> Self:
        """The card of a release."""
        rows, error = _rows(release) if release.rows is None else (float(release.rows), 0.0)
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
            measured=tuple(_measured(release, max(1.0, rows))),
            columns=tuple(_column(name, column) for name, column in release.schema.measured.items()),
            vouched=release.schema.vouched,
            bought="" if release.schema.purchase is None else release.schema.purchase.sentence(),
            notes=release.plan.notes,
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
        weak = " By itself, so large a factor promises little." if guarantee.epsilon >= 5 else ""
        return (
            f"In plain words: take any guess about one {whom}, made from these data by anyone, whatever else they "
            f"know{known}. "
            f"Its chance of being right is at most {math.exp(guarantee.epsilon):,.3g} times what it would have been "
            f"{other}, plus {short(guarantee.delta)}.{weak} What the data teach about people in general is not limited, "
            f"even where it is true of that person.{several}"
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
        return {
            "kind": "card",
            "name": self.name,
            "id": self.id,
            "created": self.created,
            "method": self.method,
            "target": self.target,
            "promise": self.guarantee.sentence(),
            "plainly": self.plainly,
            "check": self.check,
            "guarantee": self.guarantee.to_json(),
            "rows": {"estimate": round(self.rows), "exact": self.rows_exact, "error": self.rows_error},
            "measured": [
                {**vars(each), "smallest_group": None if each.error is None else each.smallest}
                for each in self.measured
            ],
            "columns": list(self.columns),
            "read_from_data": {name: list(facts) for name, facts in self.vouched.items()},
            **({"bought": self.bought} if self.bought else {}),
            "notes": list(self.facts),
            "use": list(self.uses),
            "do_not_use": list(self.limits),
        }

    @property
    def images(self) -> bool:
        """Whether the data are images; otherwise rows of a table."""
        return self.guarantee.record == "image"

    @property
    def limits(self) -> tuple[str, ...]:
        """What the data should not be used for."""
        if self.images:
            return _IMAGE_LIMITS
        measured = _join(
            [f"{each.name} (below about {each.smallest:,} rows)" for each in self.measured if each.error is not None]
        )
        return (
            "To learn about a person: no synthetic row describes anyone, however much it looks like somebody.",
            "To count small groups: below three standard deviations of the noise a count says little. Measured as counts: "
            f"{measured}; ranges of a number add up the noise of all their cells. A group that is absent here may exist, "
            "and the other way round.",
            "To compute means and sums of numbers with a long tail: noise in the highest cells moves them most. Use medians "
            "and quantiles.",
            "To study how many columns act together: what goes beyond the tables that were measured is the model's guess.",
            "As if it were a survey of this many people: errors do not shrink when more rows are sampled. With the release "
            "file, the command pointillist errors tells how far figures may be from the private ones.",
            "For decisions about single people, and for final results that others will rely on without a check against "
            "the real data.",
        )

    @property
    def uses(self) -> tuple[str, ...]:
        """What the data can be used for, given how much noise there is."""
        if self.images:
            return _IMAGE_USES
        usable = any(each.error is not None and each.error < _USABLE for each in self.measured)
        counted = (
            "Compute counts, shares and two-way tables, keeping the errors stated here in mind. Train models, and expect "
            "them to do somewhat worse than on real rows."
        )
        little = "There is much noise for so few rows: take figures computed from it for orders of magnitude at best."
        return (
            "Explore it, write and test code against it, teach with it, plan a study with it: it has the columns, types "
            "and ranges of the public schema.",
            counted if usable else little,
            "Share it, and anything that is computed from it: the promise covers all of it, for ever.",
        )

    def promise(self) -> Markup:
        """The privacy statement, as a part of a page."""
        return part("promise_layout.html", "promise", self)

    def to_html(self) -> str:
        return render("card.html", card=self)

    def to_markdown(self) -> str:
        return render("card.md", card=self)

    def save(self, path: str | Path) -> None:
        """Write the card as HTML, Markdown or JSON, by the file's ending."""
        match FORMATS.get(Path(path).suffix.lower()):
            case "html":
                text = self.to_html()
            case "md":
                text = self.to_markdown()
            case "json":
                text = json.dumps(self.to_json(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
            case _:
                raise UsageError(f"{path}: a card is written as .html, .md or .json.")
        container.write(path, text.encode())


_IMAGE_USES = (
    "Explore it, write and test code against it, teach with it, plan a study with it: it has the size, the channels and the "
    "classes of the public schema.",
    "Train classifiers on it, and expect them to do worse than on real images; how much worse, only a test on real images "
    "tells.",
    "Share it, and anything that is computed from it: the promise covers all of it, for ever.",
)
_IMAGE_LIMITS = (
    "To learn about a person: no synthetic image shows anyone, however much it looks like somebody.",
    "To look for rare kinds of images, or to count small classes: what few images have is lost in the noise. A kind that is "
    "absent here may exist, and the other way round.",
    "To study details: what goes beyond the features that were measured is the model's guess.",
    "As if it were a collection of this many images: errors do not shrink when more images are sampled.",
    "For decisions about single people, and for final results that others will rely on without a check against the real "
    "images.",
)

_USABLE = 0.5
"""Tables whose raw error is below this say something."""


def _up(value: float, digits: int) -> str:
    """A bound, rounded up: what is printed is never less than what holds."""
    if value <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return short(math.ceil(value / unit) * unit, digits)


def _join(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"


def _rows(release: Release) -> tuple[float, float]:
    """The number of rows as the first block of noisy counts tells it, and the noise in that."""
    if release.schema.image is not None:
        counted = [block for each in release.plan.rounds for block in each.blocks if block.counts]
        return record_count(release), min((b.noise_rows * math.sqrt(b.cells) for b in counted), default=0.0)
    tables = next((tables for _, _, tables in measured_blocks(release)), [])
    if not tables:
        return float(release.rows or release.schema.rows or 1), 0.0  # public, as nothing else could tell
    precision = sum(1 / (table.values.size * table.sigma**2) for table in tables)
    return estimated_rows(tables), precision**-0.5


def _measured(release: Release, rows: float) -> list[Measured]:
    if release.schema.image is not None:
        return [_feature_block(each, block, rows) for each in release.plan.rounds for block in each.blocks]
    tables = {id(block): own for _, block, own in measured_blocks(release)}
    return [
        _table_block(each, block, tables[id(block)], rows) if id(block) in tables else _feature_block(each, block, rows)
        for each in release.plan.rounds
        for block in each.blocks
        if id(block) in tables or block.ones > 1
    ]


def _table_block(planned: PublishedRound, block: PublishedBlock, tables: list[Table], rows: float) -> Measured:
    cells, noise = sum(table.values.size for table in tables), tables[0].sigma
    error = raw_error(cells / len(tables), noise, rows)
    return Measured(block.name, len(tables), cells, planned.share * block.part, noise, error)


def _feature_block(planned: PublishedRound, block: PublishedBlock, rows: float) -> Measured:
    """Features other than tables, or counts of images; features by themselves have no error."""
    error = raw_error(block.cells, block.noise_rows, rows) if block.counts else None
    return Measured(block.name, block.count, block.cells, planned.share * block.part, block.noise_rows, error)


def _column(name: str, column: AnyColumn) -> dict[str, str]:
    return {
        "name": name,
        "kind": column.kind,
        "values": column.describe(),
        "missing": "allowed" if column.missing else "no",
        "description": column.description,
    }
