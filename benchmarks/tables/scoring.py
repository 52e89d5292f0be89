"""Scoring: how near a synthetic table comes to the real one, and what models learn from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pointillist.evaluate.tables.metrics.columns import columns
from pointillist.evaluate.tables.metrics.marginals import marginals
from pointillist.evaluate.tables.sample import Sample

from .dependence import Dependences, Pair, rank_correlation
from .learning import MODELS, accuracy_by_cells, learn

TRIPLES = 100
"""How many tables of three columns are compared, drawn once and the same for every method."""
STRONGEST = 10
"""How many of the pairs that depend on each other most, in the real training rows, are looked at by themselves."""


@dataclass(frozen=True, eq=False)
class Yardstick:
    """The real rows of a data set, which every synthetic table of it is held against."""

    train: Sample
    test: Sample
    target: str
    """Empty where there is none."""
    settling: tuple[str, ...] = ()
    """Columns that settle the target together, where that is known."""

    @cached_property
    def dependences(self) -> Dependences:
        return Dependences(self.train)

    @cached_property
    def strongest(self) -> tuple[Pair, ...]:
        return self.dependences.strongest(STRONGEST)

    def score(self, synthetic: Sample, models: Sequence[str] = MODELS) -> dict[str, Any]:
        """How near the tables of few columns come, how well dependence is kept, what models learn."""
        learnt = self.learnt(synthetic, models) if self.target else {}
        return {**self.near(synthetic), **self.dependent(synthetic), **learnt}

    def near(self, synthetic: Sample) -> dict[str, float | None]:
        """Mean total variation over one, two and three columns and over the strongest pairs; the worst column.

        Numbers besides by their mean Kolmogorov-Smirnov distance.
        """
        one, two = (marginals(self.train, synthetic, order) for order in (1, 2))
        three = marginals(self.train, synthetic, 3, most=TRIPLES, seed=0)
        apart = {each.columns: each.distance for each in two.tables}
        gaps = [
            each.ks
            for each in columns(self.train, synthetic).columns
            if each.ks is not None and self.train.level(each.name).numeric
        ]
        return {
            "tvd_1": one.mean,
            "tvd_1_worst": one.tables[0].distance,
            "tvd_2": two.mean,
            "tvd_3": three.mean,
            "tvd_strongest": float(np.mean([apart[pair] for pair in self.strongest])),
            "ks": sum(gaps) / len(gaps) if gaps else None,
        }

    def dependent(self, synthetic: Sample) -> dict[str, float | None]:
        """The mean error of normalised dependence over all pairs, and Spearman's correlation of the strongest pairs.

        Only pairs of numbers have one; it counts in the direction of the real one, so that 0 is none and below it wrong.
        """
        numbers = [pair for pair in self.strongest if all(self.train.level(name).numeric for name in pair)]
        kept = [np.sign(rank_correlation(self.train, pair)) * rank_correlation(synthetic, pair) for pair in numbers]
        return {
            "dependence": self.dependences.error(synthetic),
            "spearman_strongest": float(np.mean(kept)) if kept else None,
        }

    def learnt(self, synthetic: Sample, models: Sequence[str]) -> dict[str, Any]:
        """Means over models, which are tested on real rows, and every model's own scores."""
        found, notes = learn(synthetic, self.test, self.target, models)
        measures = next(iter(found.values()))
        means = {each.lower(): float(np.mean([scores[each] for scores in found.values()])) for each in measures}
        if self.settling:
            means["accuracy_by_cells"] = accuracy_by_cells(synthetic, self.test, self.target, self.settling)
        return {**means, "models": found, "notes": list(notes)}
