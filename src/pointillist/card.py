"""Card: the page that may travel with the data. Everything on it comes from the release alone, which is public."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pointillist import artefact
from pointillist.errors import UsageError
from pointillist.features import blocks
from pointillist.generators.evidence import estimated_rows, tables_of
from pointillist.levels import levels_of
from pointillist.pages import render
from pointillist.privacy.budget import Guarantee, short
from pointillist.release import Release

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
    error: float
    """Expected total variation distance of one raw table, from noise alone."""


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
    measured: tuple[Measured, ...]
    columns: tuple[dict[str, str], ...]
    vouched: dict[str, tuple[str, ...]]
    """Facts of the schema that were read from the data and declared public by the owner."""
    notes: tuple[str, ...]

    @classmethod
    def of(cls, release: Release) -> Self:
        """The card of a release."""
        rows = float(release.rows) if release.rows is not None else _rows(release)
        return cls(
            name=release.schema.name,
            id=release.id,
            created=release.created,
            method=release.method,
            target=release.target,
            guarantee=release.guarantee,
            rows=rows,
            rows_exact=release.rows is not None,
            measured=tuple(_measured(release, rows)),
            columns=tuple(_column(name, column, release) for name, column in release.schema.measured.items()),
            vouched=release.schema.vouched,
            notes=tuple(release.plan["notes"]),
        )

    @property
    def smallest_group(self) -> int:
        """Counts below this many rows are mostly noise, even in the most exact tables."""
        return math.ceil(3 * min(each.noise for each in self.measured)) if self.measured else 0

    @property
    def plainly(self) -> str:
        """The promise for someone who does not know the letters."""
        factor = math.exp(self.guarantee.epsilon) if self.guarantee.epsilon < 20 else math.inf
        times = f"{factor:,.3g} times" if factor < math.inf else "a factor beyond any use"
        return (
            "In plain words: whatever anybody concludes about a person from these data, their odds of being right would "
            f"have been at most {times} lower had that person's data not been used; this may fail with a probability of "
            f"{short(self.guarantee.delta)}."
        )

    @property
    def check(self) -> str:
        """How a statistician checks the promise."""
        guarantee = self.guarantee
        epsilon, delta = guarantee.epsilon - guarantee.epsilon_slack, guarantee.delta - guarantee.delta_slack
        return (
            f"With μ = {guarantee.mu:.6f} (sensitivity over noise, all rounds together: σ/Δ = {1 / guarantee.mu:.4f}), "
            f"Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) ≤ {short(delta)} at ε = {epsilon:.9g}; rounding to the noise's grid adds "
            f"at most {short(guarantee.epsilon_slack, 1)} to ε and {short(guarantee.delta_slack, 1)} to δ."
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
            "rows": {"estimate": round(self.rows), "exact": self.rows_exact},
            "smallest_group": self.smallest_group,
            "measured": [dict(vars(each)) for each in self.measured],
            "columns": list(self.columns),
            "read_from_data": {name: list(facts) for name, facts in self.vouched.items()},
            "notes": list(self.notes),
            "use": list(USES),
            "do_not_use": list(self.limits),
        }

    @property
    def limits(self) -> tuple[str, ...]:
        """What the data should not be used for."""
        pairs = "and triples with the target " if self.target else ""
        return (
            "To learn about a person: no synthetic row describes anyone, however much it looks like somebody.",
            f"To count groups of fewer than about {self.smallest_group:,} people: there the noise is larger than the "
            "count. A group that is absent here may exist, and the other way round.",
            f"To study how many columns act together: single columns, pairs {pairs}were measured; what goes beyond "
            "them is the model's guess.",
            "As if it were a survey of this many people: errors of synthetic data do not shrink when more rows are "
            "sampled. For error bars, fit and sample anew with several seeds and add the noise stated here.",
            "For decisions about single people, and for final results that others will rely on without a check against "
            "the real data.",
        )

    def to_html(self) -> str:
        return render("card.html", card=self, uses=USES)

    def to_markdown(self) -> str:
        return render("card.md", card=self, uses=USES)

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
        artefact.write(path, text.encode())


USES = (
    "Explore it, write and test code against it, teach with it, plan a study with it: it has the columns, types and "
    "ranges of the real table.",
    "Compute counts, means and two-way tables, keeping the errors stated here in mind.",
    "Train models, and expect them to do somewhat worse than on real rows.",
    "Share it, and anything that is computed from it: the promise covers all of it, for ever.",
)


def _counting(release: Release) -> list[tuple[int, list[Any]]]:
    """The rounds that measured tables of counts, with their tables."""
    return [
        (number, tables_of(each))
        for number, each in enumerate(release.measurements)
        if all(block.indicator for block, _ in blocks(each.feature_map))
    ]


def _rows(release: Release) -> float:
    rounds = _counting(release)
    return estimated_rows(rounds[0][1]) if rounds else float(release.schema.rows or 1)


def _measured(release: Release, rows: float) -> list[Measured]:
    found = []
    for number, tables in _counting(release):
        planned = release.plan["rounds"][number]
        left = tables
        for block in planned["blocks"]:
            part, left = left[: block["count"]], left[block["count"] :]
            if part:
                cells = sum(table.values.size for table in part)
                noise = part[0].sigma
                error = 0.5 * cells / len(part) * math.sqrt(2 / math.pi) * noise / rows
                budget = planned["share"] * block["count"] * block["weight"] ** 2
                found.append(Measured(block["name"], len(part), cells, budget, noise, min(1.0, error)))
    return found


def _column(name: str, column: Any, release: Release) -> dict[str, str]:
    level = next(each for each in levels_of(release.schema) if each.name == name)
    if level.numeric:
        low, high = column.min, column.max
        values = f"{low:%Y-%m-%d} to {high:%Y-%m-%d}" if column.kind == "datetime" else f"{low:,} to {high:,}"
        if level.specials:
            values += f"; also {', '.join(f'{each:g}' for each in level.specials)} as a value of its own"
    elif column.kind == "boolean":
        values = "true, false"
    else:
        shown = [str(each) for each in level.categories[:12]]
        more = f" and {len(level.categories) - 12:,} more" if len(level.categories) > 12 else ""
        values = ", ".join(shown) + more
    return {
        "name": name,
        "kind": column.kind,
        "values": values,
        "missing": "allowed" if column.missing else "no",
        "description": column.description,
    }
