"""Estimates in a terminal: a line for each figure, with the interval for the private one."""

from collections.abc import Callable

from pointillist.cli.show.errors import show_errors
from pointillist.inference.estimate import Estimate

Shown = Callable[[], list[str]]
MEAN = Estimate("mean of age", "number", 41.25, 40.0, 42.5, 0.6, 0.95, "measured")
SHARE = Estimate("share", "share", 0.5, 0.25, 0.75, 0.1, 0.95, "assisted")


def test_error_bars(shown: Shown) -> None:
    show_errors("people", [MEAN, SHARE])
    lines = shown()
    assert lines[0].strip() == "Error bars: people"
    assert "private (95%)" in " ".join(lines[1].split())
    assert [line.split() for line in lines if line.startswith(("mean", "share"))] == [
        ["mean", "of", "age", "41.25", "40", "to", "42.5", "measured"],
        ["share", "50.00%", "25.00%", "to", "75.00%", "assisted"],
    ]


def test_no_error_bars_at_all(shown: Shown) -> None:
    show_errors("people", [])
    assert "private" in " ".join(shown())
