"""Stopping: the three ways are run on real digits, briefly, and stand side by side on the page."""

from benchmarks.images import stopping


def test_three_ways() -> None:
    train, test = stopping.digits()
    found = [stopping.fitted(way, 10.0, 0, train, test, steps=20, images=400) for way in stopping.WAYS]
    assert all(0.1 < each.accuracy <= 1 and 0 <= each.recall <= 1 for each in found)  # a tenth is guessing
    lines = stopping.page(found).splitlines()
    assert [line.split("|")[2].strip() for line in lines[-3:]] == list(stopping.WAYS)
    assert f"{found[0].accuracy:.3f}" in lines[-3]
