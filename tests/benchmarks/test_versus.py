"""Ratios to a rival: right numbers, and a figure that is an SVG."""

from xml.etree import ElementTree

import pyarrow as pa
import pytest
from benchmarks.tables import versus


def row(method: str, epsilon: float | None, scale: float, auroc: float) -> dict[str, object]:
    return {
        "dataset": "adult", "method": method, "epsilon": epsilon, "delta": 1e-5, "bins": 16, "rows": 10,
        "status": "done", "tvd_1": 0.01 * scale, "tvd_2": 0.02 * scale, "tvd_3": 0.03 * scale, "auroc": auroc, "f1": 0.5,
        "cpu_seconds": 100.0 * scale, "peak_mb": 10.0 * scale,
    }  # fmt: skip


def test_ratios_are_ours_over_the_rivals() -> None:
    table = pa.Table.from_pylist(
        [row(versus.OURS, 1.0, 0.5, 0.88), row(versus.RIVAL, 1.0, 1.0, 0.86), row("real", None, 0.0, 0.90)]
    )
    ((dataset, epsilon, values),) = versus.ratios(table)
    assert (dataset, epsilon) == ("adult", 1.0)
    assert values == pytest.approx((0.5, 0.5, 0.5, 0.5, 0.5, 0.5))
    assert "| adult | 1 | 0.50 |" in versus.markdown(table)
    drawn = versus.figure(table)
    assert drawn is not None
    assert ElementTree.fromstring(drawn).tag.endswith("svg")


def test_without_the_rival_there_is_nothing_to_say() -> None:
    table = pa.Table.from_pylist([row(versus.OURS, 1.0, 0.5, 0.88), row("real", None, 0.0, 0.90)])
    assert versus.ratios(table) == []
    assert versus.markdown(table) == ""
    assert versus.figure(table) is None
