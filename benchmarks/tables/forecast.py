"""Forecast: what plans said before anything was spent, beside what the bench then measured.

    python -m benchmarks.tables.forecast

Needs no data: plans are made from public facts, and the bench's records are in the repository.
"""

from pathlib import Path

import numpy as np

from pointillist.curator.releasing import plan
from pointillist.methods.mosaic_forecast import STRONGEST

from .datasets import datasets
from .results import collect, groups

_MEASURES = {"one-way marginals": "tvd_1", "pairs of columns": "tvd_2", STRONGEST: "tvd_strongest"}


def ratios(results: Path) -> list[tuple[str, float, dict[str, float]]]:
    """For every data set and epsilon: the measured error of our rows as a multiple of the forecast one."""
    known, found = datasets(), []
    for name, epsilon, rows in groups(collect(results)):
        mine = [row for row in rows if row["method"] == "mosaic" and row["tvd_2"] is not None]
        if not mine or epsilon is None:
            continue
        schema = known[name].schema.model_copy(update={"rows": mine[0]["rows"]})
        expected = plan(schema, epsilon=epsilon, delta=mine[0]["delta"], target=known[name].target or None).expected
        errors = {each.name: [row[_MEASURES[each.name]] for row in mine] for each in expected}
        known_errors = {each: float(np.mean(values)) for each, values in errors.items() if None not in values}
        found.append(
            (name, epsilon, {e.name: known_errors[e.name] / e.error for e in expected if e.name in known_errors})
        )
    return found


if __name__ == "__main__":
    print("| data set | ε | " + " | ".join(_MEASURES) + " |\n|---|---|---|---|---|")
    for dataset, epsilon, found in ratios(Path(__file__).parent / "results"):
        print(
            f"| {dataset} | {epsilon:g} | "
            + " | ".join(f"{found[each]:.2f}" if each in found else "" for each in _MEASURES)
            + " |"
        )
