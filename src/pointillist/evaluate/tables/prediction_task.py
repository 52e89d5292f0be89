"""Prediction task: one column to be predicted from the others, with rows to learn from and rows to be tested on.

Every measure that trains classifiers starts here, so all of them agree on classes and on which rows take part.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pointillist.errors import DataError, UsageError
from pointillist.evaluate.arrays import Codes
from pointillist.evaluate.tables.sample import Sample, read, require_same_columns
from pointillist.schema import Schema
from pointillist.schema.levels import Levels


@dataclass(frozen=True, eq=False)
class PredictionTask:
    """What is predicted, from what, and on which rows.

    The classes are those of the test rows. Rows without a class, or with one that no test row has, take no part.
    """

    level: Levels
    """The target's levels."""
    inputs: tuple[str, ...]
    """The columns that the target is predicted from."""
    codes: Codes
    """The classes as level numbers, ascending."""
    test: Sample
    synthetic: Sample
    real: Sample | None
    """Real rows to learn from, not among the test rows: the yardstick."""
    notes: tuple[str, ...]
    """What a reader has to know about the rows."""

    @property
    def target(self) -> str:
        return self.level.name

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self.level.label(int(code)) for code in self.codes)

    @property
    def positive(self) -> int | None:
        """Of two classes the rarer one among the test rows, by number; where there are more, none."""
        if len(self.codes) > 2:
            return None
        return int(np.argmin(np.bincount(self.labels(self.test), minlength=2)))

    @property
    def positive_name(self) -> str | None:
        return None if self.positive is None else self.classes[self.positive]

    @property
    def training(self) -> dict[str, Sample]:
        """The tables to learn from, by role."""
        found = {"synthetic": self.synthetic}
        return found if self.real is None else {**found, "real": self.real}

    @property
    def rows(self) -> dict[str, int]:
        """How many rows take part, by role."""
        return {**{role: sample.rows for role, sample in self.training.items()}, "test": self.test.rows}

    def labels(self, sample: Sample) -> Codes:
        """Each row's class, numbered from 0."""
        return np.searchsorted(self.codes, sample.codes(self.target)).astype(np.int64)


def prediction_task(synthetic: Any, test: Any, schema: Schema, target: str, train: Any = None) -> PredictionTask:
    """Read the tables and settle the classes."""
    schema.require_column(target, role="target")
    if schema.measured[target].numeric:
        raise UsageError(
            f"target {target!r} is a number ({schema.measured[target].kind}), and this measure predicts classes. Name a "
            "categorical, ordinal or boolean column, or use evaluate.utility, which predicts numbers too."
        )
    real = None if train is None else read(train, schema)
    return task_of(read(synthetic, schema), read(test, schema), target, real)


def task_of(made: Sample, tested: Sample, target: str, real: Sample | None = None) -> PredictionTask:
    """Settle the classes of tables that were read already."""
    require_same_columns(tested, made, *([] if real is None else [real]))
    level, inputs = tested.level(target), inputs_of(tested, target)
    tested = tested.take(~tested.missing(target))
    codes = np.unique(tested.codes(target))
    if len(codes) < 2:
        raise nothing_to_predict(tested, target, "test")
    made, notes = _usable(made, target, codes, "synthetic")
    if real is not None:
        real, left_out = _usable(real, target, codes, "real")
        notes += left_out
        if len(np.unique(real.codes(target))) < 2:
            raise nothing_to_predict(real, target, "real")
    absent = [level.label(int(code)) for code in codes if not (made.codes(target) == code).any()]
    if len(codes) - len(absent) < 2:
        notes.append(unlearnable(made, target))
    elif absent:
        notes.append(
            f"the synthetic table has no row with {target} = {', '.join(absent)}: models trained on it never predict that."
        )
    return PredictionTask(level, inputs, codes, tested, made, real, tuple(notes))


def inputs_of(sample: Sample, target: str) -> tuple[str, ...]:
    """The columns that a target is predicted from."""
    inputs = tuple(name for name in sample.columns if name != target)
    if not inputs:
        raise UsageError("a target is predicted from the other columns, and there are none.")
    return inputs


def nothing_to_predict(sample: Sample, target: str, role: str) -> DataError:
    """The target does not vary."""
    return DataError(
        f"{sample.name}: target {target!r} takes fewer than two values among the {role} rows, so there is nothing to "
        "predict. Choose another target, or give more rows."
    )


def unlearnable(synthetic: Sample, target: str) -> str:
    """What to say of a synthetic table in which the target does not vary."""
    how = "constant in" if synthetic.rows else "missing in every row of"
    return f"{target} is {how} the synthetic table: no model can learn it from there."


def _usable(sample: Sample, target: str, codes: Codes, role: str) -> tuple[Sample, list[str]]:
    """The rows with a class that the test rows have, and a note if others were left out."""
    known = np.isin(sample.codes(target), codes)
    if known.all():
        return sample, []
    if not known.any():
        return sample.take(known), []
    share = float(np.mean(~known))
    note = f"{share:.2%} of the {role} rows were left out: their {target} is missing, or no test row has it."
    return sample.take(known), [note]
