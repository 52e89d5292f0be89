"""The papers' 2-D mixture: how likely sampled rows are under the truth, however many are sampled from one model."""

from functools import cache, partial

import numpy as np

import pointillist as pt
from benchmarks.papers.mixture import GRID, TARGET
from benchmarks.papers.recipe import release_rows
from pointillist.methods import method_for

from .claim import Band, Claim, Folder

SIZES = (5_000, 20_000, 90_000)
RELEASES = 2
_BARS = {"hermite": 3.0, "merf": 3.0, "mosaic": 3.3}
_WHY = "the bar for every number of rows; rows of the truth score 2.84, and far less is too little spread"
_QUICK = {("hermite", 5_000), ("hermite", 90_000)}


@cache
def model(method: str, seed: int) -> pt.Model:
    """One release of 90,000 rows at ε = 1, and its fit."""
    release, _ = release_rows(GRID.sample(GRID.rows, seed=seed), GRID.schema, TARGET, method_for(GRID.schema, method))
    return pt.fit(release, seed=seed)


def nll(method: str, rows: int, _: Folder) -> float:
    """The mean over some releases, and over as many tables of this size as make 90,000 rows: small ones differ by chance."""
    models = [model(method, seed) for seed in range(RELEASES)]
    draws = range(GRID.rows // rows)
    return float(np.mean([GRID.score(each.sample(rows, seed=seed)).nll for each in models for seed in draws]))


CLAIMS = tuple(
    Claim(
        f"2-D mixture, {method}: NLL of {rows:,} sampled rows",
        "docs/explanation/papers.md, The 2-D mixture",
        Band(_WHY, 2.75, bar),
        partial(nll, method, rows),
        quick=(method, rows) in _QUICK,
    )
    for method, bar in _BARS.items()
    for rows in SIZES
)
