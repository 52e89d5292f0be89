"""Balog et al. (2018): how far weighted points' mean embedding is from the population's, at ε = 1 in two dimensions."""

from functools import cache, partial

import numpy as np

from benchmarks.papers.balog import Population, TrueEmbedding, distance, landmarks, reduced_set, released

from .claim import Band, Claim, Folder

ROWS, POINTS = 30_000, 300
"""One row in a hundred is public."""


@cache
def _apart(method: str) -> float:
    population = Population.draw(2)
    truth, data = TrueEmbedding(population), population.rows(ROWS, 0)
    public = data[:POINTS]
    if method == "equal weights":
        return distance(truth, public, np.full(POINTS, 1 / POINTS))
    ours = landmarks(population, public, faithful=False) if method == "landmarks" else reduced_set(population, POINTS)
    return distance(truth, *released(population, data, 1.0, ours))


def ratio(method: str, _: Folder) -> float:
    """As a multiple of the same public rows' with equal weights: what weights are worth."""
    return _apart(method) / _apart("equal weights")


CLAIMS = tuple(
    Claim(
        f"Balog's mixture, {method}: distance as a multiple of equal weights'",
        "docs/explanation/papers.md, Weighted points",
        band,
        partial(ratio, method),
    )
    for method, band in (
        ("landmarks", Band("0.231 ± 0.009 over five runs, and 4 standard deviations", most=0.27)),
        ("reduced-set", Band("0.339 ± 0.016 over five runs, and 4 standard deviations", most=0.4)),
    )
)
