"""Copies: how many synthetic rows repeat a real row exactly, or each other, and how many would by chance.

Tables with few columns repeat rows all the time. The yardstick is how often one half of the real rows repeats the other.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.evaluate.advice import Advice
from pointillist.evaluate.metric import Result
from pointillist.evaluate.tables.metric import APART, METRICS, TableContext, TableMetric
from pointillist.evaluate.tables.sample import Sample, require_same_columns
from pointillist.evaluate.verdict import Point
from pointillist.pages.report import Section


@dataclass(frozen=True)
class Copies(Result):
    """Shares of rows."""

    synthetic: float
    """Of the synthetic rows, how many are also among the real ones."""
    expected: float
    """Of one half of the real rows, how many are also in the other: what a second real sample would show, about."""
    rows: int
    """Synthetic rows looked at."""
    at_a_quarter: float = 0.0
    """`expected`, looked up in a quarter of the real rows instead of a half."""
    repeated: tuple[float, float] = (0.0, 0.0)
    """Of as many real and synthetic rows, how many stand in their own table more than once."""

    @property
    def most(self) -> float:
        """The most that a second sample would repeat of all real rows.

        The more rows are looked up, the fewer new twins each further row brings: so from a half to the whole there come
        at most twice as many as from a quarter to the half.
        """
        return min(1.0, self.expected + 2 * max(0.0, self.expected - self.at_a_quarter))

    @property
    def suspicious(self) -> bool:
        """Whether far more rows are repeated than a second sample would repeat."""
        return self.synthetic > self.most + 0.01 + 4 * self._error(self.expected)

    @property
    def repetitive(self) -> bool:
        """Whether synthetic rows repeat each other far more often than real ones do."""
        real, made = self.repeated
        return made > 1.5 * real + 0.05 + 4 * self._error(real)

    def _error(self, share: float) -> float:
        return float((max(share, 1 / self.rows) / self.rows) ** 0.5)

    def to_json(self) -> dict[str, Any]:
        facts = {name: value for name, value in vars(self).items() if name not in ("at_a_quarter", "repeated")}
        return {
            **facts,
            "repeated": {"real": self.repeated[0], "synthetic": self.repeated[1]},
            "suspicious": self.suspicious,
            "repetitive": self.repetitive,
        }

    def table(self) -> pa.Table:
        return pa.Table.from_pylist([{**self.to_json(), "repeated": self.repeated[1]}])

    def points(self) -> tuple[Point, ...]:
        return (*(self._copied() if self.suspicious else ()), *(self._repeated() if self.repetitive else ()))

    def _copied(self) -> tuple[Point, ...]:
        return (
            Point(
                "copies of real rows",
                "poor",
                f"{self.synthetic:.0%}",
                f"{self.synthetic:.1%} of the synthetic rows repeat a real row exactly; a second real sample would repeat "
                f"about {self.expected:.1%}. Do not hand this table out: is it the right file?",
                "poor if far more rows are repeated than chance would repeat",
                (_OTHER_FILE,),
            ),
        )

    def _repeated(self) -> tuple[Point, ...]:
        real, made = self.repeated
        return (
            Point(
                "repeated rows",
                "poor",
                f"{made:.0%}",
                f"{made:.1%} of the synthetic rows are there more than once; of as many real rows {real:.1%} are. The "
                "synthetic table has fewer different rows than it seems to.",
                "poor if far more rows are there more than once than among as many real rows",
                (_DRAW_ANEW,),
            ),
        )

    def sections(self) -> tuple[Section, ...]:
        return (
            APART.saying(
                f"{round(100 * self.synthetic, 1)} % of the synthetic rows repeat a real row exactly; of a second real "
                f"sample about {round(100 * self.expected, 1)} % would."
            ),
        )


_DRAW_ANEW = Advice(
    "Draw the rows anew, no more than the model's own number.", "pointillist sample FILE.model -o synthetic.csv"
)
_OTHER_FILE = Advice(
    "Do not hand it out. Draw the synthetic table anew from the model, which never holds a real row.",
    "pointillist sample FILE.model -o synthetic.csv",
)


def copies(real: Sample, synthetic: Sample, *, seed: int = 0) -> Copies:
    """Compare whole rows, every column at its exact value."""
    require_same_columns(real, synthetic)
    truth, made = fingerprints(real), fingerprints(synthetic)
    order = np.random.default_rng(seed).permutation(real.rows)
    first, second = truth[order[: real.rows // 2]], truth[order[real.rows // 2 :]]
    rows = min(real.rows, synthetic.rows)
    return Copies(
        float(np.isin(made, truth).mean()),
        float(np.isin(second, first).mean()),
        synthetic.rows,
        float(np.isin(second, first[: real.rows // 4]).mean()),
        (_repeated(truth[order[:rows]]), _repeated(made[:rows])),
    )


def _repeated(marks: NDArray[np.uint64]) -> float:
    """The share of rows that are there more than once."""
    _, often = np.unique(marks, return_counts=True)
    return float(often[often > 1].sum()) / max(1, len(marks))


def fingerprints(sample: Sample) -> NDArray[np.uint64]:
    """One number for each row, the same for rows that are the same (and, but once in 2^64, for no others)."""
    factors = np.random.default_rng(20).integers(1, 2**63, (2, len(sample.columns)), dtype=np.uint64) | np.uint64(1)
    total = np.zeros(sample.rows, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for number, name in enumerate(sample.columns):
            mixed = sample.codes(name).astype(np.uint64) * factors[0, number]
            if sample.level(name).numeric:
                mixed ^= sample.records.units[name].view(np.uint64) * factors[1, number]
            mixed ^= mixed >> np.uint64(29)
            total += mixed * factors[1, number]
    return total


@METRICS.register("copies", place=10)
class CopiesMetric(TableMetric[Copies]):
    """Whether the synthetic table is, in part, the real one; and the holdout, too."""

    def compute(self, real: Sample, synthetic: Sample, context: TableContext) -> Copies:
        return copies(real, synthetic, seed=context.seed)

    def notes(self, found: Copies | None, context: TableContext) -> tuple[str, ...]:
        """Whether the holdout is what it should be: real rows that are not among the others."""
        if found is None or context.holdout is None:
            return ()
        marks = fingerprints(context.holdout)
        shares = {
            name: float(np.isin(marks, fingerprints(other)).mean())
            for name, other in (("real", context.real), ("synthetic", context.synthetic))
        }
        return tuple(
            f"{share:.0%} of the holdout's rows are also in the {name} table: is it the right file?"
            for name, share in shares.items()
            if share > 2 * found.expected + 0.05
        )
