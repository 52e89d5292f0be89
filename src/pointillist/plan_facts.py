"""Plan facts: what a release's file says about its plan, checked as far as anyone relies on it."""

from collections.abc import Mapping, Sequence
from typing import Any

from pointillist.files.facts import flag, listed, optional, real, table, text, texts, whole
from pointillist.privacy.grid import Grid
from pointillist.schema import Schema

_MOST_CELLS = 1 << 32
_CLOSE = 1e-9
"""Two ways to reckon the same number agree to within this part of it."""


def checked(facts: Mapping[str, Any], schema: Schema, sums: Sequence[tuple[Grid, float]]) -> dict[str, Any]:
    """The plan as it is, if it is the plan of these noisy sums (grid and noise of each)."""
    if not text(facts, "method"):
        raise ValueError("method must be named")
    table(facts, "options")
    unknown = [name for name in texts(facts, "targets") if name not in schema.measured]
    if unknown:
        raise ValueError(f"target {unknown[0][:100]!r} is not a measured column")
    rounds = listed(facts, "rounds", table)
    if len(rounds) != len(sums):
        raise ValueError("rounds must be as many as measurements")
    for each, (grid, sigma) in zip(rounds, sums, strict=True):
        if whole(each, "bits", 1, 64) != grid.bits or real(each, "sigma") != sigma:
            raise ValueError("bits and sigma of a round must be those of its measurement")
        real(each, "share", 1e-12, 1.0)
        for block in listed(each, "blocks", table):
            _check_block(block, grid, sigma)
    for expected in listed(facts, "expected", table) if "expected" in facts else ():
        text(expected, "name")
        real(expected, "error", 0.0)
        real(expected, "factor", 0.0)
    listed(facts, "notes", text)
    return dict(facts)


def spent(facts: Mapping[str, Any]) -> float:
    """The part of mu^2 that the rounds share out."""
    found = float(sum(each["share"] for each in facts["rounds"]))
    if not found <= 1 + _CLOSE:
        raise ValueError("the shares of the rounds add up to more than the budget")
    return found


def _check_block(block: Mapping[str, Any], grid: Grid, sigma: float) -> None:
    text(block, "name")
    if whole(block, "count", 1, _MOST_CELLS) > whole(block, "cells", 1, _MOST_CELLS):
        raise ValueError("a block must have a cell for each table")
    weight, noise = real(block, "weight", 0.0, 1 + _CLOSE), real(block, "noise_rows", 0.0)
    if not abs(noise * weight * grid.scale - sigma) <= _CLOSE * sigma:
        raise ValueError("noise_rows must be the noise of its round")
    flag(block, "counts")
    optional(block, "expected_error", lambda one, name: real(one, name, 0.0))
