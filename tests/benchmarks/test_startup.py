"""The bench of start times: it knows every command, and says when one is late."""

import pytest

from benchmarks import startup


def test_every_command_is_started() -> None:
    cases = startup.cases()
    assert set(startup.CLAIMED) <= set(cases)
    assert {"pointillist release --help", "pointillist schema draft --help", "pointillist ledger cap --help"} <= set(
        cases
    )


def test_what_is_late_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(startup, "cases", lambda: {"quick": ["pass"], "import pointillist": ["sum(range(10**7))"]})
    monkeypatch.setattr(startup, "LIMIT", startup.cpu_seconds(["pass"], 3) * 3)
    with pytest.raises(SystemExit, match="import pointillist"):
        startup.main(2)
    assert "| `quick` |" in capsys.readouterr().out
