"""Showing a plan that several owners follow."""

import pytest
from tests.fixtures.owners import Trio

from pointillist.cli.show.shared_plan import shared_plan_facts, show_shared_plan


def test_it_says_who_trusts_whom_and_where_it_stands(trio: Trio, capsys: pytest.CaptureFixture[str]) -> None:
    plan = trio.plan("sum")
    show_shared_plan(plan)
    shown = " ".join(capsys.readouterr().out.split())
    assert "trust their sum, not its collector" in shown
    assert "round 1 of 3 comes next" in shown
    assert plan.fingerprint in shown.replace(" ", "") or plan.fingerprint in shown
    facts = shared_plan_facts(plan)
    assert facts["fingerprint"] == plan.fingerprint
    assert facts["guarantee"]["owners"]["trust"] == "sum"
