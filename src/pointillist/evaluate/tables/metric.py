"""Metrics of tables: where they register, what they are given, and the sections of the page that they share."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from pointillist.evaluate.advice import Commands
from pointillist.evaluate.metric import Context, Metric, Metrics, Result
from pointillist.evaluate.tables.owned_rows import read_rows
from pointillist.evaluate.tables.sample import Sample
from pointillist.pages.report import Section
from pointillist.registry import Registry

METRICS: Metrics = Registry("metric", "pointillist.evaluate.tables.metrics")
"""Every metric of tables, in the order in which they are computed and graded."""

RULES = Section("rules", "Rules of the real table", "Rules", 5)
COLUMNS = Section("columns", "Every column, the worst first", "Columns", 10)
PERSONS = Section("persons", "People and their histories", "People", 8)
DEPENDENCE = Section("dependence", "How columns hang together", "Dependence", 20)
MODELS = Section("models", "Train on synthetic, test on real", "Models", 30)
APART = Section("apart", "Can they be told apart?", "Telling apart", 40)
FORECAST = Section("forecast", "What the noise alone explains", "Noise", 50)

Found = TypeVar("Found", bound=Result)


@dataclass(frozen=True, eq=False, repr=False)
class TableContext(Context[Sample]):
    """Two tables, and all that was given with them."""

    table: Any = None
    """The real table as it was given: it also says whose row each is."""
    made: Any = None
    """The synthetic table as it was given."""

    @property
    def commands(self) -> Commands:
        """What commands have to name."""
        return Commands.of(self.real.name, self.schema, self.release, self.target)

    @cached_property
    def training_and_test(self) -> tuple[Sample, Sample]:
        """Real rows to train models on and real rows to test them on.

        Without a holdout a quarter of the real rows is held back, all rows of a person on one side.
        """
        if self.holdout is not None:
            return self.real, self.holdout
        sample, owners = self.real, np.arange(self.real.rows)
        if self.schema.person is not None:
            _, sample, owners = read_rows(self.table, self.schema)
        people = np.random.default_rng(self.seed).permutation(np.unique(owners))
        tested = np.isin(owners, people[: max(1, len(people) // 4)])
        return sample.take(~tested), sample.take(tested)


class TableMetric(Metric[Sample, TableContext, Found]):
    """A metric of two tables that were read with one schema."""
