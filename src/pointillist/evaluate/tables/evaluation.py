"""Evaluation: everything there is to know about a synthetic table, beside the real one.

Computed from private rows: exact, not differentially private, and for the owner's eyes only.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from pointillist.errors import UsageError, without_context
from pointillist.evaluate.evaluation import AnyEvaluation, opened_release, read_each, schema_of
from pointillist.evaluate.metric import Steps
from pointillist.evaluate.report import Words
from pointillist.evaluate.tables.metric import METRICS, TableContext
from pointillist.evaluate.tables.metrics.columns import Columns
from pointillist.evaluate.tables.metrics.copies import Copies
from pointillist.evaluate.tables.metrics.dependence import Dependence
from pointillist.evaluate.tables.metrics.discriminator import Discriminator
from pointillist.evaluate.tables.metrics.forecast import Forecast
from pointillist.evaluate.tables.metrics.kernel_test import KernelTest
from pointillist.evaluate.tables.metrics.marginals import Marginals
from pointillist.evaluate.tables.metrics.persons import Persons
from pointillist.evaluate.tables.metrics.projection import Projection
from pointillist.evaluate.tables.metrics.rules import Rules
from pointillist.evaluate.tables.metrics.utility import Utility
from pointillist.evaluate.tables.sample import read
from pointillist.pages import count
from pointillist.pages.blocks import html
from pointillist.progress import Progress, silent
from pointillist.release import Release
from pointillist.schema import Schema
from pointillist.watching import watched

if TYPE_CHECKING:
    from pointillist.evaluate.audit.finding import Audit

_PERSONS = (
    "A person may own several rows here, and rows of one person are alike: the stated errors, chances and p-value "
    "take rows for independent, and are too small."
)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(AnyEvaluation):
    """Of a table. What a metric found is in `results`, by its name; what these properties do not name is there, too."""

    metrics = METRICS

    rows: dict[str, int]
    """Rows of the real, the synthetic and the holdout table, as far as they were given."""

    @property
    def rules(self) -> Rules:
        """What holds in every real row, and how often synthetic rows break it."""
        return self.results["rules"]

    @property
    def columns(self) -> Columns:
        return self.results["columns"]

    @property
    def marginals(self) -> tuple[Marginals, ...]:
        """Of one, two and three columns, as far as the table has them."""
        return self.results["marginals"].compared

    @property
    def shuffled(self) -> tuple[Marginals, ...]:
        """The same for real columns shuffled independently: a yardstick."""
        return self.results["marginals"].shuffled

    @property
    def dependence(self) -> Dependence:
        return self.results["dependence"]

    @property
    def utility(self) -> Utility | None:
        return self.results["utility"]

    @property
    def discriminator(self) -> Discriminator:
        return self.results["discriminator"]

    @property
    def kernel_test(self) -> KernelTest:
        return self.results["kernel_test"]

    @property
    def projection(self) -> Projection:
        return self.results["projection"]

    @property
    def copies(self) -> Copies:
        return self.results["copies"]

    @property
    def forecast(self) -> Forecast | None:
        return self.results["forecast"]

    @property
    def persons(self) -> Persons | None:
        """Of persons with histories; None where the schema says nothing of them, or the synthetic table has none."""
        return self.results["persons"]

    @property
    def compared(self) -> dict[str, Any]:
        return {"rows": self.rows}

    @property
    def words(self) -> Words:
        held = f", {count(self.rows['holdout'])} real rows held out" if "holdout" in self.rows else ""
        return Words(
            record="row",
            warning=html(
                "This page was computed from the real rows. Its figures are exact, it shows real rows as dots on a map, and "
                "it carries no privacy guarantee: keep it where the data are kept. What may be shared is the synthetic "
                "table, the release and its data card (<code>pointillist card</code>)."
            ),
            heading=f"{self.name}: how good is the synthetic table?",
            summary=f"{count(self.rows['real'])} real rows, {count(self.rows['synthetic'])} synthetic rows{held}; "
            f"{len(self.columns.columns)} columns.",
            sampled="The promise holds for tables that were sampled from this release. This page cannot prove that this "
            "synthetic table is one.",
            no_audit=html(
                "No audit was run. <code>pointillist audit</code> attacks the pipeline and says how much privacy loss it "
                "can prove; pass its result with <code>--audit</code>."
            ),
            grades="Grades follow the rules printed beside them and nothing else; they say how near the tables are, not "
            "whether the data are fit for your purpose.",
            foot="Computed from private rows: for the data owner's eyes.",
        )


@watched
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
    known = opened_release(release, audit)
    public = schema_of(schema, known)
    if public.image is not None:
        raise UsageError("these are images: compare them with pointillist.evaluate_images.")
    goal = target if target is not None else (known.target if known is not None else None)
    if goal is not None:
        public.require_column(goal, role="target")
    steps = Steps(progress)
    steps.part(0.0)
    given = {"real": real, "synthetic": synthetic} | ({} if holdout is None else {"holdout": holdout})
    samples = read_each(given, public, read, "table", lambda table: str(table) if isinstance(table, str | Path) else "")
    context = TableContext(
        real=samples["real"],
        synthetic=samples["synthetic"],
        holdout=samples.get("holdout"),
        schema=public,
        target=goal,
        release=known,
        seed=seed,
        report=steps.part,
        table=real,
        made=synthetic,
    )
    import sklearn.ensemble  # noqa: F401  # the limit holds for libraries that are loaded by now

    with threadpool_limits(limits=1):  # threads that wait for each other cost more than they save here
        return Evaluation.of(
            context,
            steps,
            audit,
            (_PERSONS,) if public.person is not None else (),
            rows={role: sample.rows for role, sample in samples.items()},
        )
