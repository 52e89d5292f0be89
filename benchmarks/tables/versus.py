"""Versus: our method's errors, lost learning and cost as multiples of AIM's, on every data set and epsilon."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from . import ratios as ratio
from .datasets import GROUPS
from .figure import Dot, draw_ratios
from .methods import METHODS
from .results import groups

OURS, RIVAL = "mosaic", "aim-mbi"
RIVALS = ("aim-full", RIVAL)
"""The best AIM that ended is compared with: with the authors' settings, or else in 120 rounds."""
_ERRORS = ("tvd_1", "tvd_2", "tvd_3", "tvd_strongest")
_LEARNT = ("auroc", "auprc")
_COSTS = ("cpu_seconds", "peak_mb")
_HEADS = (
    "TVD 1-way", "TVD 2-way", "TVD 3-way", "ten strongest pairs", "lost AUROC", "lost AUPRC", "CPU", "memory",
)  # fmt: skip
Row = dict[str, Any]


@dataclass(frozen=True)
class Compared:
    """One data set at one epsilon: in the order of the heads, ours over the rival's; means over runs."""

    dataset: str
    epsilon: float
    rival: str
    values: tuple[float | None, ...]


def ratios(table: pa.Table) -> list[Compared]:
    """All that both ran."""
    found = []
    for dataset, epsilon, rows in groups(table):
        done = [row for row in rows if row["status"] == "done"]
        by_name = {name: [row for row in done if row["method"] == name] for name in (OURS, *RIVALS, "real")}
        name = next((each for each in RIVALS if by_name[each]), None)
        if epsilon is None or name is None or not (by_name[OURS] and by_name["real"]):
            continue
        ours, rival, real = by_name[OURS], by_name[name], by_name["real"]
        values = (
            *(ratio.of_errors(_mean(ours, each), _mean(rival, each)) for each in _ERRORS),
            *(ratio.of_losses(_lost(ours, real, each), _lost(rival, real, each)) for each in _LEARNT),
            *(ratio.of_errors(_mean(ours, each), _mean(rival, each)) for each in _COSTS),
        )
        found.append(Compared(dataset, epsilon, name, values))
    return found


def markdown(table: pa.Table) -> str:
    """The ratios as a table; empty where ours and the rival were not both run."""
    found = ratios(table)
    if not found:
        return ""
    lines = [
        f"### {METHODS[OURS].label}, as a multiple of AIM",
        "",
        "The best AIM (mbi 2.0) that ended: with the authors' settings (full), or 120 rounds. Lost AUROC and AUPRC are what",
        f"models lose against real rows, with {ratio.LEAST_LOSS:g} added to both, as small losses are chance. Means are",
        "geometric.",
        "",
        f"| data set | ε | AIM | {' | '.join(_HEADS)} |",
        "|---" * (len(_HEADS) + 3) + "|",
        *(f"| {each.dataset} | {each.epsilon:g} | {_which(each)} | {_cells(each.values)} |" for each in found),
    ]
    for group, names in _groups(found).items():
        for epsilon in sorted({each.epsilon for each in found if each.dataset in names}):
            mine = [each.values for each in found if each.epsilon == epsilon and each.dataset in names]
            means = [ratio.geometric_mean(each) for each in zip(*mine, strict=True)]
            lines.append(f"| **{group}** ({len(mine)}) | {epsilon:g} |  | {_cells(means)} |")
    return "\n".join(lines) + "\n"


def figure(table: pa.Table, epsilon: float = 1.0) -> str | None:
    """Ratios at one epsilon, a line for each data set."""
    found = [each for each in ratios(table) if each.epsilon == epsilon]
    if not found:
        return None
    title = f"Pointillist against AIM at ε = {epsilon:g}: error as a multiple of AIM's (left of 1 is better)"
    marks = {}
    for place, name in enumerate(_HEADS[:5]):
        dots = [(each.dataset, each.values[place]) for each in found]
        marks[name] = [Dot(dataset, value, 0.0) for dataset, value in dots if value is not None]
    return draw_ratios(title, [each.dataset for each in found], marks)


def _groups(found: Sequence[Compared]) -> dict[str, tuple[str, ...]]:
    """Tables that defaults were chosen on and others are told apart; then all together, if there are several groups."""
    here = {each.dataset for each in found}
    named = {f"mean, {name}": tuple(here & set(names)) for name, names in GROUPS.items() if here & set(names)}
    return named if len(named) == 1 else {**named, "mean": tuple(here)}


def _which(compared: Compared) -> str:
    return "full" if compared.rival == RIVALS[0] else "120 rounds"


def _cells(values: Sequence[float | None]) -> str:
    return " | ".join("" if value is None else f"{value:.2f}" for value in values)


def _lost(rows: list[Row], real: list[Row], name: str) -> float | None:
    best, mine = _mean(real, name), _mean(rows, name)
    return None if best is None or mine is None else best - mine


def _mean(rows: list[Row], name: str) -> float | None:
    values = [row[name] for row in rows if row.get(name) is not None]
    return float(np.mean(values)) if values else None
