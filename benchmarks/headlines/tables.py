"""Adult and census at ε = 1: our errors as multiples of AIM's, which are stored with the results of `benchmarks.tables`."""

import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import pointillist as pt
from benchmarks.tables.bench import Loaded
from benchmarks.tables.datasets import datasets
from benchmarks.tables.scoring import TRIPLES
from benchmarks.tables.versus import RIVAL
from pointillist.curator.releasing import plan
from pointillist.evaluate.tables.metrics.marginals import marginals
from pointillist.evaluate.tables.sample import Sample, read

from .claim import Band, Claim, Folder

EPSILON, DELTA = 1.0, 1e-5
RESULTS = Path(__file__).parents[1] / "tables" / "results" / "results.parquet"
_MEASURES = ("tvd_1", "tvd_2", "tvd_3", "ks", "auroc")
_WHERE = "README.md, docs/explanation/benchmarks.md"
_FILES = {name: tuple(f"tables/{file}.parquet" for file in datasets()[name].files) for name in ("adult", "census")}


@cache
def _loaded(name: str, data: Folder) -> Loaded:
    return Loaded(datasets()[name], data)


@cache
def _made(name: str, data: Folder) -> Sample:
    """As many rows as there are to learn from."""
    here = _loaded(name, data)
    with tempfile.TemporaryDirectory() as folder:
        synthesizer = pt.Synthesizer(
            here.dataset.schema, epsilon=EPSILON, delta=DELTA, target=here.dataset.target, seed=0,
            ledger=Path(folder) / "ledger.sqlite",
        )  # fmt: skip
        return read(synthesizer.fit(here.split.train).sample(here.train.rows, seed=0), here.dataset.schema)


@cache
def _scores(data: Folder) -> dict[str, Any]:
    """All of the bench's scores, models and all, for Adult."""
    here = _loaded("adult", data)
    return here.yardstick.score(_made("adult", data))


@cache
def _aim(name: str) -> dict[str, float]:
    """The mean over its runs."""
    runs = [
        row
        for row in pq.read_table(RESULTS).to_pylist()
        if (row["dataset"], row["method"], row["epsilon"], row["status"]) == (name, RIVAL, EPSILON, "done")
    ]
    values = {measure: [row[measure] for row in runs] for measure in _MEASURES}
    return {measure: float(np.mean(found)) for measure, found in values.items() if None not in found}


def ratio(measure: str, data: Folder) -> float:
    return float(_scores(data)[measure] / _aim("adult")[measure])


def census(order: int, data: Folder) -> float:
    """Without models, which take minutes."""
    here = _loaded("census", data)
    most = {"most": TRIPLES} if order == 3 else {}
    mine = marginals(here.train, _made("census", data), order, seed=0, **most).mean
    return float(mine / _aim("census")[f"tvd_{order}"])


def forecast(data: Folder) -> float:
    """The error of single columns as a multiple of what the plan says before anything is spent."""
    here = _loaded("adult", data)
    schema = here.dataset.schema.model_copy(update={"rows": here.train.rows})
    expected = plan(schema, epsilon=EPSILON, delta=DELTA, target=here.dataset.target).expected
    said = next(each.error for each in expected if each.name == "one-way marginals")
    return float(_scores(data)["tvd_1"] / said)


def _adult(label: str, measure: str, band: Band) -> Claim:
    return Claim(f"Adult, ε = 1: {label}", _WHERE, band, partial(ratio, measure), _FILES["adult"])


def _census(order: int, band: Band) -> Claim:
    name = f"census, ε = 1: {order}-way TVD as a multiple of AIM's"
    return Claim(name, _WHERE, band, partial(census, order), _FILES["census"])


_STORED = "the mean of the three stored runs and 4 of their standard deviations"
CLAIMS = (
    _adult("1-way TVD as a multiple of AIM's", "tvd_1", Band("the stored runs' 0.85; another was at 0.96", most=1.0)),
    _adult("2-way TVD as a multiple of AIM's", "tvd_2", Band(_STORED, most=0.95)),
    _adult("3-way TVD as a multiple of AIM's", "tvd_3", Band(_STORED, most=0.94)),
    _adult("KS of numbers as a multiple of AIM's", "ks", Band("1.5 times the stored runs' 0.067", most=0.1)),
    _adult("AUROC as a multiple of AIM's", "auroc", Band(_STORED, least=0.998)),
    Claim(
        "Adult, ε = 1: 1-way TVD as a multiple of its forecast",
        "docs/explanation/methods/mosaic.md",
        Band("within a factor of 1.5, as the page says", 1 / 1.5, 1.5),
        forecast,
        _FILES["adult"],
    ),
    _census(2, Band("two runs' 0.79 and a tenth of it", most=0.87)),
    _census(3, Band("two runs' 1.04 and 3 of their standard deviations", most=1.11)),
)
