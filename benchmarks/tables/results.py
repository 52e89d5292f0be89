"""Results: all records in one table, and the table that a person reads."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import records, stamp
from benchmarks.records import Records

from .methods import METHODS

_MEASURES = (
    "tvd_1", "tvd_2", "tvd_3", "tvd_strongest", "dependence", "ks", "auroc", "auprc", "f1", "r2", "spearman_strongest",
    "tvd_1_worst", "accuracy", "accuracy_by_cells",
)  # fmt: skip
_SHOWN = _MEASURES[:10]
_ERRORS = ("tvd_1", "tvd_2", "tvd_3", "tvd_strongest", "dependence", "ks")
_COSTS = ("cpu_seconds", "wall_seconds", "peak_mb")
_HEADS = {
    "tvd_1": "TVD 1-way", "tvd_2": "TVD 2-way", "tvd_3": "TVD 3-way",
    "tvd_strongest": "TVD, ten strongest pairs", "dependence": "dependence error", "ks": "KS", "auroc": "AUROC",
    "auprc": "AUPRC", "f1": "F1", "r2": "R²", "cpu_seconds": "CPU-s", "peak_mb": "peak MB",
}  # fmt: skip

_SCHEMA = pa.schema(
    [
        ("dataset", pa.string()), ("method", pa.string()), ("epsilon", pa.float64()), ("delta", pa.float64()),
        ("seed", pa.int64()), ("bins", pa.int64()), ("rows", pa.int64()), ("status", pa.string()),
        ("reason", pa.string()), *((name, pa.float64()) for name in (*_MEASURES, *_COSTS)),
        ("settings", pa.string()), ("versions", pa.string()), ("time_limit", pa.float64()),
        (stamp.COLUMN, pa.string()), *records.columns(),
    ]
)  # fmt: skip


def collect(results: Path) -> pa.Table:
    """One row for each run, made from its record."""
    rows = []
    for key, record, scores in Records(results):
        texts = {name: json.dumps(record[name]) for name in ("settings", "versions")}
        measures = {name: scores.get(name) for name in _MEASURES}
        rows.append({**record, **measures, **texts, stamp.COLUMN: _commit(record), **records.kept(key, record, scores)})
    return pa.Table.from_pylist(rows, schema=_SCHEMA.with_metadata(stamp.mark(stamp.MEASURES)))


def _commit(record: dict[str, Any]) -> str | None:
    """The stamp of a run; none is due to rivals and references, whose code does not change with ours."""
    method = METHODS.get(record["method"])
    if method is not None and (method.takes_levels or not method.private):
        return stamp.NOT_DUE
    return stamp.of(record)


Group = tuple[str, float | None, list[dict[str, Any]]]


def groups(table: pa.Table) -> list[Group]:
    """Runs by data set, epsilon, delta and bins; references stand in every group of their data set."""
    rows = table.to_pylist()
    found: list[Group] = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        mine = [row for row in rows if row["dataset"] == dataset]
        references = [row for row in mine if row["epsilon"] is None]
        private = [row for row in mine if row["epsilon"] is not None]
        budgets = sorted({(row["epsilon"], row["delta"], row["bins"]) for row in private})
        for budget in budgets:
            chosen = [row for row in private if (row["epsilon"], row["delta"], row["bins"]) == budget]
            found.append((dataset, budget[0], chosen + references))
        if not budgets:
            found.append((dataset, None, references))
    return found


def by_method(rows: list[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Runs by method, in the order in which the methods are listed."""
    order = [*METHODS, *sorted({row["method"] for row in rows} - set(METHODS))]
    found = [(name, [row for row in rows if row["method"] == name]) for name in order]
    return [(name, mine) for name, mine in found if mine]


def markdown(table: pa.Table) -> str:
    """A table for each data set and epsilon: mean ± standard deviation over the runs that are done."""
    parts = []
    for dataset, epsilon, rows in groups(table):
        measures = [name for name in _SHOWN if any(row[name] is not None for row in rows)]
        columns = [*measures, "cpu_seconds", "peak_mb"]
        budget = next((row for row in rows if row["epsilon"] is not None), None)
        title = f"{dataset}, {rows[0]['rows']:,} rows"
        if budget:
            title += f", ε = {epsilon:g}, δ = {budget['delta']:g}, {budget['bins']} bins for rivals"
        lines = [f"### {title}", ""]
        lines.append(f"| method | runs | {' | '.join(_HEADS[name] for name in columns)} |")
        lines.append("|---" * (len(columns) + 2) + "|")
        lines += [_line(name, mine, columns) for name, mine in by_method(rows)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _line(name: str, rows: list[dict[str, Any]], columns: list[str]) -> str:
    label = METHODS[name].label if name in METHODS else name
    done = [row for row in rows if row["status"] == "done"]
    if not done:
        reason = rows[0]["reason"].replace("|", "/")
        return f"| {label} | 0 | {rows[0]['status']}: {reason} |{' |' * (len(columns) - 1)}"
    runs = str(len(done)) if len(done) == len(rows) else f"{len(done)} of {len(rows)}"
    reference = done[0]["epsilon"] is None
    cells = ["" if reference and name in _COSTS else _cell(name, done) for name in columns]
    return f"| {label} | {runs} | {' | '.join(cells)} |"


def _cell(name: str, rows: list[dict[str, Any]]) -> str:
    values = [row[name] for row in rows if row[name] is not None]
    digits = 0 if name in _COSTS else 4 if name in _ERRORS else 3
    return mean_and_spread(values, digits)


def mean_and_spread(values: Iterable[float], digits: int) -> str:
    """The mean, and the standard deviation if there is more than one value."""
    numbers = np.array(list(values), dtype=np.float64)
    if not len(numbers):
        return ""
    text = f"{numbers.mean():,.{digits}f}"
    return text if len(numbers) == 1 else f"{text} ± {numbers.std(ddof=1):,.{digits}f}"
