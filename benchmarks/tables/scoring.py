"""Scoring: how near a synthetic table comes to the real one, and what models learn from it."""

from typing import Any

from pointillist.evaluate.tables.metrics.columns import columns
from pointillist.evaluate.tables.metrics.marginals import marginals
from pointillist.evaluate.tables.metrics.utility import utility
from pointillist.evaluate.tables.sample import Sample

TRIPLES = 100
"""How many tables of three columns are compared, drawn once and the same for every method."""


def score(train: Sample, test: Sample, synthetic: Sample, target: str) -> dict[str, Any]:
    """Mean total variation over one, two and three columns; mean Kolmogorov-Smirnov distance of numbers; models' scores.

    Models are tested on real rows; their scores are means over models.
    """
    tvd = {f"tvd_{order}": marginals(train, synthetic, order).mean for order in (1, 2)}
    tvd["tvd_3"] = marginals(train, synthetic, 3, most=TRIPLES, seed=0).mean
    gaps = [
        each.ks for each in columns(train, synthetic).columns if each.ks is not None and train.level(each.name).numeric
    ]
    learnt = utility(train, synthetic, test, target, seed=0)
    means = {_plain(measure): learnt.mean(measure, "synthetic") for measure in learnt.measures}
    models = {each.model: each.synthetic for each in learnt.scores}
    return {
        **tvd,
        "ks": sum(gaps) / len(gaps) if gaps else None,
        **means,
        "models": models,
        "notes": list(learnt.notes),
    }


def _plain(measure: str) -> str:
    return measure.lower().replace("²", "2")
