"""Ratios to a rival: right numbers, and a figure that is an SVG."""

from xml.etree import ElementTree

import pyarrow as pa
import pytest
from benchmarks.tables import versus
from benchmarks.tables.ratios import LEAST_LOSS


def row(method: str, epsilon: float | None, scale: float, auroc: float) -> dict[str, object]:
    return {
        "dataset": "adult", "method": method, "epsilon": epsilon, "delta": 1e-5, "bins": 16, "rows": 10,
        "status": "done", "tvd_1": 0.01 * scale, "tvd_2": 0.02 * scale, "tvd_3": 0.03 * scale, "tvd_strongest": 0.1 * scale,
        "auroc": auroc, "auprc": auroc - 0.1,
        "cpu_seconds": 100.0 * scale, "peak_mb": 10.0 * scale,
    }  # fmt: skip


def test_ratios_are_ours_over_the_rivals() -> None:
    table = pa.Table.from_pylist(
        [row(versus.OURS, 1.0, 0.5, 0.88), row(versus.RIVAL, 1.0, 1.0, 0.86), row("real", None, 0.0, 0.90)]
    )
    (found,) = versus.ratios(table)
    assert (found.dataset, found.epsilon, found.rival) == ("adult", 1.0, versus.RIVAL)
    lost = (0.02 + LEAST_LOSS) / (0.04 + LEAST_LOSS)
    assert found.values == pytest.approx((0.5, 0.5, 0.5, 0.5, lost, lost, 0.5, 0.5))
    text = versus.markdown(table)
    assert "| adult | 1 | 120 rounds | 0.50 |" in text
    assert "| **mean, open** (1) | 1 |  | 0.50 |" in text
    drawn = versus.figure(table)
    assert drawn is not None
    assert ElementTree.fromstring(drawn).tag.endswith("svg")


def test_the_best_aim_that_ended_is_compared_with() -> None:
    rows = [row(versus.OURS, 1.0, 0.5, 0.88), row(versus.RIVAL, 1.0, 1.0, 0.86), row("real", None, 0.0, 0.90)]
    (found,) = versus.ratios(pa.Table.from_pylist([*rows, row("aim-full", 1.0, 2.0, 0.86)]))
    assert found.rival == "aim-full"
    assert found.values[0] == pytest.approx(0.25)
    (found,) = versus.ratios(pa.Table.from_pylist([*rows, {**row("aim-full", 1.0, 2.0, 0.86), "status": "timeout"}]))
    assert found.rival == versus.RIVAL


def test_what_was_not_measured_is_left_blank() -> None:
    rows = [row(versus.OURS, 1.0, 0.5, 0.88), row(versus.RIVAL, 1.0, 1.0, 0.86), row("real", None, 0.0, 0.90)]
    table = pa.Table.from_pylist([{**each, "tvd_strongest": None} for each in rows])
    assert "| 0.50 | 0.50 | 0.50 |  |" in versus.markdown(table)
    assert versus.figure(table) is not None


def test_without_the_rival_there_is_nothing_to_say() -> None:
    table = pa.Table.from_pylist([row(versus.OURS, 1.0, 0.5, 0.88), row("real", None, 0.0, 0.90)])
    assert versus.ratios(table) == []
    assert versus.markdown(table) == ""
    assert versus.figure(table) is None
