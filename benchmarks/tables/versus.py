"""Versus: our method's errors, lost learning and cost as multiples of a rival's, on every data set and epsilon."""

from typing import Any

import numpy as np
import pyarrow as pa

from .figure import Dot, draw_ratios
from .methods import METHODS
from .results import groups

OURS, RIVAL = "mosaic", "aim-mbi"
_MANY_CLASSES = ("covtype", "intrusion")
"""Where what models learn is counted by macro F1 instead of AUROC."""
_HEADS = ("TVD 1-way", "TVD 2-way", "TVD 3-way", "lost learning", "CPU", "memory")


def ratios(table: pa.Table) -> list[tuple[str, float, tuple[float, ...]]]:
    """Data set, epsilon and, in the order of the heads, ours over the rival's; means over runs."""
    found = []
    for dataset, epsilon, rows in groups(table):
        done = [row for row in rows if row["status"] == "done"]
        ours, rival, real = ([row for row in done if row["method"] == name] for name in (OURS, RIVAL, "real"))
        if epsilon is None or not (ours and rival and real):
            continue
        learnt = "f1" if dataset in _MANY_CLASSES else "auroc"
        best = _mean(real, learnt)
        found.append((dataset, epsilon, (
            *(_mean(ours, name) / _mean(rival, name) for name in ("tvd_1", "tvd_2", "tvd_3")),
            (best - _mean(ours, learnt)) / (best - _mean(rival, learnt)),
            *(_mean(ours, name) / _mean(rival, name) for name in ("cpu_seconds", "peak_mb")),
        )))  # fmt: skip
    return found


def markdown(table: pa.Table) -> str:
    """The ratios as a table; empty where ours and the rival were not both run."""
    found = ratios(table)
    if not found:
        return ""
    lines = [
        f"### {METHODS[OURS].label}, as a multiple of {METHODS[RIVAL].label}",
        "",
        f"| data set | ε | {' | '.join(_HEADS)} |",
        "|---" * (len(_HEADS) + 2) + "|",
        *(f"| {dataset} | {epsilon:g} | {_cells(values)} |" for dataset, epsilon, values in found),
    ]
    for epsilon in sorted({each for _, each, _ in found}):
        mine = [values for _, each, values in found if each == epsilon]
        lines.append(f"| **mean** | {epsilon:g} | {_cells(np.mean(mine, axis=0))} |")
    return "\n".join(lines) + "\n"


def figure(table: pa.Table, epsilon: float = 1.0) -> str | None:
    """Ratios at one epsilon, a line for each data set."""
    found = [(dataset, values) for dataset, each, values in ratios(table) if each == epsilon]
    if not found:
        return None
    title = f"Pointillist against AIM at ε = {epsilon:g}: error as a multiple of AIM's (left of 1 is better)"
    marks = {
        name: [Dot(dataset, values[place], 0.0) for dataset, values in found] for place, name in enumerate(_HEADS[:4])
    }
    return draw_ratios(title, marks)


def _cells(values: Any) -> str:
    return " | ".join(f"{value:.2f}" for value in values)


def _mean(rows: list[dict[str, Any]], name: str) -> float:
    values = [row[name] for row in rows if row[name] is not None]
    return float(np.mean(values)) if values else float("nan")
