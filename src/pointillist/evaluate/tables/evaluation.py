"""Evaluation: everything there is to know about a synthetic table, beside the real one.

Computed from private rows: exact, not differentially private, and for the owner's eyes only.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from pointillist.errors import PointillistError, UsageError, without_context
from pointillist.evaluate.audit.owned_rows import read_rows
from pointillist.evaluate.tables.metrics.columns import Columns, columns
from pointillist.evaluate.tables.metrics.copies import Copies, copies, fingerprints
from pointillist.evaluate.tables.metrics.dependence import Dependence, dependence
from pointillist.evaluate.tables.metrics.discriminator import Discriminator, discriminator
from pointillist.evaluate.tables.metrics.forecast import Forecast, forecast, planned
from pointillist.evaluate.tables.metrics.kernel_test import KernelTest, kernel_test
from pointillist.evaluate.tables.metrics.marginals import Marginals, independent, marginals
from pointillist.evaluate.tables.metrics.projection import Projection, projection
from pointillist.evaluate.tables.metrics.utility import Utility, utility
from pointillist.evaluate.tables.sample import Sample, read
from pointillist.evaluate.tables.verdict import Verdict, verdict
from pointillist.progress import Progress, silent
from pointillist.reading.opening import open_schema
from pointillist.release import Release
from pointillist.schema import Schema

if TYPE_CHECKING:
    from pointillist.evaluate.audit import Audit

_MOST = {1: None, 2: 5_000, 3: 500}
"""Of very many pairs or triples of columns, this many at random are compared."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The result. `to_html()` is the report, `to_json()` the figures, `table()` the short version."""

    name: str
    rows: dict[str, int]
    """Rows of the real, the synthetic and the holdout table, as far as they were given."""
    columns: Columns
    marginals: tuple[Marginals, ...]
    """Of one, two and three columns, as far as the table has them."""
    shuffled: tuple[Marginals, ...]
    """The same for real columns shuffled independently: a yardstick."""
    dependence: Dependence
    utility: Utility | None
    discriminator: Discriminator
    kernel_test: KernelTest
    projection: Projection
    copies: Copies
    forecast: Forecast | None
    release: Release | None
    audit: "Audit | None"
    verdict: Verdict
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Evaluation of {self.name}: {self.verdict.grade}>"

    def to_json(self) -> dict[str, Any]:
        """All figures as plain values. Private, like the report."""
        return {
            "private": "computed from private rows: exact, not differentially private, for the data owner only",
            "name": self.name,
            "rows": self.rows,
            "verdict": self.verdict.to_json(),
            "columns": self.columns.to_json(),
            "marginals": [each.to_json() for each in self.marginals],
            "marginals_independent": {str(each.order): each.mean for each in self.shuffled},
            "dependence": self.dependence.to_json(),
            "utility": self.utility and self.utility.to_json(),
            "discriminator": self.discriminator.to_json(),
            "kernel_test": self.kernel_test.to_json(),
            "copies": self.copies.to_json(),
            "forecast": self.forecast and self.forecast.to_json(),
            "guarantee": self.release and self.release.guarantee.to_json(),
            "audit": self.audit and self.audit.to_json(),
            "notes": list(self.notes),
        }

    def table(self) -> pa.Table:
        """The headline figures, one row each."""
        facts: dict[str, float] = {f"TVD, {_columns(each.order)}": each.mean for each in self.marginals}
        facts |= {f"TVD, {_columns(each.order)}, independent": each.mean for each in self.shuffled}
        if self.dependence.kept is not None:
            facts["dependence kept"] = self.dependence.kept
        if self.utility is not None:
            for measure in self.utility.measures:
                for trained_on in ("real", "synthetic"):
                    facts[f"{measure}, trained on {trained_on}"] = self.utility.mean(measure, trained_on)
        facts["AUROC, real or synthetic"] = self.discriminator.auroc
        facts["kernel test p-value"] = self.kernel_test.p_value
        return pa.table({"measure": list(facts), "value": list(facts.values())})

    def lines(self) -> tuple[str, ...]:
        """What the terminal says beside the verdict."""
        figures = "; ".join(f"{_columns(each.order)} {each.mean:.3f}" for each in self.marginals)
        return (f"Mean total variation distance: {figures}.",)

    def to_html(self) -> str:
        """The report: one page, complete in itself."""
        from pointillist.evaluate.tables.report import render

        return render(self)


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"


@without_context
def evaluate(
    real: Any,
    synthetic: Any,
    schema: Schema | str | Path | None = None,
    *,
    holdout: Any = None,
    target: str | None = None,
    release: Release | str | Path | None = None,
    audit: "Audit | None" = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Evaluation:
    """Compare a synthetic table with the real one it stands for.

    `schema` may be left out where a `release` is given, and so may `target`. `holdout` are real rows that the release
    has not seen: models are tested on them; without it, on a quarter of the real rows.
    """
    if isinstance(release, str | Path):
        release = Release.load(release)
    facts = schema_of(schema, release)
    if facts.image is not None:
        raise UsageError("these are images: compare them with pointillist.evaluate_pictures.")
    if audit is not None and release is not None and not audit.matches(release):
        raise UsageError(
            f"the audit is of {audit.dataset} with ε = {audit.epsilon:g}, and not of this release's schema and "
            "settings. Make one with: pointillist audit --release …"
        )
    goal = target if target is not None else (release.target if release is not None else None)
    if goal is not None:
        facts.require_column(goal, role="target")
    import sklearn.ensemble  # noqa: F401  # the limit holds for libraries that are loaded by now

    with threadpool_limits(limits=1):  # threads that wait for each other cost more than they save here
        return _evaluate(real, synthetic, holdout, facts, goal, release, audit, seed, progress)


def _evaluate(
    real: Any,
    synthetic: Any,
    holdout: Any,
    schema: Schema,
    target: str | None,
    release: Release | None,
    audit: "Audit | None",
    seed: int,
    progress: Progress,
) -> Evaluation:
    step = _Steps(progress)
    tables = {"real": real, "synthetic": synthetic} | ({} if holdout is None else {"holdout": holdout})
    samples = {role: _read(table, schema, role) for role, table in tables.items()}
    truth, made = samples["real"], samples["synthetic"]
    notes: list[str] = []
    step("forecast")
    copied = copies(truth, made, seed=seed)
    if "holdout" in samples:
        notes += _holdout_notes(samples["holdout"], truth, made, copied)
    if schema.person is not None:
        notes.append(
            "A person may own several rows here, and rows of one person are alike: the stated errors, chances and p-value "
            "take rows for independent, and are too small."
        )
    expected = None if release is None else forecast(truth, made, release)
    if expected is not None and schema.person is not None:
        expected = None  # the release saw a capped part of these rows, and the difference would pass for noise
    if expected is not None and expected.fits is False:
        notes.append(
            "The release does not belong to these rows: its measurements lie much further from them than its noise "
            "explains. Either the real table is not the one that was released, or the release is not what it states."
        )
    step("columns")
    orders = range(1, min(3, len(truth.columns)) + 1)
    compared = tuple(marginals(truth, made, order, most=_MOST[order], seed=seed) for order in orders)
    if release is not None and expected is not None:
        expected = replace(expected, planned=planned(release, compared))
    apart = independent(truth, seed=seed)
    shuffled = tuple(marginals(truth, apart, order, most=_MOST[order], seed=seed) for order in orders if order > 1)
    by_column = columns(truth, made)
    step("pairs")
    paired = dependence(truth, made)
    step("models")
    halves = truth, samples.get("holdout")
    if halves[1] is None and target is not None:
        halves = _split(real, truth, schema, seed)
        notes.append(
            "No holdout was given: models were tested on a quarter of the real rows. Those rows took part in the "
            "release, which favours a table sampled from it by no more than its guarantee allows."
        )
    useful = _utility(halves[0], made, halves[1], target, notes, seed, step.part)
    step("telling apart")
    told = discriminator(truth, made, seed=seed)
    step("kernel")
    test = kernel_test(truth, made, seed=seed)
    step("map")
    flat = projection(truth, made, seed=seed)
    pairs = compared[1] if len(compared) > 1 else None
    judged = verdict(by_column, pairs, shuffled[0] if shuffled else None, useful, told, copied)
    progress("evaluate", 1.0)
    return Evaluation(
        name=schema.name,
        rows={role: sample.rows for role, sample in samples.items()},
        columns=by_column,
        marginals=compared,
        shuffled=shuffled,
        dependence=paired,
        utility=useful,
        discriminator=told,
        kernel_test=test,
        projection=flat,
        copies=copied,
        forecast=expected,
        release=release,
        audit=audit,
        verdict=judged,
        notes=tuple(notes),
    )


def _utility(
    real: Sample,
    synthetic: Sample,
    holdout: Sample | None,
    target: str | None,
    notes: list[str],
    seed: int,
    report: Callable[[float], None],
) -> Utility | None:
    if target is None or holdout is None:
        notes.append("No target was named, so no models were trained. Name one with --target.")
        return None
    if len(real.columns) < 2:
        notes.append("The table has one column only, so there is nothing to predict it from.")
        return None
    return utility(real, synthetic, holdout, target, seed=seed, progress=lambda _, fraction: report(fraction))


def _split(table: Any, sample: Sample, schema: Schema, seed: int) -> tuple[Sample, Sample]:
    """Rows to train on and rows to test on, all rows of a person on one side."""
    owners = np.arange(sample.rows)
    if schema.person is not None:
        _, sample, owners = read_rows(table, schema)
    people = np.random.default_rng(seed).permutation(np.unique(owners))
    tested = np.isin(owners, people[: max(1, len(people) // 4)])
    return sample.take(~tested), sample.take(tested)


def _holdout_notes(holdout: Sample, real: Sample, synthetic: Sample, copied: Copies) -> list[str]:
    """Whether the holdout is what it should be: real rows that are not among the others."""
    marks, found = fingerprints(holdout), []
    for other, name in ((real, "real"), (synthetic, "synthetic")):
        share = float(np.isin(marks, fingerprints(other)).mean())
        if share > 2 * copied.expected + 0.05:
            found.append(f"{share:.0%} of the holdout's rows are also in the {name} table: is it the right file?")
    return found


def schema_of(schema: Schema | str | Path | None, release: Release | None) -> Schema:
    if schema is None:
        if release is None:
            raise UsageError("a schema is needed to read the tables; or a release, which has one.")
        return release.schema
    facts = open_schema(schema)
    if release is not None and facts.measured != release.schema.measured:
        raise UsageError(
            "the release was made with another schema than the one given. Leave the schema out: the release has its own."
        )
    return facts


def _read(table: Any, schema: Schema, role: str) -> Sample:
    try:
        return read(table, schema)
    except PointillistError as error:
        name = str(table) if isinstance(table, str | Path) else ""
        # A file's name says which table it is; a frame has none.
        raise type(error)(str(error) if name and name in str(error) else f"the {role} table: {error}") from None


_STEPS = {"forecast": 1, "columns": 1, "pairs": 1, "models": 10, "telling apart": 4, "kernel": 1, "map": 1}
"""The steps, with about how long each takes beside the others."""


class _Steps:
    """Progress over all steps, as one bar."""

    def __init__(self, progress: Progress):
        self._progress, self._done, self._weight = progress, 0.0, 0.0

    def __call__(self, name: str) -> None:
        self._done += self._weight
        self._weight = _STEPS[name] / sum(_STEPS.values())
        self.part(0.0)

    def part(self, fraction: float) -> None:
        self._progress("evaluate", self._done + fraction * self._weight)
