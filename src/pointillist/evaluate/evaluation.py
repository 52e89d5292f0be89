"""Evaluation: what tables and images share when synthetic data are judged beside real ones.

Computed from private data: exact, not differentially private, and for the owner's eyes only.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import pyarrow as pa

from pointillist.errors import PointillistError, UsageError
from pointillist.evaluate.metric import Context, Metrics, Result, Steps, compute_all
from pointillist.evaluate.verdict import Verdict
from pointillist.pages.report import Section
from pointillist.reading.opening import open_schema
from pointillist.release import Release
from pointillist.schema import Schema

if TYPE_CHECKING:
    from pointillist.evaluate.audit.finding import Audit
    from pointillist.evaluate.report import Words

Data = TypeVar("Data")


@dataclass(frozen=True, eq=False, repr=False)
class AnyEvaluation:
    """The result. `to_html()` is the report, `to_json()` the figures, `table()` the short version."""

    metrics: ClassVar[Metrics]
    """What is computed, in this order."""

    name: str
    results: Mapping[str, Any]
    """What each metric found, by its name; None where it could not be computed."""
    release: Release | None
    audit: "Audit | None"
    verdict: Verdict
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.name}: {self.verdict.grade}>"

    def _repr_html_(self) -> str:
        from pointillist.pages.notebook import Box, Rows

        points = [(each.question, each.grade, each.figure) for each in self.verdict.worst_first]
        return Box(
            f"Synthetic against real: {self.name}",
            self.verdict.grade,
            tables=[Rows(("question", "grade", "figure"), points, numbers=("figure",))],
            notes=["to_html() is the report, with the reasons and what to do.", *self.notes],
            private="Computed from the private data, exactly: for the owner alone. Clear this output before the notebook "
            "is passed on.",
        ).to_html()

    @classmethod
    def of(
        cls, context: Context[Any], steps: Steps, audit: "Audit | None", notes: tuple[str, ...] = (), **compared: Any
    ) -> Self:
        """Compute, grade and note all that the metrics have to say."""
        results = compute_all(cls.metrics, context, steps)
        return cls(
            name=context.schema.name,
            results=results,
            release=context.release,
            audit=audit,
            verdict=Verdict(
                tuple(point for found in results.values() if found is not None for point in found.points())
            ),
            notes=(
                *notes,
                *(note for name, metric in cls.metrics.items() for note in metric().notes(results[name], context)),
            ),
            **compared,
        )

    @property
    def compared(self) -> dict[str, Any]:
        """What was compared, for `to_json`."""
        raise NotImplementedError

    @property
    def words(self) -> "Words":
        """How the page speaks of what was compared."""
        raise NotImplementedError

    @property
    def found(self) -> list[Result]:
        """What was found, in the order of the metrics."""
        return [each for each in self.results.values() if each is not None]

    def to_json(self) -> dict[str, Any]:
        """All figures as plain values. Private, like the report."""
        figures: dict[str, Any] = {}
        for name, found in self.results.items():
            figures |= {name: None} if found is None else found.figures(name)
        record = self.words.record
        return {
            "private": f"computed from private {record}s: exact, not differentially private, for the data owner only",
            "name": self.name,
            **self.compared,
            "verdict": self.verdict.to_json(),
            **figures,
            "guarantee": self.release and self.release.guarantee.to_json(),
            "audit": self.audit and self.audit.to_json(),
            "notes": list(self.notes),
        }

    def table(self) -> pa.Table:
        """The headline figures, one row each."""
        figures = {name: value for found in self.found for name, value in found.headlines().items()}
        return pa.table({"measure": list(figures), "value": list(figures.values())})

    def lines(self) -> tuple[str, ...]:
        """What the terminal shows below the verdict."""
        return tuple(line for found in self.found for line in found.lines())

    def sections(self) -> Iterable[Section]:
        """What the metrics write on the page."""
        return [each for name, metric in self.metrics.items() for each in metric().sections(self.results.get(name))]

    def to_html(self) -> str:
        """The report: one page, complete in itself."""
        from pointillist.evaluate.report import report

        return report(self).to_html()


def opened_release(release: Release | str | Path | None, audit: "Audit | None") -> Release | None:
    """A release, perhaps from its file; an audit must be one of it."""
    found = Release.load(release) if isinstance(release, str | Path) else release
    if audit is not None and found is not None and not audit.matches(found):
        raise UsageError(
            f"the audit is of {audit.dataset} with ε = {audit.epsilon:g}, and not of this release's schema and "
            "settings. Make one with: pointillist audit --release …"
        )
    return found


def schema_of(schema: Schema | str | Path | None, release: Release | None) -> Schema:
    """The schema that was given, or that of the release."""
    if schema is None:
        if release is None:
            raise UsageError("a schema is needed to read the tables; or a release, which has one.")
        return release.schema
    found = open_schema(schema)
    if release is not None and found.measured != release.schema.measured:
        raise UsageError(
            "the release was made with another schema than the one given. Leave the schema out: the release has its own."
        )
    return found


def read_each(
    given: Mapping[str, Any],
    schema: Schema,
    read: Callable[[Any, Schema], Data],
    noun: str,
    name_of: Callable[[Any], str],
) -> dict[str, Data]:
    """Read what was given, by role. An error names the role, unless the name of a file says which it is."""
    found = {}
    for role, table in given.items():
        try:
            found[role] = read(table, schema)
        except PointillistError as error:
            name = name_of(table)
            told = str(error) if name and name in str(error) else f"the {role} {noun}: {error}"
            raise type(error)(told) from None
    return found
