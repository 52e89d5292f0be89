"""Progress bars: in a log a line now and then, and nothing where nobody wants it."""

import pytest

from pointillist.cli import progress_bars
from pointillist.cli.progress_bars import Steps
from pointillist.training_log import Look


def test_a_log_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress_bars, "_SELDOM", -1)
    with Steps(quiet=False).shown() as steps:
        steps("fit", 0.0)
        steps("fit", 0.5)
        steps("fit", 1.0)
        steps("a step that nobody waits for", 0.5)
    lines = [line for line in capsys.readouterr().err.splitlines() if "left" in line]
    assert [line.split(", about")[0] for line in lines] == ["fitting the generator: 0%", "fitting the generator: 50%"]


def test_the_loss_is_shown_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_bars, "_SELDOM", -1)
    with Steps(quiet=False).shown() as steps:
        steps.look(Look("fit", 1, 10, 0.25, 1.0, 1))  # before its bar: nothing to show it at
        steps("fit", 0.0)
        steps.look(Look("fit", 1, 10, 0.25, 1.0, 1))
        steps("fit", 0.5)
    assert "fitting the generator, loss 0.25: 50%, about" in capsys.readouterr().err


def test_a_quiet_command_says_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress_bars, "_SELDOM", -1)
    with Steps(quiet=True).shown() as steps:
        steps("pass 1 of 3", 0.5)
    assert capsys.readouterr() == ("", "")
