"""Discretised: Adult and Census with every column cut to few values, as the papers measure marginals on them.

Numbers are cut the way the authors' code cuts them (the set that DP-MERF calls D); categories stay as they are, and an
unknown value is a category of its own. The label is a column like the others. Where these tables differ from the
authors' own, `DIFFERENCES` says so.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.tables.bench import Loaded
from benchmarks.tables.datasets import Dataset, Split, datasets
from pointillist.errors import UsageError
from pointillist.schema import Categorical, Column, Integer, Schema

DIFFERENCES = """\
The authors cut the tables of the package SDGym; ours are cut by the same rules from the files of the UCI repository.

- **Adult**: 15 columns, the label among them. Their table has 22,561 of the 32,561 rows of the training file; which ones
  is not known, so ours are as many drawn once at random. Age in years, `fnlwgt` in steps of 50,000 up to 500,000, gains
  in steps of 1,500 up to 15,000, losses in steps of 250 up to 2,500, hours in steps of 10. Their domain lists ages from
  0, ours from 17.
- **Census**: 41 columns, the label among them, all 199,523 rows of the training file. Numbers and codes that go beyond
  50 are cut into steps of a tenth of the largest value. Industry codes are among them, and are joined here in the order
  of their numbers; in theirs the order of the codes may be another.
- DP-MERF also has a coarser set of both, D*, with at most 16 values in a column; it is not repeated here.
- The papers say "inputs only", but the arrays in the authors' code have 15 and 41 columns, so the label is in.
- The authors feed the numbers of categories to their methods as if they were quantities. Here numbers are numbers and
  categories are categories; for the measure it makes no difference.
"""


@dataclass(frozen=True)
class Steps:
    """A number cut into steps of one width."""

    width: int
    most: int
    """What lies above counts as this."""
    least: int = 0

    def cut(self, values: Any) -> Any:
        return np.clip(values, self.least, self.most) // self.width

    @property
    def column(self) -> Integer:
        first, last = self.least // self.width, self.most // self.width
        return Integer(min=first, max=last, bins=last - first + 1, missing=False, out_of_domain="error")


@dataclass(frozen=True)
class Joined(Steps):
    """Codes joined by number. They stay names: the fourth is not more than the third."""

    @property
    def column(self) -> Categorical:  # type: ignore[override]
        return Categorical(categories=tuple(range(self.most // self.width + 1)), missing=False, out_of_domain="error")


Cuts = dict[str, Steps]

_ADULT: Cuts = {
    "age": Steps(1, 90, least=17),
    "fnlwgt": Steps(50_000, 500_000),
    "education_num": Steps(1, 16, least=1),
    "capital_gain": Steps(1_500, 15_000),
    "capital_loss": Steps(250, 2_500),
    "hours_per_week": Steps(10, 99),
}
_CENSUS: Cuts = {
    "age": Steps(9, 90),
    "industry_code": Joined(5, 51),
    "wage_per_hour": Steps(999, 9_999),
    "capital_gains": Steps(9_999, 99_999),
    "capital_losses": Steps(460, 4_608),
    "dividends": Steps(9_999, 99_999),
    "num_persons_employer": Steps(1, 6),
    "weeks_worked": Steps(5, 52),
}


@dataclass(frozen=True)
class Discretised:
    """One of the papers' tables."""

    name: str
    rows: int
    """How many rows the papers learn from."""
    cuts: Cuts

    @cached_property
    def learnt(self) -> Dataset:
        return self._part("train")

    @cached_property
    def fresh(self) -> Dataset:
        """Rows that nobody learns from: how near real rows come to real rows."""
        return self._part("test")

    def _part(self, which: str) -> Dataset:
        original = datasets()[self.name]
        schema = Schema(
            name=f"{self.name}-discretised",
            rows=self.rows,
            columns={name: _column(column, self.cuts.get(name)) for name, column in original.schema.columns.items()},
        )
        prepare = partial(discretise, cuts=self.cuts)
        return Dataset(self.name, original.target, schema, (f"{self.name}_{which}",), prepare)


class Rows(Loaded):
    """A discretised table in memory: what is learnt from, and fresh rows in the place of a test part."""

    def __init__(self, discretised: Discretised, folder: Path | None):
        super().__init__(discretised.learnt, folder)
        self.discretised = discretised

    @cached_property
    def split(self) -> Split:
        learnt, fresh = (each.load(self.folder) for each in (self.discretised.learnt, self.discretised.fresh))
        if learnt.num_rows < self.discretised.rows:
            raise UsageError(
                f"{self.dataset.files[0]}: has {learnt.num_rows:,} rows, but the papers learn from "
                f"{self.discretised.rows:,}. Give the folder with the whole file."
            )
        return Split(some(learnt, self.discretised.rows), fresh)


def discretise(table: pa.Table, cuts: Cuts) -> pa.Table:
    """The same table with its numbers as numbers of steps."""
    for name, steps in cuts.items():
        cut = pa.array(steps.cut(table[name].to_numpy()))
        table = table.set_column(table.column_names.index(name), name, cut)
    return table


def some(table: pa.Table, rows: int) -> pa.Table:
    """As many rows as asked for, drawn once and the same for every method; all of them if there are no more."""
    if rows == table.num_rows:
        return table
    return table.take(np.sort(np.random.default_rng(0).permutation(table.num_rows)[:rows]))


def _column(column: Any, steps: Steps | None) -> Column:
    if steps is not None:
        return steps.column
    known = column.categories
    if column.missing:  # written as a question mark in these files
        return column.model_copy(update={"categories": (*known, "?"), "missing": False})
    return column


DISCRETISED = {
    each.name: each for each in (Discretised("adult", 22_561, _ADULT), Discretised("census", 199_523, _CENSUS))
}
"""By the names that they have among the data sets of `benchmarks.tables`."""
