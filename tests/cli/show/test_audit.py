"""An audit in a terminal: each attack beside the promise, and a verdict in the end."""

import math
from collections.abc import Callable
from dataclasses import replace

from pointillist.cli.show.audit import show_audit
from pointillist.evaluate.audit import Audit, Finding

Shown = Callable[[], list[str]]
SEEN = Finding("white-box", 0.93, 0.95, False, "It saw most of it.", {}, False)
FOUND = Finding("canaries", math.inf, 0.95, True, "It told neighbours apart.", {}, True)
AUDIT = Audit("people", "abc", None, "mosaic", "add-remove", "one row", 1.0, 1e-5, 0.268, (SEEN,), ("A note.",))


def test_a_promise_that_is_kept(shown: Shown) -> None:
    show_audit(AUDIT)
    lines = shown()
    (row,) = [line for line in lines if line.startswith("white-box ")]
    assert row.split()[1:] == ["0.93", "1", "95%", "anyone"]
    assert "white-box: It saw most of it." in lines
    assert "A note." in lines
    assert lines[-1].startswith("Passed: no attack showed more than ε = 0.93 where ε = 1 is promised.")


def test_a_promise_that_is_broken(shown: Shown) -> None:
    show_audit(replace(AUDIT, findings=(SEEN, FOUND)))
    lines = shown()
    (row,) = [line for line in lines if line.startswith("canaries ")]
    assert "∞" in row
    assert row.rstrip().endswith("the owner")
    assert lines[-1] == "VIOLATED: the promise of ε = 1 is broken (canaries)."
