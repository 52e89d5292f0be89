"""Discriminator: can a classifier tell synthetic rows from real ones, and by which columns?"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.evaluate.advice import NO_NAMES, Advice, Commands
from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.metric import Result
from pointillist.evaluate.report import GLOSSARY
from pointillist.evaluate.tables.design_matrix import gapless
from pointillist.evaluate.tables.metric import APART, METRICS, TableContext, TableMetric
from pointillist.evaluate.tables.sample import Sample, require_same_columns
from pointillist.evaluate.verdict import UNCLEAR, Point, grade, listed
from pointillist.pages import charts, count, number
from pointillist.pages.blocks import Card, Cards, Items, Text, html
from pointillist.pages.report import Section

MOST_ROWS = 10_000


@dataclass(frozen=True)
class Discriminator(Result):
    """Gradient boosting, trained on one half of the rows of both tables and judged on the other."""

    auroc: float
    """0.5: it cannot tell them apart; 1: it always can."""
    error: float
    """Standard error of the AUROC."""
    rows: int
    """Rows of each table that it saw."""
    columns: dict[str, float]
    """By how much the AUROC falls when a column is shuffled: which columns give the synthetic rows away."""
    commands: Commands = NO_NAMES

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "commands"}

    def table(self) -> pa.Table:
        return pa.table({"column": list(self.columns), "importance": list(self.columns.values())})

    def headlines(self) -> dict[str, float]:
        return {"AUROC, real or synthetic": self.auroc}

    def points(self) -> tuple[Point, ...]:
        culprits = [name for name, value in self.columns.items() if value > 0.01][:3]
        by = f", most of all by {listed(culprits)}" if culprits else ""
        # A classifier that has learnt a row as real takes its copy for real: only copies push it below guessing.
        copied = self.auroc < 0.5 - 4 * self.error
        sentence = (
            f"A classifier does worse than guessing (AUROC {self.auroc:.2f}): many synthetic rows are copies of real ones. "
            "A private method does not make such rows."
            if copied
            else f"A classifier tells synthetic from real rows with AUROC {self.auroc:.2f} ± {2 * self.error:.2f} (0.5 is "
            f"guessing){by}."
        )
        return (
            Point(
                "likeness of whole rows",
                "poor" if copied else UNCLEAR if self.error > 0.05 else grade(round(self.auroc, 2), 0.65, 0.85),
                f"{self.auroc:.2f}",
                sentence,
                "AUROC: good up to 0.65, fair up to 0.85; far below 0.5, poor; unclear where its error is over 0.05",
                self._advice(copied, culprits),
            ),
        )

    def _advice(self, copied: bool, culprits: list[str]) -> tuple[Advice, ...]:
        if copied:
            said = "Draw the synthetic table anew from the model, which never holds a real row."
            return (Advice(said, "pointillist sample FILE.model -o synthetic.csv"),)
        if self.auroc <= 0.65:
            return ()
        if not culprits:
            return (self.commands.larger_epsilon(),)
        said = f"Look at {listed(culprits)} first: a rule that is broken there is the usual reason."
        return (Advice(said), self.commands.larger_epsilon())

    def sections(self) -> tuple[Section, ...]:
        told = html(
            "A classifier that sees equal numbers of real and synthetic rows ({} each) tells new ones apart with an AUROC "
            "of <strong>{}</strong> ± {}; 0.5 is guessing, 1 is certainty.",
            count(self.rows), number(self.auroc, 2), number(2 * self.error, 2),
        )  # fmt: skip
        culprits = list(self.columns.items())[:10]
        text = ", ".join(f"{name} {value:.3f}" for name, value in culprits)
        chart = charts.amounts(culprits, f"Loss of AUROC by column: {text}")
        how = Text("Loss of AUROC when the column is shuffled.", "soft tight")
        return (
            APART.saying(told, blocks=[Cards((Card("Columns that give synthetic rows away", (how, chart)),))]),
            GLOSSARY.saying(blocks=[Items((_TERM,))]),
        )


_TERM = (
    "AUROC, AUPRC, F1, R²",
    "how well a model does on real rows it has not seen; AUROC 0.5 and R² 0 are guessing.",
)


def discriminator(real: Sample, synthetic: Sample, *, most_rows: int = MOST_ROWS, seed: int = 0) -> Discriminator:
    """Train on equal numbers of rows of both tables."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    require_same_columns(real, synthetic)
    rows = min(real.rows, synthetic.rows, most_rows)
    parts = [real.at_most(rows, seed=seed), synthetic.at_most(rows, seed=seed + 1)]
    x = np.concatenate([gapless(part, real.columns) for part in parts])
    y = np.repeat([0, 1], rows)
    rng = np.random.default_rng(seed)
    order = rng.permutation(2 * rows)
    x, y = x[order], y[order]
    half = rows
    if len(np.unique(y[:half])) < 2 or len(np.unique(y[half:])) < 2:  # a handful of rows
        return Discriminator(0.5, 0.5, rows, dict.fromkeys(real.columns, 0.0))
    model = HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=seed)
    model.fit(x[:half], y[:half])
    truth = y[half:]

    def auroc(matrix: Floats) -> float:
        return float(roc_auc_score(truth, model.predict_proba(matrix)[:, 1]))

    score = auroc(x[half:])
    importance = {}
    for place, name in enumerate(real.columns):
        shuffled = x[half:].copy()
        shuffled[:, place] = rng.permutation(shuffled[:, place])
        importance[name] = max(0.0, score - auroc(shuffled))
    ranked = dict(sorted(importance.items(), key=lambda each: -each[1]))
    return Discriminator(score, _error(score, int(truth.sum()), int(len(truth) - truth.sum())), rows, ranked)


def _error(auroc: float, ones: int, zeros: int) -> float:
    """Standard error of an AUROC, by the formula of Hanley and McNeil."""
    first, second = auroc / (2 - auroc), 2 * auroc**2 / (1 + auroc)
    variance = auroc * (1 - auroc) + (ones - 1) * (first - auroc**2) + (zeros - 1) * (second - auroc**2)
    return float(np.sqrt(max(0.0, variance) / (ones * zeros)))


@METRICS.register("discriminator", place=70)
class DiscriminatorMetric(TableMetric[Discriminator]):
    """Whether a classifier tells the tables apart."""

    cost = 4

    def compute(self, real: Sample, synthetic: Sample, context: TableContext) -> Discriminator:
        return replace(discriminator(real, synthetic, seed=context.seed), commands=context.commands)
