"""`pointillist audit`."""

import json
from pathlib import Path

import pytest
from tests.fixtures.command_line import Run, spends

import pointillist as pt
from pointillist.curator import releasing
from pointillist.evaluate.audit import Audit


def test_audit_needs_to_know_what_to_audit(run: Run, judged: pt.Schema) -> None:
    assert "--schema and --epsilon, or --release" in run("audit").shown
    both = run("audit", "--release", "people.release", "--epsilon", 1)
    assert both.code == 2
    assert "leave --epsilon out" in both.shown
    assert "is not known" in run("audit", "--release", "people.release", "--attacks", "magic").shown
    assert run("audit", "--schema", "people.toml", "--epsilon", 1, "--attacks", "membership").code == 2


def test_audit_runs_prints_and_saves(run: Run, judged: pt.Schema) -> None:
    outcome = run("audit", "--release", "people.release", "--attacks", "white-box", "--runs", 20, "-o", "audit.json")
    assert outcome.code == 0
    assert "Passed" in outcome.shown
    saved = Audit.from_json(json.loads(Path("audit.json").read_text()))
    assert saved.epsilon == 1.0
    assert saved.passed
    assert spends() == []


def test_a_broken_promise_ends_with_another_exit_code(
    run: Run, judged: pt.Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releasing, "add_noise", lambda sums, sigma: sums)  # no noise at all
    outcome = run("audit", "--release", "people.release", "--attacks", "white-box", "--runs", 10, "--json")
    assert outcome.code == 1
    assert json.loads(outcome.out)["passed"] is False
